"""The whole page: one experiment, its controls at the side, and a tab for each way to look at it."""

import asyncio
import html

import panel as pn
import panel_material_ui as pmui
import param

from explorer.models.experiment import GROUPS, Experiment
from explorer.models.tour import Tour
from explorer.views.address import Address
from explorer.views.parts.controls import group
from explorer.views.parts.panel_workarounds import forget_busy_watchers
from explorer.views.parts.session import at_end
from explorer.views.tabs import Tab, registered
from explorer.views.tour_bar import TourBar


class Dashboard(param.Parameterized):
    """All registered tabs around one experiment; each is built when it is first opened."""

    tab = param.Selector(objects=[], check_on_set=True, doc="The id of the open tab.")

    def __init__(self, search: str = "", lessons: dict[str, str] | None = None, **params):
        """``search`` is the end of the page's address; ``lessons`` are titles and addresses of lessons."""
        super().__init__(**params)
        self._classes = registered()
        first = next(iter(self._classes))
        self.param.tab.objects, self.param.tab.default, self.tab = list(self._classes), first, first
        self.experiment = Experiment()
        self.tour = Tour(experiment=self.experiment, lessons=lessons or {})
        self.models = {name: tab.model_for(self) for name, tab in self._classes.items()}
        self.address = Address(self._address_parameters())
        with param.parameterized.discard_events(self.tour):  # the address has all settings
            self.problems = self.address.read(search)
        self.views: dict[str, Tab] = {}
        self._notice = pmui.Alert(
            _notice(self.problems), severity="warning", visible=bool(self.problems), closeable=True, margin=10
        )
        # The tabs themselves are empty. What they would hold is built when first asked for, and then shown or hidden:
        # to build it anew each time takes a second or two.
        self._tabs = pmui.Tabs(
            *[(tab.title, pn.Spacer(height=0)) for tab in self._classes.values()],
            active=self.param.tab.objects.index(self.tab),
            sizing_mode="stretch_width",
        )
        self._panels = {name: pn.Column(visible=False, sizing_mode="stretch_width") for name in self._classes}
        self._open(self.tab).recall()
        self._tabs.param.watch(self._on_tab, "active")
        self.tour.param.watch(self._on_tour, "step")
        self.param.watch(self._activate, "tab")

    def _address_parameters(self) -> dict[str, param.Parameterized]:
        """Every parameter that the address holds, and the object that has it."""
        parameters = {"step": self.tour}  # first: it sets others, which may have been changed since
        parameters |= {name: self.experiment for name in self.experiment.param if name != "name"}
        for name, tab in self._classes.items():
            for key in tab.address_keys:
                if parameters.setdefault(key, self.models[name]) is not self.models[name]:
                    raise ValueError(f"two tabs keep {key!r} in the address, one of them {tab.__qualname__}")
        return parameters | {"tab": self}

    def _open(self, name: str) -> Tab:
        """Show a tab and hide the others; builds it if it is opened for the first time."""
        if name not in self.views:
            self.views[name] = self._classes[name](model=self.models[name], active=False)
            self._panels[name].append(self.views[name].main)
        for other, panel in self._panels.items():
            panel.visible = other == name
        return self.views[name]

    def _on_tab(self, event) -> None:
        self.tab = self.param.tab.objects[event.new]

    def _on_tour(self, event) -> None:
        self.tab = "learn" if self.tour.now is None else self.tour.now.tab

    async def _activate(self, *events) -> None:
        name = self.tab
        with pn.io.hold():
            self._tabs.active = self.param.tab.objects.index(name)
            view = self._open(name)
        for other in self.views.values():
            if other is not view:
                other.active = False
        # Bokeh cannot change a figure, nor anything beside it, while it builds it: what comes too early is lost.
        for _ in range(1200):  # a minute
            if view.built:
                break
            await asyncio.sleep(0.05)
        if self.tab == name:
            view.active = True

    def page(self) -> pmui.Page:
        """The page for a server."""
        sidebar = [group(self.experiment, Experiment.names_of(cls), Experiment.title_of(cls)) for cls in GROUPS]
        pn.state.onload(self._start)
        at_end(self.close)
        # On a phone the controls would cover everything: they wait behind their button.
        phone = "Mobi" in (pn.state.headers or {}).get("User-Agent", "")
        above = self._notice, TourBar(self.tour), self._tabs
        with forget_busy_watchers():
            return pmui.Page(
                title="Explorer: adaptive, private, online estimation",
                sidebar=sidebar,
                sidebar_open=not phone,
                main=[pn.Column(*above, *self._panels.values(), sizing_mode="stretch_width", margin=5)],
                busy_indicator=None,
                sidebar_width=300,
            )

    async def _start(self) -> None:
        self.address.follow()
        await self._activate()

    def close(self) -> None:
        """The session is over: whatever still runs stops."""
        for view in self.views.values():
            view.close()


def _notice(problems: list[str]) -> str:
    # The alert renders HTML, and whoever made the address chose these words.
    words = html.escape("; ".join(problems))
    return f"Some settings in the address were ignored, and their defaults are used: {words}."
