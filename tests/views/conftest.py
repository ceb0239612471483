"""One server for all tests of the page, and visitors who are watched."""

import re

import pytest
from findings import Findings
from serving import serving
from visitor import WAIT


@pytest.fixture(scope="session")
def server_log(tmp_path_factory):
    """What the server has printed so far."""
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="session")
def server(server_log):
    """``explorer serve`` in a process of its own, on a free port of the loopback; its output is checked at the end."""
    with serving(server_log) as (address, process):
        yield address
        process.terminate()
        process.wait(20)
    output = server_log.read_text()
    assert "Preparing the kernels" in output
    fault = re.search(r"Traceback|ERROR|WARNING", output)
    assert not fault, output[max(fault.start() - 500, 0) : fault.start() + 3500]


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
