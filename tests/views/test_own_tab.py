"""A tab, a mechanism and a family from files of somebody's own, on the page of a server that knows nothing of them."""

import os

import pytest
from findings import Findings
from test_extensions import FAMILY, MECHANISM
from visitor import WAIT, wait_for

pytestmark = pytest.mark.browser

TAB = """
import panel as pn

from explorer.models.fisher.surface import FisherSurface
from explorer.views.tabs import Tab, register


@register
class Hello(Tab):
    id, title = "hello", "A tab of my own"
    model_class = FisherSurface

    def _build(self):
        return pn.Column(pn.pane.HTML(f"Hello from epsilon {self.model.experiment.epsilon:g}"))
"""


def test_they_are_on_the_page(browser, serving, tmp_path, monkeypatch):
    files = {"tenths.py": MECHANISM, "secant.py": FAMILY, "hello.py": TAB}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("EXPLORER_EXTENSIONS", os.pathsep.join(str(tmp_path / name) for name in files))
    findings = Findings()
    with serving(tmp_path / "log") as (address, _):
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(WAIT)
        page = findings.watch(context.new_page())
        page.goto(address + "?tab=hello&epsilon=3")
        wait_for(page, "Hello from epsilon 3")
        page.get_by_role("combobox", name="Mechanism").click()
        page.get_by_role("menuitem", name="tenths", exact=True).wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("combobox", name="Population").click()
        page.get_by_role("menuitem", name="secant", exact=True).wait_for()
        page.goto(address + "?tab=mechanism&mechanism=tenths&epsilon=2")
        wait_for(page, r"^Asked for \[.*For these two neighbours")
        context.close()
        findings.check(address)
