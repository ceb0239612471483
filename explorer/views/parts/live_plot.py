"""A plot that HoloViews describes once; from then on only numbers travel.

A plot that is made anew for each change costs a fifth of a second, a ``DynamicMap`` still some twenty milliseconds for
each of its layers. Here a change replaces columns of data sources, and all plots that change together go out in one
message. The layers are named::

    plot = LivePlot({"curve": hv.Curve([(0, 0)], "x", "y")})
    plot.paint({"curve": {"x": x, "y": y}}, y=(0, 1))
    repaint(plot, ...)

``repaint`` shows what was painted, wherever the plots are shown: on a page, in one notebook cell or in two.
"""

import weakref
from collections.abc import Callable, Iterable

import holoviews as hv
import numpy as np
import panel as pn
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import SaveTool

from explorer.views.parts import notebook
from explorer.views.parts.panel_workarounds import shown_plots

with notebook.prepared():
    hv.extension("bokeh", logo=False, inline=pn.config.inline)
hv.renderer("bokeh").webgl = False  # slower than the canvas here, and leaves blank plots for some users

#: Okabe and Ito's colours, which colour-blind people can tell apart, for both themes.
BLUE, ORANGE, VERMILLION, PURPLE, GREEN, GREY = "#2b8cd6", "#E69F00", "#D55E00", "#CC79A7", "#009E73", "#8a8f98"
#: Density as opacity: looks the same on white and on black.
FADING_BLUE = [f"{BLUE}{round(25 + 230 * (k / 255) ** 0.7):02x}" for k in range(256)]


def _finish(plot, element) -> None:
    toolbar = plot.state.toolbar
    toolbar.logo = None
    for tool in toolbar.tools:
        if isinstance(tool, SaveTool):
            tool.filename = "explorer"  # or the browser asks for a name


#: For every plot: it fills its place, and its tools do not get in the way of a finger.
BASE = {
    "responsive": True,
    "default_tools": ["pan", "wheel_zoom", "box_zoom", "save", "reset"],
    "active_tools": [],
    "autohide_toolbar": True,
    "hooks": [_finish],
    "fontscale": 1.05,
}


class LivePlot(pn.pane.HoloViews):
    """An overlay of named layers whose numbers can be replaced."""

    priority = False  # not the pane that Panel shall make for anybody's HoloViews object

    def __init__(self, layers: dict[str, hv.Element] | None = None, *, height: int = 260, **options):
        # HoloViews makes a pane again from its parameters alone, without layers.
        if layers is None:
            super().__init__(**options)
            return
        self._names = list(layers)
        self._columns: dict[str, dict] = {}
        self._unsent: set[str] = set()
        self._ranges: dict[str, tuple[float, float]] = {}
        #: The limits last given to each range in the browser, by the range's id.
        self._given: dict[str, tuple[float, float]] = {}
        self._titles: dict[str, str] = {}
        own = {"min_height": height, "height": height, "hooks": [*BASE["hooks"], _painter(self)]}
        overlay = hv.Overlay(list(layers.values())).opts(**(BASE | own | options))
        super().__init__(overlay, sizing_mode="stretch_width", linked_axes=False, height=height)

    def paint(
        self,
        layers: dict[str, dict],
        x: tuple[float, float] | None = None,
        y: tuple[float, float] | None = None,
        color: tuple[float, float] | None = None,
        **titles: str,
    ) -> None:
        """New columns for some layers; new limits for x, y and colours; ``title=``, ``xlabel=`` or ``ylabel=``."""
        for name, columns in layers.items():
            if name not in self._columns or not _equal(columns, self._columns[name]):
                self._columns[name] = columns
                self._unsent.add(name)
        self._titles.update(titles)
        given = {"x_range": x, "y_range": y, "color_mapper": color}
        self._ranges.update({name: limits for name, limits in given.items() if limits is not None})

    def _send(self, plot, names: Iterable[str]) -> None:
        """Bring one place where the plot is shown up to date: its limits, its titles and these layers."""
        subplots = dict(zip(self._names, plot.subplots.values(), strict=True))
        for name in names:
            columns = self._columns[name]
            source = subplots[name].handles["source"]
            if set(columns) != set(source.data):
                raise KeyError(f"layer {name!r} has columns {set(source.data)}, got {set(columns)}")
            source.data = columns
        for name, (low, high) in self._ranges.items():
            if name == "color_mapper":
                for subplot in subplots.values():
                    if name in subplot.handles:
                        subplot.handles[name].update(low=low, high=high)
                continue
            reach = plot.handles[name]
            if self._given.get(reach.id) != (low, high):
                # Only if they are others than before: whoever has zoomed in stays there.
                reach.update(start=low, end=high, reset_start=low, reset_end=high)
                self._given[reach.id] = low, high
        figure = plot.state
        for name, text in self._titles.items():
            target = {"title": figure.title, "xlabel": figure.xaxis[0], "ylabel": figure.yaxis[0]}[name]
            target.update(**{"text" if name == "title" else "axis_label": text})

    @property
    def built(self) -> bool:
        """Whether the browser has laid it out, everywhere it is shown. (Inside a notebook it does not tell.)"""
        return all(plot.comm is not None or _inner_width(plot.state) > 0 for plot in shown_plots(self) or ())

    def _resend(self) -> None:
        """Bring all places up to date."""
        plots = shown_plots(self)
        if plots is None:
            self.param.trigger("object")  # slow: it is drawn anew, with what was painted
        for plot in plots or ():
            self._send(plot, self._unsent)
            plot.push()  # does something in a notebook only
        self._unsent.clear()


def _painter(pane: LivePlot) -> Callable:
    """A hook that paints what is known so far on each new plot of this pane."""
    known = weakref.ref(pane)  # HoloViews keeps options in a table for all, which must not keep a page

    def paint(plot, element) -> None:
        if (pane := known()) is not None:
            pane._send(plot, pane._columns)

    return paint


def _equal(columns: dict, others: dict) -> bool:
    """Whether two layers' columns show the same."""
    return columns.keys() == others.keys() and all(_same(column, others[name]) for name, column in columns.items())


def _same(one, other) -> bool:
    if isinstance(one, list) and isinstance(other, list):  # of lines that differ in length, perhaps
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, str):  # a colour
        return one == other
    return np.array_equal(one, other, equal_nan=True)


def _inner_width(figure) -> int:
    try:
        return figure.inner_width
    except UnsetValueError:
        return 0


def repaint(*plots: LivePlot) -> None:
    """Show what was painted, all in one message."""

    def send() -> None:
        with pn.io.hold():
            for plot in plots:
                plot._resend()

    pn.state.execute(send, schedule=True)


def legend(*entries: tuple[str, str, str]) -> str:
    """Colours, marks and words beside the plots, as HTML: drawn once and not with every change."""
    return " &emsp; ".join(
        f"<span style='white-space: nowrap'><b style='color: {color}'>{mark}</b> {text}</span>"
        for color, mark, text in entries
    )


def image(bounds: tuple[float, float, float, float], values: np.ndarray) -> dict:
    """The columns of an ``hv.Image``; rows from bottom to top."""
    left, bottom, right, top = bounds
    return {
        "image": [np.ascontiguousarray(values, dtype=np.float32)],
        "x": [left],
        "y": [bottom],
        "dw": [right - left],
        "dh": [top - bottom],
    }


def ribbon(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict:
    """The columns of an ``hv.Area`` between two curves."""
    return {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([low, high[::-1]])}
