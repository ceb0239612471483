"""The end of a visit."""

from collections.abc import Callable

import panel as pn
from panel.io import document


def at_end(close: Callable[[], None]) -> None:
    """Call ``close`` once the server has given up this session, and let go of what could not be sent any more."""
    page = pn.state.curdoc

    def end(context) -> None:
        close()
        # To a connection that closed in the middle of a message Panel would try to send the next ones for ever, a
        # hundred times a second each.
        for waiting in (document._WRITE_BLOCK, document._WRITE_MSGS):
            waiting.pop(page, None)

    pn.state.on_session_destroyed(end)
