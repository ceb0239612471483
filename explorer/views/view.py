"""What all views share: a model, its status, refreshing while somebody looks, code and downloads."""

import html
import io
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from explorer.models.computation import Computation
from explorer.models.experiment import GROUPS, Experiment
from explorer.views.controls import group
from explorer.views.html_text import HtmlText
from explorer.views.live_plot import LivePlot
from explorer.views.session import at_end
from explorer.views.status import Status


class View(pn.viewable.Viewer):
    """Base class: a subclass names its model's class and gives ``_build`` and ``_show``."""

    model = param.ClassSelector(class_=Computation, doc="The Param object to script against.")
    active = param.Boolean(True, doc="Whether somebody looks: a hidden view does not compute.")

    #: The class of the model, and the experiment's parameters that this view has controls for.
    model_class: type[Computation]

    def __init__(self, **params):
        own = {name: params.pop(name) for name in list(params) if name in self.param}
        if "model" not in own:
            own["model"] = self.model_class(**params)
        elif params:
            raise TypeError(f"unknown arguments beside a model: {', '.join(params)}")
        super().__init__(**own)
        self.status = Status(self.model)
        self._stale = True
        self._main = self._build()
        self.model.param.watch(self._on_result, "result")
        self.model.on_change(self._refresh)
        self.param.watch(self._on_active, "active")
        if self.model.result is not None:
            self._on_result()

    def _build(self):
        """The layout, made once."""
        raise NotImplementedError

    def _show(self, result) -> None:
        """Paint a result."""
        raise NotImplementedError

    def _on_result(self, *events) -> None:
        self._show(self.model.result)

    async def _refresh(self, *events) -> None:
        self._stale = True
        if self.active:
            self._stale = False
            await self.model.refresh()

    async def _on_active(self, *events) -> None:
        if self.active and self._stale:
            await self._refresh()

    def recall(self) -> None:
        """Show at once what is known already, with the page itself and not after it."""
        if self.model.recall():
            self._stale = False

    def start(self) -> None:
        """The first picture of a view that stands alone: at once in a notebook, after the page on a server."""
        if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
            pn.state.onload(self._on_active)
            at_end(self.close)
        else:
            self._stale = False
            self.model.compute()

    def close(self) -> None:
        """Nobody looks any more."""
        self.model.close()

    @property
    def main(self):
        """The view without its controls, for a page that has a sidebar."""
        return self._main

    @property
    def built(self) -> bool:
        """Whether the browser has laid out all plots."""
        return all(plot.built for plot in self._main.select(LivePlot))

    def controls(self) -> pn.Column:
        """Widgets for what this view depends on, for a notebook cell."""
        names = set(self.model.inputs)
        groups = [(cls, [name for name in Experiment.names_of(cls) if name in names]) for cls in GROUPS]
        return pn.Column(
            *[group(self.model.experiment, chosen, cls.__name__) for cls, chosen in groups if chosen],
            sizing_mode="stretch_width",
        )

    def __panel__(self):
        if self.model.result is None:
            self.start()
        return pn.Row(
            pn.Column(self.controls(), width=300),
            self._main,
            sizing_mode="stretch_width",
        )


class OnDemandView(View):
    """Computes when somebody asks for it, and not by itself."""

    async def _refresh(self, *events) -> None:
        """The settings are read when it is asked for."""

    async def _on_active(self, *events) -> None:
        """Nothing to catch up with."""

    def recall(self) -> None:
        """Nothing is known before it is asked for."""

    def start(self) -> None:
        if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
            at_end(self.close)


def side_by_side(*parts, narrowest: int = 400) -> pn.Row:
    """Beside each other where there is room, below each other on a phone."""
    for part in parts:
        part.styles = {"flex": f"1 1 {narrowest}px", "min-width": "280px"}
    return wrapped(*parts)


def in_pairs(*parts) -> list[pn.Row]:
    """Two in each row, on a screen of any width: those of one row belong together."""
    return [side_by_side(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def wrapped(*parts) -> pn.Row:
    """A row that goes on in the next line where it is too long."""
    # Not a FlexBox: Bokeh never counts the figures in it as finished, so that the page is never told to be loaded.
    return pn.Row(*parts, sizing_mode="stretch_width", styles={"flex-wrap": "wrap"})


_NOTHING_YET = "# nothing has been computed yet\n"


def csv_button(label: str, filename: str, model: Computation, table: Callable) -> pmui.FileDownload:
    """A button that downloads a model's result as a table, which is made when asked for."""

    def content() -> io.StringIO:
        return io.StringIO(_NOTHING_YET if model.result is None else table(model.result).to_csv(index=False))

    return pmui.FileDownload(
        callback=content, filename=filename, label=label, variant="outlined", size="small", embed=False, margin=5
    )


#: In HTML: a callback of Panel's that knows the text would keep the whole page in the server's memory for ever.
_COPY = (
    "<button style='padding: 6px 16px; font: inherit; cursor: pointer' "
    "onclick='navigator.clipboard.writeText(this.previousElementSibling.textContent); this.textContent = `Copied`'>"
    "Copy</button>"
)


def code_button(model: Computation, code: Callable[[Any], str]) -> pn.Row:
    """Shows the calls that reproduce a model's result, and copies them."""
    text = HtmlText("", sizing_mode="stretch_width")
    dialog = pmui.Dialog(text, title="The same in Python", width_option="md", close_on_click=True)
    button = pmui.Button(label="Copy as Python", variant="outlined", size="small", margin=5)

    def show(event) -> None:
        with pn.io.hold():
            script = _NOTHING_YET if model.result is None else code(model.result)
            text.object = f"<pre style='white-space: pre-wrap'>{html.escape(script)}</pre>{_COPY}"
            dialog.open = True

    button.on_click(show)
    return pn.Row(button, dialog, width=150, margin=0)
