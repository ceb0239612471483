"""Shared by all tests: a browser, processes, fixed random numbers, and what a missing browser means."""

import os
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


@pytest.fixture(scope="module")
def pool():
    """Processes for many runs: side by side they are faster than threads within one."""
    with ProcessPoolExecutor(initializer=partial(os.environ.__setitem__, "EXPLORER_THREADS", "1")) as executor:
        yield executor


@pytest.fixture
def serving():
    """``serving(log, *options)``: ``explorer serve`` on a free port, within which its address and process are known."""
    return serve


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
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()
