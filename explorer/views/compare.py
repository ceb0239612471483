"""Compare: methods beside each other, for several privacy levels, each many times. The paper's Figure 3, alive."""

import html
from itertools import pairwise

import holoviews as hv
import numpy as np
import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from explorer.engine.information import best_ldp
from explorer.engine.population import family
from explorer.models.comparison import Comparison, series
from explorer.models.script import comparison_script
from explorer.studies.summary import summary
from explorer.views.controls import widget
from explorer.views.html_text import HtmlText
from explorer.views.live_plot import GREY, VERMILLION, LivePlot, legend, repaint
from explorer.views.session import at_end
from explorer.views.sortable_table import sortable_table
from explorer.views.view import code_button, csv_button, side_by_side, wrapped

#: Okabe and Ito's colours and their paler sisters, one for each combination of a method and a mechanism.
COLOURS = ("#2b8cd6", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8a8f98", "#b8a800")
#: All boxes of one ε together are so wide, on an axis on which ε doubles every 1.
_WIDTH = 0.55
_WORDS = {
    "idle": "Choose, and run. The population, n, N, the score and the seed are those of the sidebar.",
    "waiting": "Starting, or waiting for another visitor's comparison",
    "running": "Running",
    "done": "Done",
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


class Compare(pn.viewable.Viewer):
    """Box plots that fill in as replicates finish, RMSE over ε, and a table that sorts.

    >>> Compare(methods=["adaptive", "oracle"], n=200).model.experiment.n
    200
    """

    model = param.ClassSelector(class_=Comparison, doc="The Param object to script against.")
    active = param.Boolean(True, doc="Whether somebody looks.")

    def __init__(self, **params):
        own = {name: params.pop(name) for name in list(params) if name in self.param}
        own.setdefault("model", Comparison(**params))
        super().__init__(**own)
        self._mu, self._sigma, self._rmse = _boxes_plot("μ"), _boxes_plot("σ"), _rmse_plot()
        self._legend = HtmlText("", sizing_mode="stretch_width", margin=(0, 10))
        self._words = HtmlText(_WORDS["idle"], sizing_mode="stretch_width", margin=(8, 10))
        self._bar = pmui.LinearProgress(value=0, variant="determinate", sizing_mode="stretch_width", visible=False)
        self._alert = pmui.Alert("", severity="error", visible=False, sizing_mode="stretch_width")
        self._start = pmui.Button(label="Run", variant="contained", size="small", margin=5)
        self._stop = pmui.Button(label="Cancel", variant="outlined", size="small", margin=5, disabled=True)
        self._table = HtmlText("", sizing_mode="stretch_width", margin=(0, 10))
        self._start.on_click(self._run)
        self._stop.on_click(lambda event: self.model.cancel())
        self._main = self._build()
        self.model.param.watch(self._tell, ["status", "done", "total", "remaining", "error"])
        self.model.param.watch(self._show, "result")
        if self.model.result is not None:
            self._show()

    def _build(self):
        chosen = [widget(self.model.param[name]) for name in ("methods", "mechanisms", "epsilons", "replicates")]
        return pn.Column(
            side_by_side(*chosen, narrowest=250),
            wrapped(self._start, self._stop, self._words),
            self._bar,
            self._alert,
            self._legend,
            side_by_side(self._mu, self._sigma, self._rmse, narrowest=300),
            self._table,
            pmui.Typography(_EXPLAINED, variant="body2", sizing_mode="stretch_width", margin=(6, 10)),
            wrapped(
                code_button(self.model, lambda result: comparison_script(self.model)),
                csv_button("All runs as CSV", "comparison.csv", self.model, lambda table: table),
                csv_button("Table as CSV", "comparison_summary.csv", self.model, summary),
            ),
            sizing_mode="stretch_width",
        )

    @property
    def main(self):
        """The view without anything around it, for a page that has a sidebar."""
        return self._main

    @property
    def built(self) -> bool:
        """Whether the browser has laid out all plots."""
        return all(plot.built for plot in (self._mu, self._sigma, self._rmse))

    def recall(self) -> None:
        """Nothing is known before it is asked for."""

    def close(self) -> None:
        """Nobody looks any more."""
        self.model.close()

    def __panel__(self):
        if pn.state.curdoc is not None and pn.state.curdoc.session_context is not None:
            at_end(self.close)
        return self._main

    async def _run(self, event) -> None:
        await self.model.run()

    def _tell(self, *events) -> None:
        model = self.model
        running = model.status in ("waiting", "running")
        words = _WORDS[model.status]
        if model.total and model.status != "idle":
            words += f": {model.done} of {model.total} runs"
            words += "" if model.remaining is None else f", about {_duration(model.remaining)} left"
        with pn.io.hold():
            self._words.object = words + ("" if model.status == "idle" else ".")
            self._bar.param.update(value=round(100 * model.done / max(model.total, 1)), visible=running)
            self._alert.param.update(object=html.escape(model.error), visible=bool(model.error))
            self._start.disabled, self._stop.disabled = running, not running

    def _show(self, *events) -> None:
        table = self.model.result
        if table is None or not len(table):
            self._table.object = self._legend.object = ""
            return
        table = table.assign(series=table.apply(series(table), axis=1))
        found = summary(table)
        found["series"] = found.apply(series(table), axis=1)
        good = table[table["error"].isna()]
        if len(good):
            colours = dict(zip(dict.fromkeys(table["series"]), COLOURS, strict=False))
            self._legend.object = legend(*[(colour, "▮", html.escape(name)) for name, colour in colours.items()])
            for plot, name in ((self._mu, "mu"), (self._sigma, "sigma")):
                plot.paint(*_boxes(good, name, colours))
            self._rmse.paint(*_curves(found, colours))
            repaint(self._mu, self._sigma, self._rmse)
        rows = found.sort_values(["epsilon", "series"])[list(_COLUMNS)].itertuples(index=False)
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


def _boxes(good: pd.DataFrame, name: str, colours: dict[str, str]) -> tuple:
    """Quartiles, whiskers to the last value within one and a half boxes, and what lies beyond."""
    slot = _WIDTH / len(colours)
    boxes, whiskers, medians, far = [], [], [], []
    for (epsilon, one), rows in good.groupby(["epsilon", "series"]):
        values = rows[name].to_numpy()
        centre = _place(epsilon) + (list(colours).index(one) - (len(colours) - 1) / 2) * slot
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        reach = 1.5 * (high - low)
        near = (values >= low - reach) & (values <= high + reach)
        left, right = centre - 0.4 * slot, centre + 0.4 * slot
        boxes.append((left, low, right, high, colours[one]))
        whiskers += [(centre, values[near].min(), centre, low), (centre, high, centre, values[near].max())]
        medians.append((left, middle, right, middle))
        far += [(centre, value, colours[one]) for value in values[~near]]
    truth = float(good[f"true_{name}"].iloc[0])
    away = 1.1 * float(np.abs(good[name] - truth).max()) or 1.0
    ends = _ends(good)
    layers = {
        "truth": {"x": np.array(ends), "y": np.full(2, truth)},
        "whiskers": _columns(whiskers, "x0", "y0", "x1", "y1"),
        "boxes": _columns(boxes, "left", "bottom", "right", "top", "fill_color"),
        "medians": _columns(medians, "x0", "y0", "x1", "y1"),
        "far": _columns(far, "x", "y", "line_color"),
    }
    return layers, ends, (truth - away if name == "mu" else max(truth - away, 0.0), truth + away)


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


def _curves(found: pd.DataFrame, colours: dict[str, str]) -> tuple:
    lines, points = [], []
    found = found[found["mu_rmse"] > 0].sort_values("epsilon")
    for one, rows in found.groupby("series", sort=False):
        at = [(_place(epsilon), rmse) for epsilon, rmse in zip(rows["epsilon"], rows["mu_rmse"], strict=True)]
        points += [(*place, colours[one]) for place in at]
        lines += [(*start, *end, colours[one]) for start, end in pairwise(at)]
        # One standard error up and down.
        for (x, y), error in zip(at, rows["mu_rmse_error"].fillna(0), strict=True):
            lines.append((x, max(y - error, y / 10), x, y + error, colours[one]))
    limits = _limits(found)
    layers = {
        "limit": _columns(limits, "x", "y"),
        "lines": _columns(lines, "x0", "y0", "x1", "y1", "line_color"),
        "points": _columns(points, "x", "y", "fill_color"),
    }
    heights = [y for _, y, *_ in points + limits]
    return layers, _ends(found), (0.7 * min(heights), 1.4 * max(heights))


def _limits(found: pd.DataFrame) -> list[tuple[float, float]]:
    """σ/√(n F*), with the information F* of the best ε-LDP mechanism."""
    first = found.iloc[0]
    shape = {} if np.isnan(first["df"]) else {"df": first["df"]}
    population = family(first["family"], **shape)
    return [
        (_place(epsilon), first["true_sigma"] / np.sqrt(first["n"] * best_ldp(epsilon, family=population).value))
        for epsilon in sorted(found["epsilon"].unique())
    ]
