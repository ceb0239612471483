"""Visitors of the page who are watched."""

import pytest
from findings import Findings
from visitor import WAIT


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
