"""A notebook as a page, in a real browser and without the internet."""

import re

import pytest
from findings import Findings
from mouse import drag
from playwright.sync_api import expect

from explorer.commands.serve import NOTEBOOKS
from explorer.views.lesson import lessons

pytestmark = pytest.mark.browser


def test_the_lessons_are_found_by_their_titles(tmp_path):
    found = lessons(NOTEBOOKS)
    assert [path.stem[:1] for path in found.values()] == list("123456")
    assert next(iter(found)) == "1 · Privacy by noise"
    with pytest.raises(ValueError, match="there are no notebooks"):
        lessons(tmp_path)
    (tmp_path / "broken.ipynb").write_text("{")
    with pytest.raises(ValueError, match="cannot be read as a notebook"):
        lessons(tmp_path)


def test_from_the_learn_tab_to_a_lesson_whose_controls_and_formulas_work(serving, browser, tmp_path):
    with serving(tmp_path / "log", "--notebooks") as (address, _):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.set_default_timeout(60_000)
        findings = Findings()
        findings.watch(page).goto(address + "?tab=learn")
        page.get_by_role("link", name="1 · Privacy by noise").click()
        page.get_by_role("heading", name="What an attacker learns").wait_for()  # it may be being prepared before
        expect(page.locator("mjx-container").first).to_be_visible(timeout=60_000)
        caption = page.get_by_text(re.compile("^Asked for")).first
        expect(caption).to_contain_text("ε = 1 promises 2.72")
        drag(page.get_by_role("slider", name="Privacy ε", exact=True), 40)
        expect(caption).not_to_contain_text("ε = 1 promises")
        page.get_by_text("Solution").first.click()
        expect(page.get_by_text("print(np.log(9))")).to_be_visible()
        page.wait_for_timeout(1000)
        context.close()
        findings.check(address)
    assert "Traceback" not in (tmp_path / "log").read_text()
