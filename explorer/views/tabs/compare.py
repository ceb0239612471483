"""Compare: methods beside each other, for several privacy levels, each many times. The paper's Figure 3, alive."""

import html
from itertools import pairwise

import holoviews as hv
import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.models.comparison import Compared, Comparison
from explorer.views.parts.controls import widget
from explorer.views.parts.downloads import code_button, csv_button
from explorer.views.parts.html_text import HtmlText
from explorer.views.parts.layout import side_by_side, wrapped
from explorer.views.parts.live_plot import GREY, VERMILLION, LivePlot, legend, repaint
from explorer.views.parts.sortable_table import sortable_table
from explorer.views.tabs.tab import ComputedTab

#: Okabe and Ito's colours and their paler sisters, one for each combination of a method and a mechanism.
COLOURS = ("#2b8cd6", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8a8f98", "#b8a800")
#: All boxes of one ε together are so wide, on an axis on which ε doubles every 1.
_WIDTH = 0.55
_WORDS = {
    "idle": "Choose, and run. The population, n, N, the score and the seed are those of the sidebar.",
    "waiting": "Starting, or waiting for another visitor's comparison",
    "preview": "Running",
    "ready": "Done",
    "cancelled": "Cancelled",
    "failed": "Failed",
}
#: The table's columns: their titles, and how their numbers are written.
_COLUMNS = {
    "series": ("method", "{}"),
    "epsilon": ("ε", "{:g}"),
    "mu_rmse": ("RMSE μ", "{:.3f}"),
    "mu_rmse_error": ("±", "{:.3f}"),
    "sigma_rmse": ("RMSE σ", "{:.3f}"),
    "sigma_rmse_error": ("±", "{:.3f}"),
    "mu_coverage": ("coverage μ", "{:.0%}"),
    "sigma_coverage": ("coverage σ", "{:.0%}"),
    "efficiency": ("efficiency", "{:.2f}"),
    "ess": ("draws", "{:.0f}"),
    "seconds": ("s a run", "{:.2f}"),
    "replicates": ("runs", "{}"),
    "failed": ("failed", "{}"),
}
_EXPLAINED = (
    "± is the Monte Carlo standard error of an RMSE; coverage is that of the 95 % intervals. Efficiency is "
    "n·Var(μ̂)·F*/σ², F* the information of the best ε-LDP mechanism: at 1 no ε-LDP method can do better, at 2 twice as "
    "many individuals are needed. Draws: what a run's particles, or the chain of a batch method, are worth."
)


class Compare(ComputedTab):
    """Box plots that fill in as replicates finish, RMSE over ε, and a table that sorts.

    >>> Compare(methods=["adaptive", "oracle"], n=200).model.experiment.n
    200
    """

    id, title = "compare", "Compare"
    address_keys = ("methods", "mechanisms", "epsilons", "replicates")
    model_class = Comparison

    def _build(self):
        model = self.model
        self._mu, self._sigma, self._rmse = _boxes_plot("μ"), _boxes_plot("σ"), _rmse_plot()
        self._legend = HtmlText("", sizing_mode="stretch_width", margin=(0, 10))
        self._words = HtmlText(_WORDS["idle"], sizing_mode="stretch_width", margin=(8, 10))
        self._bar = pmui.LinearProgress(value=0, variant="determinate", sizing_mode="stretch_width", visible=False)
        self._alert = pmui.Alert("", severity="error", visible=False, sizing_mode="stretch_width")
        self._start = pmui.Button(label="Run", variant="contained", size="small", margin=5)
        self._stop = pmui.Button(label="Cancel", variant="outlined", size="small", margin=5, disabled=True)
        self._table = HtmlText("", sizing_mode="stretch_width", margin=(0, 10))
        self._start.on_click(self._run)
        self._stop.on_click(lambda event: model.cancel())
        model.param.watch(self._tell, ["status", "done", "total", "remaining", "error"])
        return pn.Column(
            side_by_side(*[widget(model.param[name]) for name in self.address_keys], narrowest=250),
            wrapped(self._start, self._stop, self._words),
            self._bar,
            self._alert,
            self._legend,
            side_by_side(self._mu, self._sigma, self._rmse, narrowest=300),
            self._table,
            pmui.Typography(_EXPLAINED, variant="body2", sizing_mode="stretch_width", margin=(6, 10)),
            wrapped(
                code_button(model),
                csv_button("All runs as CSV", "comparison.csv", model),
                csv_button("Table as CSV", "comparison_summary.csv", model, lambda result: result.summary_table()),
            ),
            sizing_mode="stretch_width",
        )

    async def _run(self, event) -> None:
        await self.model.refresh()

    def _tell(self, *events) -> None:
        model = self.model
        running = model.status in ("waiting", "preview")
        words = _WORDS[model.status]
        if model.total and model.status != "idle":
            words += f": {model.done} of {model.total} runs"
            words += "" if model.remaining is None else f", about {_duration(model.remaining)} left"
        with pn.io.hold():
            self._words.object = words + ("" if model.status == "idle" else ".")
            self._bar.param.update(value=round(100 * model.done / max(model.total, 1)), visible=running)
            self._alert.param.update(object=html.escape(model.error), visible=bool(model.error))
            self._start.disabled, self._stop.disabled = running, not running

    def _on_result(self, *events) -> None:
        if self.model.result is None or not self.model.result.done:
            self._table.object = self._legend.object = ""
        else:
            self._show(self.model.result)

    def _show(self, found: Compared) -> None:
        if len(found.good):
            colours = dict(zip(found.series, COLOURS, strict=False))
            self._legend.object = legend(*[(colour, "▮", html.escape(name)) for name, colour in colours.items()])
            for plot, name in ((self._mu, "mu"), (self._sigma, "sigma")):
                plot.paint(*_boxes(found, name, colours))
            self._rmse.paint(*_curves(found, colours))
            repaint(self._mu, self._sigma, self._rmse)
        rows = found.summary[list(_COLUMNS)].itertuples(index=False)
        self._table.object = sortable_table(list(_COLUMNS.values()), rows)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _place(epsilon: float) -> float:
    """Where on the axis; ticks are at the levels that can be chosen."""
    return float(np.log2(epsilon))


_TICKS = [(_place(epsilon), f"{epsilon:g}") for epsilon in Comparison.param.epsilons.objects]
#: Two, of different colours: HoloViews makes a column of colours only then.
_PAIR = (COLOURS[0], COLOURS[1])


def _boxes_plot(symbol: str) -> LivePlot:
    colour = hv.dim("colour")
    return LivePlot(
        {
            "truth": hv.Curve([(0.0, 0.0), (1.0, 0.0)], "x", "y").opts(color=VERMILLION, line_dash="dashed"),
            "whiskers": hv.Segments([(0.0, 0.0, 0.0, 0.0)], ["x0", "y0", "x1", "y1"]).opts(color=GREY, line_width=1.5),
            "boxes": hv.Rectangles([(0.0, 0.0, 0.0, 0.0, one) for one in _PAIR], vdims="colour").opts(
                fill_color=colour, fill_alpha=0.55, line_color=GREY
            ),
            "medians": hv.Segments([(0.0, 0.0, 0.0, 0.0)], ["x0", "y0", "x1", "y1"]).opts(color="black", line_width=2),
            "far": hv.Points([(0.0, 0.0, one) for one in _PAIR], vdims="colour").opts(
                line_color=colour, fill_color=None, size=6
            ),
        },
        title=f"Posterior means of {symbol}, truth dashed",
        xlabel="ε",
        ylabel=symbol,
        xticks=_TICKS,
        height=300,
    )


def _boxes(found: Compared, name: str, colours: dict[str, str]) -> tuple:
    """The layers of a box plot, and the limits of its axes."""
    slot = _WIDTH / len(colours)
    boxes, whiskers, medians, far = [], [], [], []
    for box in found.boxes[name]:
        centre = _place(box.epsilon) + (list(colours).index(box.series) - (len(colours) - 1) / 2) * slot
        left, right, colour = centre - 0.4 * slot, centre + 0.4 * slot, colours[box.series]
        boxes.append((left, box.low, right, box.high, colour))
        whiskers += [(centre, box.whiskers[0], centre, box.low), (centre, box.high, centre, box.whiskers[1])]
        medians.append((left, box.middle, right, box.middle))
        far += [(centre, value, colour) for value in box.far]
    ends = _ends(found.good)
    layers = {
        "truth": {"x": np.array(ends), "y": np.full(2, found.truth(name))},
        "whiskers": _columns(whiskers, "x0", "y0", "x1", "y1"),
        "boxes": _columns(boxes, "left", "bottom", "right", "top", "fill_color"),
        "medians": _columns(medians, "x0", "y0", "x1", "y1"),
        "far": _columns(far, "x", "y", "line_color"),
    }
    return layers, ends, found.window(name)


def _ends(table: pd.DataFrame) -> tuple[float, float]:
    return _place(table["epsilon"].min()) - 0.5, _place(table["epsilon"].max()) + 0.5


def _columns(rows: list[tuple], *names: str) -> dict:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return {
        name: list(column) if name.endswith("color") else np.array(column, dtype=float)
        for name, column in zip(names, columns, strict=True)
    }


def _rmse_plot() -> LivePlot:
    colour = hv.dim("colour")
    return LivePlot(
        {
            "limit": hv.Curve([(0.0, 1.0), (1.0, 1.0)], "x", "y").opts(color=GREY, line_dash="dashed"),
            "lines": hv.Segments([(0.0, 1.0, 0.0, 1.0, one) for one in _PAIR], ["x0", "y0", "x1", "y1"], "colour").opts(
                line_color=colour, line_width=2
            ),
            "points": hv.Points([(0.0, 1.0, one) for one in _PAIR], vdims="colour").opts(
                fill_color=colour, line_color=None, size=8
            ),
        },
        title="RMSE of μ; dashed: the best ε-LDP limit",
        xlabel="ε",
        ylabel="RMSE of μ",
        xticks=_TICKS,
        logy=True,
        ylim=(0.01, 10),
        height=300,
    )


def _curves(found: Compared, colours: dict[str, str]) -> tuple:
    """The layers of the RMSE plot, and the limits of its axes."""
    lines, points = [], []
    summary = found.summary[found.summary["mu_rmse"] > 0].sort_values("epsilon")
    for one, rows in summary.groupby("series", sort=False):
        at = [(_place(epsilon), rmse) for epsilon, rmse in zip(rows["epsilon"], rows["mu_rmse"], strict=True)]
        points += [(*place, colours[one]) for place in at]
        lines += [(*start, *end, colours[one]) for start, end in pairwise(at)]
        # One standard error up and down.
        for (x, y), error in zip(at, rows["mu_rmse_error"].fillna(0), strict=True):
            lines.append((x, max(y - error, y / 10), x, y + error, colours[one]))
    limits = [(_place(epsilon), limit) for epsilon, limit in found.limits]
    layers = {
        "limit": _columns(limits, "x", "y"),
        "lines": _columns(lines, "x0", "y0", "x1", "y1", "line_color"),
        "points": _columns(points, "x", "y", "fill_color"),
    }
    heights = [y for _, y, *_ in points + limits]
    return layers, _ends(summary), (0.7 * min(heights), 1.4 * max(heights))
