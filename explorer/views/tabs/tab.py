"""The base classes of all tabs."""

from typing import ClassVar

import panel as pn
import param

from explorer.models.computation import Computation
from explorer.models.experiment import GROUPS, Experiment
from explorer.views.parts.controls import group
from explorer.views.parts.live_plot import LivePlot
from explorer.views.parts.session import at_end
from explorer.views.parts.status import Status


class Tab(pn.viewable.Viewer):
    """One way to look at a model. A subclass sets the class attributes and implements ``_build``.

    It works on the page and on its own, as the last line of a notebook cell.
    """

    model = param.ClassSelector(
        class_=param.Parameterized, doc="The model that this tab shows; change its parameters from Python."
    )
    active = param.Boolean(True, doc="Whether somebody looks: a hidden tab does not compute.")

    #: What the address calls the tab, and what the page calls it.
    id: ClassVar[str]
    title: ClassVar[str]
    #: The class of the model, and those of its parameters that the address holds.
    model_class: ClassVar[type[param.Parameterized]]
    address_keys: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **params):
        own = {name: params.pop(name) for name in list(params) if name in self.param}
        if "model" not in own:
            own["model"] = self.model_class(**params)
        elif params:
            raise TypeError(f"unknown arguments beside a model: {', '.join(params)}")
        super().__init__(**own)
        self._main = self._build()

    @classmethod
    def model_for(cls, page) -> param.Parameterized:
        """The model of this tab on a page, around the experiment that all tabs of the page share."""
        return cls.model_class(experiment=page.experiment)

    def _build(self):
        """The layout; called once."""
        raise NotImplementedError

    @property
    def main(self):
        """The tab without its controls, for a page that has a sidebar."""
        return self._main

    @property
    def built(self) -> bool:
        """Whether the browser has laid out all plots."""
        return all(plot.built for plot in self._main.select(LivePlot))

    def recall(self) -> None:
        """Show at once what is already known, with the page itself and not after it."""

    def close(self) -> None:
        """Stop whatever still runs: nobody looks any more."""

    def __panel__(self):
        return self._main


class ComputedTab(Tab):
    """A tab that shows the results of a ``Computation``; a subclass also implements ``_show``."""

    model = param.ClassSelector(
        class_=Computation, doc="The model that this tab shows; change its parameters from Python."
    )

    def __init__(self, **params):
        self._stale = True
        super().__init__(**params)
        self.model.param.watch(self._on_result, "result")
        if self.model.mode == "live":
            self.model.on_change(self._refresh)
        self.param.watch(self._on_active, "active")
        if self.model.result is not None:
            self._on_result()

    @property
    def status(self) -> Status:
        """The line that tells what the computation is doing."""
        if self._status is None:
            self._status = Status(self.model)
        return self._status

    _status: Status | None = None

    def _show(self, result) -> None:
        """Paint a result."""
        raise NotImplementedError

    def _on_result(self, *events) -> None:
        if self.model.result is not None:
            self._show(self.model.result)

    async def _refresh(self, *events) -> None:
        self._stale = True
        if self.active:
            self._stale = False
            await self.model.refresh()

    async def _on_active(self, *events) -> None:
        if self.active and self._stale and self.model.mode == "live":
            await self._refresh()

    def recall(self) -> None:
        if self.model.recall():
            self._stale = False

    def start(self) -> None:
        """Make the first picture of a tab that stands alone: at once in a notebook, after the page on a server."""
        if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
            pn.state.onload(self._on_active)
            at_end(self.close)
        elif self.model.mode == "live":
            self._stale = False
            self.model.compute()

    def close(self) -> None:
        self.model.close()

    def controls(self) -> pn.Column:
        """Widgets for what this tab depends on, for a notebook cell."""
        names = set(self.model.inputs)
        groups = [(cls, [name for name in Experiment.names_of(cls) if name in names]) for cls in GROUPS]
        return pn.Column(
            *[group(self.model.experiment, chosen, Experiment.title_of(cls)) for cls, chosen in groups if chosen],
            sizing_mode="stretch_width",
        )

    def __panel__(self):
        if self.model.result is None:
            self.start()
        if not self.model.inputs:
            return self._main
        return pn.Row(pn.Column(self.controls(), width=300), self._main, sizing_mode="stretch_width")
