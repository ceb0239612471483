"""The end of a visit."""

import asyncio
import contextlib
import ctypes
import gc
from collections.abc import Callable

import panel as pn

from explorer.views.parts.panel_workarounds import browser_first

#: So many seconds after somebody has left, what they needed is given back to the system.
_LATER = 2.0


def at_end(close: Callable[[], None]) -> None:
    """Call ``close`` once the server has given up this session, and give back what it needed."""

    def end(context) -> None:
        close()
        with contextlib.suppress(RuntimeError):  # the server itself ends
            asyncio.get_running_loop().call_later(_LATER, _give_back)

    pn.state.on_session_destroyed(end)
    browser_first(pn.state.curdoc)


def _give_back() -> None:
    """Free memory that the C library holds goes back to the system; with nobody there, all that is garbage too."""
    if not pn.state.session_info["live"]:
        gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # only the GNU C library has this, and only it needs it
        ctypes.CDLL(None).malloc_trim(0)
