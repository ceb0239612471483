"""The README is short, and what it points to is there."""

import re

from pages import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_read_in_a_few_minutes():
    assert len(README.split()) <= 900


def test_every_page_that_it_links_is_there():
    links = re.findall(r"\]\(([\w./-]+)\)", README)
    assert len(links) > 8
    for link in links:
        assert (ROOT / link).exists(), link
