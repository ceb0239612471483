"""The cores, shared: kernels do without the GIL, so plain threads are enough.

What is computed never depends on how many threads there are: the pieces are cut by the caller, by size alone.
``EXPLORER_THREADS`` sets their number.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def share(work: Callable[[Piece], Result], pieces: Iterable[Piece]) -> list[Result]:
    """``work`` of every piece, in order. ``work`` must not share again: it would wait for itself."""
    return list(_pool().map(work, pieces))


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
