"""``explorer serve`` for as long as a test needs it."""

import contextlib
import subprocess
import sys

from benchmarks.browser import free_port, wait_for


@contextlib.contextmanager
def serving(log, *options: str, explorer: tuple[str, ...] = (sys.executable, "-m", "explorer")):
    """The address and the process of a server on a free port; what it prints goes to the file ``log``."""
    port = free_port()
    command = [*explorer, "serve", "--no-browser", "--port", str(port), *options]
    with log.open("w") as file:
        process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}/"
    try:
        wait_for(address, process)
        yield address, process
    finally:
        process.kill()  # it cannot tell its children any more
        process.wait()
