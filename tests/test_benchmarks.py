"""Every benchmark in its small form: that each still runs and prints its lines, not how fast anything is."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks import screenshots, timing
from benchmarks.__main__ import ALL, LONG, main

BROWSER = ("dashboard", "screenshots")
#: Lines that do not depend on how fast the machine is: these targets are met in the small form too.
EXACT = ("largest error", "difference from SciPy", "thrown out", "pictures that each")


@pytest.fixture
def small(capsys, monkeypatch):
    """``small(name)``: what the benchmark of this name prints, line by line."""
    monkeypatch.setattr(timing, "missed", [])

    def run(name: str) -> list[str]:
        with ThreadPoolExecutor(1) as own_thread:  # in this one a browser's event loop may be running
            assert own_thread.submit(main, ["--small", name]).result() == 0
        told = capsys.readouterr().out.splitlines()
        assert told
        assert not [line for line in timing.missed if any(exact in line for exact in EXACT)]
        return told

    return run


def test_every_benchmark_is_tried_here():
    tried = {"information", "likelihood", "sampling", "secure", "start", "stopping", "crowd", *BROWSER}
    assert tried == {*ALL, *LONG}


@pytest.mark.parametrize("name", ["information", "likelihood", "sampling", "secure", "start", "stopping", "crowd"])
def test_it_runs(small, name):
    told = small(name)
    assert any("target" in line for line in told), told


def test_what_is_not_installed_is_told_in_one_line(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "particles", None)
    told = small("sampling")
    (line,) = [line for line in told if "not installed" in line]
    assert line.startswith("IBIS in `particles`")


@pytest.mark.browser
def test_the_dashboard_is_measured(browser, small):
    told = small("dashboard")
    assert sum("target" in line for line in told) == 6, told


@pytest.mark.browser
def test_the_pictures_are_taken(browser, tmp_path):
    with ThreadPoolExecutor(1) as own_thread:
        own_thread.submit(screenshots.run, True, tmp_path).result()
    for name in screenshots.SMALL:
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", BROWSER)
def test_without_a_browser_it_is_told_in_one_line(name, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.browser.executable", lambda: None)
    assert main(["--small", name]) == 0
    assert capsys.readouterr().out.count("\n") == 1


def test_an_unknown_name_is_told(capsys):
    assert main(["speed"]) == 2
    assert capsys.readouterr().err.startswith("no benchmark named speed; there are information")
