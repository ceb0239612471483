"""The whole page: one experiment, its controls at the side, and a tab for each way to look at it."""

import asyncio
import html

import panel as pn
import panel_material_ui as pmui
import param

from explorer.models.comparison import Comparison
from explorer.models.data_collection import DataCollection
from explorer.models.experiment import GROUPS, Experiment
from explorer.models.fisher_surface import FisherSurface
from explorer.models.live_run import LiveRun as LiveRunModel
from explorer.models.mechanism_densities import MechanismDensities
from explorer.models.planning import Planning
from explorer.models.tour import Tour
from explorer.views.address import Address
from explorer.views.compare import Compare
from explorer.views.controls import group
from explorer.views.fisher_map import FisherMap
from explorer.views.learn import Learn, TourBar
from explorer.views.live_run import LiveRun
from explorer.views.mechanism_view import MechanismView
from explorer.views.planner import Planner
from explorer.views.session import at_end
from explorer.views.your_data import YourData

#: The tabs: what the address calls them, and their titles.
_TABS = {
    "run": "Live run",
    "fisher": "Fisher map",
    "mechanism": "Mechanism",
    "compare": "Compare",
    "plan": "Plan",
    "data": "Your data",
    "learn": "Learn",
}


class Dashboard(param.Parameterized):
    """Composes the views around one experiment."""

    tab = param.Selector(default="run", objects=list(_TABS), doc="Which tab is open, for the address.")

    def __init__(self, search: str = "", lessons: dict[str, str] | None = None, **params):
        """``search`` is the end of the page's address; ``lessons`` are titles and addresses of lessons."""
        super().__init__(**params)
        self.experiment = Experiment()
        mechanism = MechanismDensities(experiment=self.experiment)
        self.tour = Tour(experiment=self.experiment)
        parameters = {"step": self.tour}  # first: it sets others, which may have been changed since
        parameters |= {name: self.experiment for name in self.experiment.param if name != "name"}
        comparison = Comparison(experiment=self.experiment)
        parameters |= {"first": mechanism, "second": mechanism, "tab": self}
        planning = Planning(experiment=self.experiment)
        parameters |= dict.fromkeys(("methods", "mechanisms", "epsilons", "replicates"), comparison)
        parameters |= dict.fromkeys(("standard_error", "given", "people"), planning)
        self.address = Address(parameters)
        with param.parameterized.discard_events(self.tour):  # the address has all settings
            self.problems = self.address.read(search)
        self.views = (
            LiveRun(model=LiveRunModel(experiment=self.experiment), active=False),
            FisherMap(model=FisherSurface(experiment=self.experiment), active=False),
            MechanismView(model=mechanism, active=False),
            Compare(model=comparison, active=False),
            Planner(model=planning, active=False),
            YourData(model=DataCollection(experiment=self.experiment), active=False),
            Learn(self.tour, lessons),
        )
        self.views[self.param.tab.objects.index(self.tab)].recall()
        self._notice = pmui.Alert(
            _notice(self.problems), severity="warning", visible=bool(self.problems), closeable=True, margin=10
        )
        # The tabs themselves are empty. What they would hold is built when first asked for, and then shown or hidden:
        # to build it anew each time takes a second or two.
        chosen = self.param.tab.objects.index(self.tab)
        self._tabs = pmui.Tabs(
            *[(title, pn.Spacer(height=0)) for title in _TABS.values()], active=chosen, sizing_mode="stretch_width"
        )
        self._panels = [
            pn.Column(*([view.main] if k == chosen else []), visible=k == chosen, sizing_mode="stretch_width")
            for k, view in enumerate(self.views)
        ]
        self._tabs.param.watch(self._on_tab, "active")
        self.tour.param.watch(self._on_tour, "step")
        self.param.watch(self._activate, "tab")

    def _on_tab(self, event) -> None:
        self.tab = self.param.tab.objects[event.new]

    def _on_tour(self, event) -> None:
        self.tab = "learn" if self.tour.now is None else self.tour.now.tab

    async def _activate(self, *events) -> None:
        chosen = self.param.tab.objects.index(self.tab)
        with pn.io.hold():
            self._tabs.active = chosen
            for k, panel in enumerate(self._panels):
                panel.visible = k == chosen
            if not len(self._panels[chosen]):
                self._panels[chosen].append(self.views[chosen].main)
        for k, view in enumerate(self.views):
            if k != chosen:
                view.active = False
        # Bokeh cannot change a figure, nor anything beside it, while it builds it.
        for _ in range(1200):  # a minute: what comes too early is lost
            if self.views[chosen].built:
                break
            await asyncio.sleep(0.05)
        if self.tab == self.param.tab.objects[chosen]:
            self.views[chosen].active = True

    def page(self) -> pmui.Page:
        """The page for a server."""
        sidebar = [group(self.experiment, Experiment.names_of(cls), cls.__name__) for cls in GROUPS]
        pn.state.onload(self._start)
        at_end(self.close)
        # On a phone the controls would cover everything: they wait behind their button.
        phone = "Mobi" in (pn.state.headers or {}).get("User-Agent", "")
        above = self._notice, TourBar(self.tour), self._tabs
        others = _told_when_busy()
        page = pmui.Page(
            title="Explorer: adaptive, private, online estimation",
            sidebar=sidebar,
            sidebar_open=not phone,
            main=[pn.Column(*above, *self._panels, sizing_mode="stretch_width", margin=5)],
            busy_indicator=None,
            sidebar_width=300,
        )
        # The page follows whether the server is busy, for an indicator that this one does not have. With that it would
        # never be forgotten: the server, which outlives all pages, keeps a list of whom to tell.
        for watcher in _told_when_busy():
            if watcher not in others:
                pn.state.param.unwatch(watcher)
        return page

    async def _start(self) -> None:
        self.address.follow()
        await self._activate()

    def close(self) -> None:
        """The session is over: whatever still runs stops."""
        for view in self.views:
            view.close()


def _told_when_busy() -> list:
    return list(pn.state.param.watchers.get("busy", {}).get("value", []))


def _notice(problems: list[str]) -> str:
    # The alert renders HTML, and whoever made the address chose these words.
    words = html.escape("; ".join(problems))
    return f"Not everything in the address could be used, the defaults stand there: {words}."
