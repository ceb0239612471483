"""A server with the dashboard and the bare page, and a Chromium to look at them."""

import contextlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def executable() -> str | None:
    """Where Chromium is, if it is."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def free_port() -> int:
    """A port of the loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


#: Seconds that a server may take until it answers: where nothing is compiled yet, beside others who compute too.
PATIENCE = 300


def wait_for(address: str, process: subprocess.Popen) -> None:
    """Until the server that ``process`` runs has answered once."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with exit code {process.returncode}")
        with contextlib.suppress(OSError):
            urllib.request.urlopen(address, timeout=30)
            return
        time.sleep(0.1)
    raise TimeoutError(f"{address} does not answer")


def served():
    """The address of both pages: ``app`` and ``bare_page``; and the server's process."""
    pages = [str(HERE.parent / "explorer/app.py"), str(HERE / "bare_page.py")]
    return _running("panel", "serve", *pages, "--address", "127.0.0.1", page="bare_page")


def explorer_served():
    """The address of ``explorer serve``, and its process."""
    return _running("explorer", "serve", "--no-browser", page="")


@contextlib.contextmanager
def _running(*command: str, page: str):
    port = free_port()
    log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed below
    process = subprocess.Popen([sys.executable, "-m", *command, "--port", str(port)], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}/"
    try:
        wait_for(address + page, process)
        yield address, process
    finally:
        process.terminate()
        process.wait()
        log.seek(0)
        text = log.read()
        log.close()
        if "Traceback" in text or "ERROR" in text:
            print(text[-3000:])
            raise SystemExit("the server's log has an error")


@contextlib.contextmanager
def chromium():
    """A browser, or None where there is none."""
    path = executable()
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
