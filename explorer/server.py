"""Starting the app: kernels first, so that the first visitor does not wait for the compiler."""

import json
import logging
import os
import platform
import re
import signal
import sys
import threading
import time
import traceback
from pathlib import Path

#: A host name or address with an optional port, as a browser sends it in its Origin.
_ORIGIN = re.compile(r"^(\*|[A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(:(\d{1,5}|\*))?$")


def warm_up() -> float:
    """Load or compile what the first page needs; returns the seconds it took."""
    from explorer.engine.mechanisms import MECHANISMS
    from explorer.models.fisher.epsilon_curve import EpsilonCurve
    from explorer.models.fisher.surface import FisherSurface
    from explorer.models.live_run import LiveSimulation
    from explorer.models.mechanism_densities import MechanismDensities

    start = time.perf_counter()
    for model in (LiveSimulation, FisherSurface, EpsilonCurve, MechanismDensities):
        model().recall()
    for mechanism in MECHANISMS:
        LiveSimulation(mechanism=mechanism, n=20, particles=50).compute()
    return time.perf_counter() - start


def start_again_lean() -> None:
    """Start this process again with an allocator that gives memory back once visitors have left.

    Python's own keeps every page of a megabyte on which one small object survives: after a crowd, hundreds of
    megabytes for nothing. The GNU C library's gives back single pages. Building a page takes a fifth longer with it.
    """
    if platform.libc_ver()[0] == "glibc" and "PYTHONMALLOC" not in os.environ:
        # Few arenas, or each thread would keep its own.
        environment = {"MALLOC_ARENA_MAX": "2"} | os.environ | {"PYTHONMALLOC": "malloc"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def serve(
    port: int,
    address: str,
    browser: bool,
    allow_origin: list[str] | None = None,
    basic_auth: str | None = None,
    num_procs: int = 1,
    computations: int | None = None,
    max_upload: int | None = None,
    notebooks: str | None = None,
) -> int:
    """Serve until interrupted; ``notebooks`` is a folder whose notebooks are served beside the app."""
    _set_limits({"EXPLORER_COMPUTATIONS": computations, "EXPLORER_UPLOAD_MB": max_upload})
    options = _options(port, address, allow_origin, basic_auth, num_procs)
    import panel as pn

    _let_visitors_leave()
    print("Preparing the kernels (compiled once per machine) ...", flush=True)
    print(f"... ready after {warm_up():.1f} s", flush=True)
    pages = {"/": str(Path(__file__).with_name("app.py"))}
    if notebooks is not None:
        pages |= _lesson_pages(Path(notebooks))
    show = browser and num_procs == 1
    if num_procs > 1:
        _end_together()
    try:
        pn.serve(pages, show=show, title="Explorer", verbose=True, **options)
    except OSError as error:
        raise ValueError(f"port {port} on {address} cannot be used: {error.strerror or error}") from None
    return 0


def _lesson_pages(folder: Path) -> dict:
    """A page for each notebook; the app learns of them through the environment."""
    from explorer.views.lesson import lesson_page, lessons

    found = lessons(folder)
    os.environ["EXPLORER_LESSONS"] = json.dumps({title: path.stem for title, path in found.items()})

    def page(path: Path):
        def build():
            import panel as pn

            pn.extension("mathjax")
            return lesson_page(path)

        return build

    return {f"/{path.stem}": page(path) for path in found.values()}


def _set_limits(limits: dict[str, int | None]) -> None:
    for name, value in limits.items():
        if value is not None:
            if value < 1:
                raise ValueError(f"a limit must be at least 1, got {value}")
            os.environ[name] = str(value)


def _end_together() -> None:
    """The processes that will be forked end when this one does, however that ends; else they would keep the port."""
    parent = os.getpid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    os.register_at_fork(after_in_child=lambda: threading.Thread(target=watch, daemon=True).start())


def _let_visitors_leave() -> None:
    """Somebody who closes the page while an answer is on its way is no error: nothing about it in the log."""
    from tornado.websocket import WebSocketClosedError

    def not_gone(record: logging.LogRecord) -> bool:
        _, error, trace = record.exc_info or (None, None, None)
        gone = isinstance(error, WebSocketClosedError)
        if isinstance(error, AssertionError):  # Bokeh's ping was the first to notice that they left
            *_, (frame, _) = traceback.walk_tb(trace)
            gone = frame.f_globals.get("__name__") == "bokeh.server.connection"
        return not gone and "connection was closed" not in record.getMessage()

    for name in ("asyncio", "bokeh.server.views.ws", "bokeh.server.protocol_handler", "tornado.application"):
        logging.getLogger(name).addFilter(not_gone)


def _options(port: int, address: str, allow_origin, basic_auth, num_procs: int) -> dict:
    """What Panel takes, checked."""
    if not 0 <= port <= 65535:
        raise ValueError(f"port must lie between 0 and 65535, got {port}")
    if num_procs < 1:
        raise ValueError(f"--num-procs must be at least 1, got {num_procs}")
    if num_procs > 1 and os.name == "nt":
        raise ValueError("--num-procs needs a system that can fork, which Windows cannot")
    if num_procs > 1 and port == 0:
        raise ValueError("--num-procs needs a port that all processes share, got --port 0")
    for origin in allow_origin or ():
        if not _ORIGIN.match(origin):
            raise ValueError(f"--allow-origin must be a host, or host:port, got {origin!r}")
    options = {"port": port, "address": address}
    if num_procs > 1:
        options["num_procs"] = num_procs
    if allow_origin:
        options["websocket_origin"] = list(allow_origin)
    if basic_auth is not None:
        if not basic_auth:
            raise ValueError("--basic-auth must be a password, or a JSON file of users and passwords, got nothing")
        # Panel's own login page asks another host for its logo.
        login = str(Path(__file__).with_name("login.html"))
        options |= {"basic_auth": basic_auth, "basic_login_template": login, "cookie_secret": os.urandom(32).hex()}
    return options
