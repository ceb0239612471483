"""The tab protocol, without a browser: the registry, and tabs that are built when they are first opened."""

import asyncio
import importlib
import sys

import pytest

from explorer.views.dashboard import Dashboard
from explorer.views.tabs import ComputedTab, Learn, Tab, register, registered, unregister

OWN = '''
import panel as pn
import param

from explorer.models.computation import Computation
from explorer.views.tabs import ComputedTab, register


class Doubling(Computation):
    own_inputs = ("size",)
    size = param.Integer(1, doc="What is doubled.")

    def work(self):
        size = self.size
        return iter([2 * size])


@register
class Mine(ComputedTab):
    """Shows a number."""

    id, title = "mine", "My tab"
    address_keys = ("size",)
    model_class = Doubling

    def _build(self):
        self.text = pn.pane.HTML("")
        return pn.Column(self.status, self.text)

    def _show(self, result):
        self.text.object = str(result)
'''


@pytest.fixture
def own_tab(tmp_path, monkeypatch):
    """A tab from somebody's own file."""
    (tmp_path / "own_tab.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("own_tab").Mine
    unregister("mine")
    del sys.modules["own_tab"]


def test_a_tab_of_ones_own_is_on_the_page_and_in_the_address(own_tab):
    dashboard = Dashboard("?tab=mine&size=21")
    assert dashboard.problems == []
    assert list(registered())[-1] == "mine"
    view = dashboard.views["mine"]
    view.active = True
    asyncio.run(view.model.refresh())
    assert view.text.object == "42"
    assert dashboard.address.text() == "?size=21&tab=mine"


def test_only_the_open_tab_is_built():
    dashboard = Dashboard("?tab=plan")
    assert list(dashboard.views) == ["plan"]
    assert list(Dashboard().views) == [next(iter(registered()))]


@pytest.mark.parametrize("name", registered())
def test_every_tab_opens_first(name):
    dashboard = Dashboard(f"?tab={name}")
    assert dashboard.problems == []
    (view,) = dashboard.views.values()
    assert isinstance(view, Tab)
    assert view.main is not None
    dashboard.close()


def test_ids_and_address_keys_are_unique():
    class Another(Learn):
        """Has the id of the one that it is made from."""

    with pytest.raises(ValueError, match="already a tab 'learn'"):
        register(Another)

    class Greedy(registered()["plan"]):
        """Has its keys, too."""

        id = "greedy"

    register(Greedy)
    try:
        with pytest.raises(ValueError, match="two tabs keep 'standard_error'"):
            Dashboard()
    finally:
        unregister("greedy")


def test_what_is_computed_on_demand_is_not_computed_by_itself():
    for name, tab in registered().items():
        if issubclass(tab, ComputedTab):
            view = Dashboard(f"?tab={name}").views[name]
            assert (view.model.result is None) == (view.model.mode != "live"), name


def test_a_tab_that_does_not_exist_is_reported_and_the_first_one_opens():
    dashboard = Dashboard("?tab=elsewhere")
    assert dashboard.problems == ["tab cannot be 'elsewhere'"]
    assert list(dashboard.views) == [next(iter(registered()))]
    assert dashboard.address.text() == ""
