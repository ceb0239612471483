"""The Fisher map: a heatmap of the score over (a, b) that follows its controls.

``FisherMap()`` as the last line of a notebook cell shows the controls beside the map; ``.model`` is the
Param object behind it.
"""

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from explorer.models.fisher.epsilon_curve import EPSILONS, Curve, EpsilonCurve
from explorer.models.fisher.monte_carlo import EstimatedSlice, MonteCarlo
from explorer.models.fisher.surface import FisherResult, FisherSurface
from explorer.views.parts.controls import widget
from explorer.views.parts.downloads import code_button, csv_button
from explorer.views.parts.layout import side_by_side, wrapped
from explorer.views.parts.live_plot import BLUE, GREY, ORANGE, PURPLE, VERMILLION, LivePlot, image, legend, repaint
from explorer.views.parts.status import Status
from explorer.views.tabs.tab import ComputedTab

LABELS = {
    "mu": "F[μ,μ]",
    "sigma": "F[σ,σ]",
    "trace": "F[μ,μ] + F[σ,σ]",
    "det": "det F",
    "mu|sigma": "F[μ,μ] − F[μ,σ]²/F[σ,σ]",
}


_LEGEND = legend((GREY, "☆", "best interval"), (VERMILLION, "◆", "interval by hand: tap the map to choose one"))


class FisherMap(ComputedTab):
    """Heatmap of the score with the best interval marked; tap it to use that interval.

    >>> FisherMap(epsilon=2, score="trace").model.experiment.score
    'trace'
    """

    id, title = "fisher", "Fisher map"
    model_class = FisherSurface

    def _build(self):
        experiment = self.model.experiment
        self.curve = EpsilonCurve(experiment=experiment)
        self.monte_carlo = MonteCarlo(experiment=experiment)
        self._map = _map_plot()
        self._ends, self._information, self._slice = _ends_plot(), _information_plot(), _slice_plot()
        self._tap = hv.streams.Tap(source=self._map.object.get(0), x=None, y=None)
        self._tap.add_subscriber(self._on_tap)
        experiment.param.watch(self._show_hand, ["manual", "interval"])
        self._show_hand()
        self.curve.param.watch(lambda event: self._show_curve(event.new), "result")
        self.curve.on_change(self._refresh_more)
        self.monte_carlo.param.watch(lambda event: self._show_slice(event.new), "result")
        run = pmui.Button(label="Run the paper's Monte Carlo", variant="outlined", size="small", margin=(10, 5))
        run.on_click(self._run_monte_carlo)
        heading = {"variant": "h6", "margin": (14, 10, 0, 10)}
        return pn.Column(
            self.status,
            pn.pane.HTML(_LEGEND, margin=(0, 10)),
            side_by_side(self._map, pn.Column(self._ends, self._information)),
            wrapped(
                code_button(self.model),
                csv_button("Map as CSV", "fisher_map.csv", self.model),
                csv_button("Curve as CSV", "best_intervals.csv", self.curve),
            ),
            pmui.Typography("Exact, beside the paper's Monte Carlo, along [−h, h]", **heading),
            self._slice,
            side_by_side(widget(self.monte_carlo.param.answers), widget(self.monte_carlo.param.samples), narrowest=200),
            run,
            Status(self.monte_carlo),
            sizing_mode="stretch_width",
        )

    async def _on_active(self, *events):
        await super()._on_active()
        if self.curve.result is None:
            await self._refresh_more()

    def recall(self):
        super().recall()
        self.curve.recall()

    def start(self):
        super().start()
        if self.model.result is not None and self.curve.result is None:
            self.curve.compute()

    def close(self):
        for model in (self.model, self.curve, self.monte_carlo):
            model.close()

    async def _refresh_more(self, *events) -> None:
        """The curve over ε takes seconds: only for settings that are new to it, and only while somebody looks."""
        if self.active:
            await self.curve.refresh()

    def _on_tap(self, x, y) -> None:
        if x is None or y is None or not x < y:
            return
        self.model.experiment.param.update(manual=True, interval=(round(float(x), 3), round(float(y), 3)))

    def _show(self, result: FisherResult) -> None:
        surface, best = result.surface, result.best
        low, high = result.edges
        self._map.paint(
            {
                "score": image((low, low, high, high), surface.values.T),
                "best": {"a": [] if best is None else [best.a], "b": [] if best is None else [best.b]},
            },
            x=(low, high),
            y=(low, high),
            color=(0.0, result.top),
            # Without ε: a new title makes the browser arrange the figure anew, a quarter of the work of a picture.
            title=f"{LABELS[result.settings['score']]} of one answer, {result.settings['mechanism']}",
        )
        if not result.exact:
            repaint(self._map)
            return
        self._information.paint(
            {"now": {"epsilon": [result.settings["epsilon"]], "information": [best.value if best else 0.0]}}
        )
        self._paint_exact_slice(result)
        self.status.say(_sentence(result))
        repaint(self._map, self._information, self._slice)

    def _show_hand(self, *events) -> None:
        now = self.model.experiment
        a, b = now.interval if now.manual else (np.nan, np.nan)
        self._map.paint({"hand": {"a": [a], "b": [b]}})
        repaint(self._map)

    def _show_curve(self, curve: Curve) -> None:
        reach = float(np.nanmax(np.abs([curve.a, curve.b]), initial=0.1))
        self._ends.paint(
            {end: {"epsilon": curve.epsilon, "end": getattr(curve, end)} for end in ("a", "b")},
            y=(-1.15 * reach, 1.15 * reach),
        )
        self._information.paint(
            {
                "best": {"epsilon": curve.epsilon, "information": curve.information},
                "limit": {"epsilon": EPSILONS[[0, -1]], "information": np.full(2, curve.limit)},
            },
            y=(0.0, 1.08 * curve.limit),
            ylabel=LABELS[curve.settings["score"]],
        )
        repaint(self._ends, self._information)

    def _paint_exact_slice(self, result: FisherResult) -> None:
        half, exact = result.half, result.half_score
        self._slice.paint(
            {
                "exact": {"h": half, "score": exact},
                "estimate": {"h": [], "score": []},
                "bars": {"x0": [], "y0": [], "x1": [], "y1": []},
            },
            x=(0.0, float(half[-1]) * 1.03),
            y=(0.0, 1.25 * max(float(exact.max()), 1e-12)),
            ylabel=LABELS[result.settings["score"]],
        )

    async def _run_monte_carlo(self, event) -> None:
        await self.monte_carlo.refresh()

    def _show_slice(self, found: EstimatedSlice) -> None:
        h, low, high = (
            found.half_estimated,
            found.estimate - 2 * found.standard_error,
            found.estimate + 2 * found.standard_error,
        )
        top = max(float(found.exact.max()), float(high.max()), 1e-12)
        self._slice.paint(
            {
                "estimate": {"h": h, "score": found.estimate},
                "bars": {"x0": h, "y0": low, "x1": h, "y1": high},
            },
            y=(0.0, 1.1 * top),
        )
        repaint(self._slice)


def _sentence(result: FisherResult) -> str:
    best, now = result.best, f"ε = {result.settings['epsilon']:g}"
    if best is None:
        return f"{now}: this score is 0 for every interval, one yes-or-no answer cannot tell two numbers apart."
    where = " (outside the map)" if result.outside else ""
    label = LABELS[result.settings["score"]]
    return f"{now}: best interval [{best.a:.4g}, {best.b:.4g}]{where}, {label} = {best.value:.4g}"


def _map_plot() -> LivePlot:
    empty = np.zeros((2, 2), dtype=np.float32)
    points = {"line_color": "black", "fill_color": "white", "size": 17, "apply_ranges": False}
    score = hv.Dimension("score", label="score")
    layers = {
        "score": hv.Image(empty, ["a", "b"], score, bounds=(-3, -3, 3, 3)).opts(
            cmap="viridis", colorbar=True, clim=(0, 1), tools=["hover", "tap"], clabel=" "
        ),
        "best": hv.Points([(0.0, 0.0)], ["a", "b"]).opts(marker="star", **points),
        "hand": hv.Points([(np.nan, np.nan)], ["a", "b"]).opts(
            marker="diamond", **(points | {"fill_color": VERMILLION, "size": 13})
        ),
    }
    return LivePlot(
        layers,
        height=430,
        title="Fisher information of one answer",
        xlabel="a: left end, in σ from μ",
        ylabel="b: right end, in σ from μ",
        show_legend=False,
        xlim=(-3, 3),
        ylim=(-3, 3),
    )


_OVER_EPSILON = {
    "height": 215,
    "logx": True,
    "xlabel": "ε",
    "xlim": (0.09, 11),
    "ylim": (0, 1),
    "legend_position": "top_left",
}


def _ends_plot() -> LivePlot:
    def line(name, color):
        return hv.Curve([(1.0, 0.0)], "epsilon", "end", label=name).opts(color=color, line_width=2, tools=["hover"])

    layers = {"a": line("a", BLUE), "b": line("b", ORANGE)}
    return LivePlot(layers, title="The best interval as ε grows", ylabel="ends, in σ from μ", **_OVER_EPSILON)


def _information_plot() -> LivePlot:
    def line(name, **options):
        return hv.Curve([(1.0, 0.0)], "epsilon", "information", label=name).opts(**options)

    layers = {
        "best": line("best interval", color=BLUE, line_width=2, tools=["hover"]),
        "limit": line("without privacy", color=GREY, line_dash="dashed"),
        "now": hv.Points([(1.0, 0.0)], ["epsilon", "information"], label="now").opts(
            marker="star", size=14, fill_color=VERMILLION, line_color="black"
        ),
    }
    return LivePlot(layers, title="What one answer then tells", ylabel="score", **_OVER_EPSILON)


def _slice_plot() -> LivePlot:
    layers = {
        "exact": hv.Curve([(0.0, 0.0)], "h", "score", label="exact").opts(color=BLUE, line_width=2, tools=["hover"]),
        "bars": hv.Segments([(0.0, 0.0, 0.0, 0.0)], ["x0", "y0", "x1", "y1"]).opts(color=PURPLE, line_width=2),
        "estimate": hv.Points([(0.0, 0.0)], ["h", "score"], label="Monte Carlo ± 2 s.e.").opts(color=PURPLE, size=7),
    }
    return LivePlot(
        layers,
        height=240,
        xlabel="h: half the width, in σ",
        ylabel="score",
        xlim=(0, 3),
        ylim=(0, 1),
        legend_position="top_right",
    )
