"""The views in a notebook: in JupyterLab and served by ``panel serve``, in a real Chromium and without the internet."""

import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from findings import Findings
from mouse import drag
from playwright.sync_api import expect

from benchmarks.browser import free_port, wait_for

pytestmark = pytest.mark.browser
WAIT = 60_000
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def write_notebook(path, *cells: str) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells], metadata=_KERNEL)
    nbformat.write(notebook, path)


@pytest.fixture
def start(tmp_path):
    """Starts a server with arguments of Python, on a free port; its output is checked at the end."""
    processes = []

    def run(*arguments: str, page: str) -> str:
        port = free_port()
        # Nothing of the machine's own Jupyter, and nothing left behind in it.
        places = {f"JUPYTER_{name}": str(tmp_path / name) for name in ("RUNTIME_DIR", "CONFIG_DIR", "DATA_DIR")}
        environment = os.environ | places | {"IPYTHONDIR": str(tmp_path / "ipython")}
        log = (tmp_path / "log").open("w")
        command = [sys.executable, "-m", *(argument.format(port=port) for argument in arguments)]
        processes.append(subprocess.Popen(command, stdout=log, stderr=log, cwd=tmp_path, env=environment))
        address = f"http://127.0.0.1:{port}/{page}"
        wait_for(address, processes[-1])
        return address

    yield run
    for process in processes:
        process.terminate()
        process.wait(20)
    assert "Traceback" not in (log := (tmp_path / "log").read_text()), log[-3000:]


def caption(page):
    return page.get_by_text(re.compile("^ε = .*best interval")).first


def colours(page) -> str:
    """What the map's canvas shows."""
    return page.locator("canvas >> visible=true").first.evaluate("canvas => canvas.toDataURL()")


def leave(page, log, told: str) -> None:
    """Close the page, and wait until the server has told so: to end both at once is an error to Bokeh and Tornado.

    So is a message to a page that is gone: let what is on its way arrive.
    """
    expect(page.get_by_text("final", exact=True).first).to_be_visible(timeout=WAIT)
    page.wait_for_timeout(2000)
    page.close()
    until = time.monotonic() + 20
    while told not in log.read_text() and time.monotonic() < until:
        time.sleep(0.05)


def test_a_view_is_the_last_line_of_a_cell_in_jupyterlab(start, page, tmp_path):
    write_notebook(
        tmp_path / "try.ipynb",
        "import explorer as ex",
        "view = ex.FisherMap(epsilon=2)\nview",
        "# then, by hand",
    )
    page.set_viewport_size({"width": 1500, "height": 1000})
    page.set_default_timeout(WAIT)
    settings = ["--no-browser", "--allow-root", "--IdentityProvider.token=", "--ServerApp.password="]
    fetching = ["--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    address = start("jupyterlab", "--ip=127.0.0.1", "--port={port}", *settings, *fetching, page="lab/tree/try.ipynb")
    findings = Findings()
    findings.watch(page).goto(address)
    page.get_by_text("view = ex.FisherMap").wait_for()
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for()  # what is run before is lost
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).first.click()
    expect(caption(page)).to_contain_text("ε = 2: best interval [-0.2234, 0.2234]", timeout=WAIT)
    page.get_by_text("# then, by hand").click()
    page.keyboard.press("End")
    page.keyboard.type("\nview.model.experiment.epsilon = 5")
    page.keyboard.press("Control+Enter")
    expect(caption(page)).to_contain_text("ε = 5: best interval [-0.7281, 0.7281]")
    before = colours(page)
    drag(page.get_by_role("slider").first, 40)
    expect(caption(page)).not_to_contain_text("ε = 5:")
    assert colours(page) != before
    findings.check(address)
    leave(page, tmp_path / "log", "Starting buffering")


def test_a_notebook_is_served_by_panel(start, page, tmp_path):
    write_notebook(tmp_path / "try.ipynb", "import explorer as ex", "ex.FisherMap(epsilon=2).servable()")
    page.set_default_timeout(WAIT)
    address = start("panel", "serve", "try.ipynb", "--address=127.0.0.1", "--port={port}", page="try")
    findings = Findings()
    findings.watch(page).goto(address)
    expect(caption(page)).to_contain_text("ε = 2: best interval [-0.2234, 0.2234]", timeout=WAIT)
    before = colours(page)
    drag(page.get_by_role("slider").first, 40)
    expect(caption(page)).not_to_contain_text("ε = 2:")
    assert colours(page) != before
    findings.check(address)
    leave(page, tmp_path / "log", "WebSocket connection closed")
