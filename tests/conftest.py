"""Shared by all tests: a browser, processes, fixed random numbers, and what a missing browser means."""

import asyncio
import os
import re
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import hypothesis
import pytest
from serving import serving as serve

from benchmarks.browser import FLAGS, executable

# The same cases in every run; a failing one is printed and can be pasted into a test.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None, database=None, print_blob=True)
hypothesis.settings.load_profile("fixed")


def pytest_addoption(parser):
    parser.addoption(
        "--require-browser", action="store_true", help="fail, and do not skip, browser tests without Chromium"
    )


#: For mypy; nothing in it is to be run.
collect_ignore = ["type_checks"]
#: Tests that share a server or a browser, which take long to start: they stay in one process.
SHARING = ("tests/views/", "tests/test_fuzz.py::test_random_addresses", "tests/test_benchmarks.py::test_the_")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests of the page stay together and come first, for they take longest; every other goes where there is time.

    Not by pytest-xdist's own groups: it writes them into the names of tests, which newer versions of pytest fix.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "page" if nodeid.startswith(SHARING) else nodeid

    return Scheduling(config, log)


@pytest.fixture(autouse=True)
def no_running_loop(request):
    """Playwright's event loop, once started, counts as running in this thread; only its own tests are to see it."""
    if "browser" in request.fixturenames:
        yield
        return
    playwright_loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(playwright_loop)


@pytest.fixture(scope="module")
def pool():
    """Processes for many runs: side by side they are faster than threads within one."""
    test_processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    one_thread = partial(os.environ.__setitem__, "EXPLORER_THREADS", "1")
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 1) // test_processes), initializer=one_thread) as executor:
        yield executor


@pytest.fixture
def serving():
    """``serving(log, *options)``: ``explorer serve`` on a free port, within which its address and process are known."""
    return serve


@pytest.fixture(scope="session")
def server_log(tmp_path_factory):
    """What the server has printed so far."""
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="session")
def server(server_log):
    """``explorer serve`` in a process of its own, on a free port of the loopback; its output is checked at the end."""
    with serve(server_log) as (address, process):
        yield address
        process.terminate()
        process.wait(20)
    output = server_log.read_text()
    assert "Preparing the kernels" in output
    fault = re.search(r"Traceback|ERROR|WARNING", output)
    assert not fault, output[max(fault.start() - 500, 0) : fault.start() + 3500]


@pytest.fixture(scope="session")
def browser(request):
    """Debian's Chromium, driven by Playwright."""
    from playwright.sync_api import sync_playwright

    path = executable()
    if path is None:
        message = "no Chromium on this machine (Debian: apt-get install chromium)"
        if request.config.getoption("--require-browser"):
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser):
    """A fresh page in a context of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()
