"""One server for all tests of the page, and visitors who are watched."""

import re
import subprocess
import sys

import pytest
from findings import Findings
from visitor import WAIT

from benchmarks.browser import free_port, wait_for


@pytest.fixture(scope="session")
def server_log(tmp_path_factory):
    """What the server has printed so far."""
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="session")
def server(server_log):
    """``explorer serve`` in a process of its own, on a free port of the loopback; its output is checked at the end."""
    port = free_port()
    command = [sys.executable, "-m", "explorer", "serve", "--no-browser", "--port", str(port)]
    with server_log.open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, text=True)
    address = f"http://127.0.0.1:{port}/"
    try:
        wait_for(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(20)
    output = server_log.read_text()
    assert "Preparing the kernels" in output
    assert not re.search(r"Traceback|ERROR|WARNING", output), output[-4000:]


@pytest.fixture
def visit(browser, server):
    """Opens pages, each in a browser of its own, watched for errors and for requests to other hosts."""
    contexts, findings = [], Findings()

    def go(search: str = "", before=None, **options):
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 800}} | options))
        context.set_default_timeout(WAIT)
        contexts.append(context)
        page = findings.watch(context.new_page())
        if before is not None:
            before(page)
        page.goto(server + search)
        page.locator("canvas >> visible=true").first.wait_for()
        return page

    yield go
    for context in contexts:
        context.pages[0].wait_for_timeout(1000)  # let what is on its way arrive
        context.close()
    findings.check(server)
