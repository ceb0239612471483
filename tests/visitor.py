"""A visitor of the page: eyes that wait for what they expect, and hands."""

import re

from playwright.sync_api import expect

WAIT = 120_000  # milliseconds, for a machine that does many other things too


def sentence(page, beginning: str) -> str:
    """The visible sentence that begins so."""
    return page.get_by_text(re.compile(f"^{beginning}")).first.inner_text()


def wait_for(page, pattern: str) -> None:
    expect(page.get_by_text(re.compile(pattern)).first).to_be_visible(timeout=WAIT)


def wait_for_address(page, pattern: str) -> None:
    page.wait_for_function("pattern => new RegExp(pattern).test(location.search)", arg=pattern)


def press(page, slider: str, *keys: str) -> None:
    page.get_by_role("slider", name=slider, exact=True).focus()
    for key in keys:
        page.keyboard.press(key)


def choose(page, label: str, option: str) -> None:
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("menuitem", name=option, exact=True).click()


def type_into(page, label: str, text: str) -> None:
    page.get_by_label(label, exact=True).click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)
    page.keyboard.press("Tab")
