"""The page, as a person would use it: in a real Chromium, served by the real command."""

import re
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server():
    """``explorer serve`` in a process of its own, on a free port of the loopback; its output is checked at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "explorer", "serve", "--no-browser", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(600):
            assert process.poll() is None, process.stdout.read()
            try:
                urllib.request.urlopen(address, timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        output = process.communicate(timeout=20)[0]
    assert "Preparing the kernels" in output
    assert not re.search(r"Traceback|ERROR|WARNING", output), output


@pytest.fixture
def opened(page, server):
    """The page with its first picture, watched for errors and for requests to other hosts."""
    problems, hosts = [], set()
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]) if "://" in request.url else None)
    page.goto(server)
    page.locator(".bk-Canvas, canvas").first.wait_for()
    page.get_by_text("Best interval").wait_for()
    yield page
    assert problems == []
    assert hosts == {server.split("/")[2]}


def caption(page) -> str:
    return page.get_by_text(re.compile("Best interval|This score is 0")).inner_text()


def wait_for_caption(page, pattern: str) -> None:
    page.get_by_text(re.compile(pattern)).wait_for()


def test_the_first_picture_shows_the_exact_optimum(opened):
    assert caption(opened) == "Best interval [-0.07056, 0.07056], F[μ,μ] = 0.1089"


def test_dragging_epsilon_moves_the_optimum(opened):
    thumb = opened.get_by_role("slider").first
    box = thumb.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = opened.locator("canvas").first.screenshot()
    opened.mouse.move(x, y)
    opened.mouse.down()
    opened.mouse.move(x + 80, y, steps=10)
    opened.mouse.up()
    wait_for_caption(opened, r"Best interval \[-0\.[2-9]")
    assert opened.locator("canvas").first.screenshot() != before


def choose(page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("menuitem", name=option, exact=True).click()


def test_choosing_another_mechanism_and_score(opened):
    choose(opened, "Mechanism", "randomized_response")
    wait_for_caption(opened, r"F\[μ,μ\] = 0\.136")
    choose(opened, "Score", "det")
    wait_for_caption(opened, "This score is 0 for every interval")
    choose(opened, "Mechanism", "gaussian")
    opened.get_by_role("combobox", name="δ").wait_for()
    choose(opened, "Score", "mu")
    wait_for_caption(opened, r"Best interval \[-0\.0136")
    choose(opened, "δ", "1e-2")
    wait_for_caption(opened, r"Best interval \[-0\.0[2-9]")
