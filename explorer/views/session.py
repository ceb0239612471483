"""The end of a visit."""

import asyncio
import contextlib
import ctypes
import gc
from collections.abc import Callable

import panel as pn
from panel.io import document

#: So many seconds after somebody has left, what they needed is given back to the system.
_LATER = 2.0


def at_end(close: Callable[[], None]) -> None:
    """Call ``close`` once the server has given up this session, and let go of what could not be sent any more."""
    page = pn.state.curdoc

    def end(context) -> None:
        close()
        # To a connection that closed in the middle of a message Panel would try to send the next ones for ever, a
        # hundred times a second each.
        for waiting in (document._WRITE_BLOCK, document._WRITE_MSGS):
            waiting.pop(page, None)
        with contextlib.suppress(RuntimeError):  # the server itself ends
            asyncio.get_running_loop().call_later(_LATER, _give_back)

    pn.state.on_session_destroyed(end)


def _give_back() -> None:
    """Free memory that the C library holds goes back to the system; with nobody there, all that is garbage too."""
    if not pn.state.session_info["live"]:
        gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only the GNU C library has this, and only it needs it
        ctypes.CDLL(None).malloc_trim(0)
