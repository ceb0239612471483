"""Ctrl-C ends the command with code 130 and without a traceback, whenever it comes.

This is the first module that the command loads, so it imports next to nothing.
"""

import os
import signal
import sys
from contextlib import suppress

#: As a shell has it for what was interrupted.
CODE = 130
_at_once = True


def watch() -> None:
    """From now on an interruption leaves no traceback: until the work begins, and after it, it ends Python at once."""
    # A shell that starts a command in the background may have it ignore interruptions: so be it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with suppress(ValueError):  # in another thread than the main one, which is not interrupted
            signal.signal(signal.SIGINT, _interrupted)
            sys.unraisablehook = _not_raised


def begin() -> None:
    """Let the first interruption be a KeyboardInterrupt, so that what is under way can be put in order."""
    global _at_once
    _at_once = False


def end() -> None:
    global _at_once
    _at_once = True


def caused(error: BaseException | None) -> bool:
    """Whether an interruption is behind this error, into which it may have turned in somebody else's code."""
    seen = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _interrupted(number: int, frame) -> None:
    if _at_once or _importing(frame):
        os._exit(CODE)
    end()  # somebody who interrupts twice does not want to wait
    raise KeyboardInterrupt


def _importing(frame) -> bool:
    """Whether a module is being loaded; compiled ones turn a KeyboardInterrupt into anything."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _not_raised(unraisable) -> None:
    """An interruption that fell into a callback or a destructor is lost there: interrupt again, a little later."""
    if unraisable.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(unraisable)
        return
    import threading

    begin()
    threading.Timer(0.02, _interrupt).start()


def _interrupt() -> None:
    import threading

    if hasattr(signal, "pthread_kill"):  # wakes the main thread too, whatever it waits for
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
