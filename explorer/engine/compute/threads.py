"""The cores, shared: kernels do without the GIL, so plain threads are enough.

What is computed never depends on how many threads there are: the pieces are cut by the caller, by size alone.
``EXPLORER_THREADS`` sets their number.

What runs inside ``stoppable`` ends early, with ``Stopped``, once nobody waits for its result any more.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Stopped(Exception):  # noqa: N818 - not an error: the caller asked for it
    """Nobody waits for the result any more."""


_asked_to_stop: ContextVar[Callable[[], bool] | None] = ContextVar("asked_to_stop", default=None)


@contextmanager
def stoppable(asked: Callable[[], bool] | None) -> Iterator[None]:
    """Within, long work looks now and then whether it was ``asked`` to stop, and then raises ``Stopped``.

    With None, whoever is asked outside is asked inside too.
    """
    token = _asked_to_stop.set(asked or _asked_to_stop.get())
    try:
        yield
    finally:
        _asked_to_stop.reset(token)


def stop_if_asked() -> None:
    """For loops that take long: raises ``Stopped`` if the caller's ``stoppable`` was asked to stop."""
    asked = _asked_to_stop.get()
    if asked is not None and asked():
        raise Stopped


def share(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> list[Result]:
    """``work`` of every piece, in order. ``work`` must not share again: it would wait for itself."""
    asked = _asked_to_stop.get()
    if asked is None:
        return list(_pool().map(work, pieces))

    def unless_stopped(piece: Piece) -> Result:
        if asked():
            raise Stopped
        return work(piece)

    return list(_pool().map(unless_stopped, pieces))


@cache
def thread_count() -> int:
    given = os.environ.get("EXPLORER_THREADS", "")
    return max(1, int(given)) if given.isdigit() else min(4, os.cpu_count() or 1)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(thread_count(), thread_name_prefix="explorer")


def _forget() -> None:
    _pool.cache_clear()
    thread_count.cache_clear()


if hasattr(os, "register_at_fork"):  # a forked process inherits the pool, but not its threads
    os.register_at_fork(after_in_child=_forget)
