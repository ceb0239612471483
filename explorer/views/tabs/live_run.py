"""The live run: the paper's Figure 2 under one's fingers.

``LiveRun()`` as the last line of a notebook cell shows the working app; ``.model`` is the Param object behind it.
"""

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from explorer.models.exact_posterior import SHARES, JointPicture
from explorer.models.live_run import LiveSimulation, Run, Runs, efficiency
from explorer.views.parts.downloads import code_button, csv_button
from explorer.views.parts.layout import in_pairs, wrapped
from explorer.views.parts.live_plot import (
    BLUE,
    FADING_BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    VERMILLION,
    LivePlot,
    image,
    legend,
    repaint,
    ribbon,
)
from explorer.views.tabs.tab import ComputedTab

_COLUMNS = ("mu", "sigma")
_SYMBOLS = {"mu": "μ", "sigma": "σ"}
#: One legend for all four clouds, outside of them.
_LEGEND = legend(
    (BLUE, "▮", "particles"),
    (ORANGE, "▮", "interval [l, r]"),
    (PURPLE, "━", "posterior mean"),
    (VERMILLION, "╍", "truth"),
)
#: Maximum number of points per curve.
_MOST_POINTS = 800


class LiveRun(ComputedTab):
    """Clouds of particles over time, adaptive beside non-adaptive; the cloud at one moment; how well it does.

    >>> view = LiveRun(epsilon=5, n=100, particles=100)
    >>> len(view.model.compute().adaptive.trace)
    100
    """

    id, title = "run", "Live run"
    model_class = LiveSimulation

    def _build(self):
        experiment = self.model.experiment
        self.moment = self.model.moment
        self._clouds = {(name, kind): _cloud_plot(name, kind) for name in _COLUMNS for kind in ("adaptive", "fixed")}
        self._joint, self._error, self._width, self._ess = _joint_plot(), _error_plot(), _width_plot(), _ess_plot()
        self._player = pmui.Player(
            start=1,
            end=experiment.n,
            value=experiment.n,
            step=max(experiment.n // 100, 1),
            interval=80,
            loop_policy="once",
            show_loop_controls=False,
            label="t: individuals so far",
            show_value=True,
            width=None,
            sizing_mode="stretch_width",
        )
        self._player.param.watch(self._on_time, "value")
        self.moment.param.watch(lambda event: self._show_joint(event.new), "result")
        return pn.Column(
            self.status,
            pn.pane.HTML(_LEGEND, margin=(0, 10)),
            *in_pairs(*self._clouds.values()),
            self._player,
            *in_pairs(self._joint, self._error, self._width, self._ess),
            wrapped(
                code_button(self.model),
                csv_button("Run as CSV", "run.csv", self.model),
                csv_button("Particles as CSV", "particles.csv", self.moment),
            ),
            sizing_mode="stretch_width",
        )

    def _show(self, runs: Runs) -> None:
        if runs.preview:
            self._paint_clouds(runs)
            repaint(*self._clouds.values())
            return
        n = len(runs.adaptive.trace)
        with pn.io.hold():
            if (n, self.moment.t) != (self._player.end, self._player.value):
                self._player.param.update(end=n, value=self.moment.t, step=max(n // 100, 1))
            self.status.say(_sentence(runs))
        self._paint_clouds(runs)
        self._paint_details(runs)
        repaint(*self._clouds.values(), self._error, self._width, self._ess)

    async def _on_time(self, event) -> None:
        if self.model.result is None:
            return
        for plot in self._clouds.values():
            if not plot.blank:
                plot.paint(self._now(self.model.result, plot.shown))
        repaint(*self._clouds.values())
        self.moment.t = event.new
        await self.moment.refresh()

    def _now(self, runs: Runs, name: str) -> dict:
        low, high = runs.window[_COLUMNS.index(name)]
        t, n = float(self._player.value), float(len(runs.adaptive.trace))
        return {
            "now": {"t": np.array([t, t]), name: np.array([low, high])},
            "future": ribbon(np.array([t, n]), np.full(2, low), np.full(2, high)),
        }

    def _paint_clouds(self, runs: Runs) -> None:
        for (name, kind), plot in self._clouds.items():
            run = getattr(runs, kind)
            waiting = runs.preview and run is None
            layers = {}
            if run is not None:
                layers = _run_layers(runs, run, name) | self._now(runs, name)
            elif not plot.blank:
                layers = _empty_layers(name)
            plot.blank = run is None
            what = "adaptive" if kind == "adaptive" else "fixed μ ± 10σ"
            if run is None:
                what += ": computing …" if waiting else ": off"
            elif runs.preview:
                size = run.trace.weights.shape[1]
                what += f" (preview with {size} particles)" if size < runs.settings["particles"] else ""
            plot.paint(
                layers,
                x=(0.0, float(len(runs.adaptive.trace))),
                y=runs.window[_COLUMNS.index(name)],
                title=f"{_SYMBOLS[name]}, {what}",
            )

    def _paint_details(self, runs: Runs) -> None:
        trace, truth = runs.adaptive.trace, runs.settings["mu"]
        shown = _decimated(len(trace))
        t = shown + 1
        layers = {"limit": {"t": t, "error": runs.adaptive.limit[shown]}}
        lines = [("adaptive", runs.adaptive), ("fixed", runs.fixed)]
        for name, run in lines:
            values = np.full(t.size, np.nan) if run is None else np.abs(run.trace.mean[shown, 0] - truth)
            layers[name] = {"t": t, "error": np.maximum(values, 1e-9)}
        limits = runs.adaptive.limit
        sigma = runs.settings["sigma"]
        self._error.paint(layers, x=(1.0, float(len(trace))), y=(0.02 * float(limits[-1]), 100 * sigma))
        width = trace.right - trace.left
        best = (runs.interval[1] - runs.interval[0]) * sigma
        high = 1.5 * max(best, float(np.quantile(width, 0.97)))
        self._width.paint(
            {
                "width": {"t": t, "width": width[shown]},
                "best": {"t": np.array([1.0, len(trace)]), "width": np.full(2, best)},
            },
            x=(0.0, float(len(trace))),
            y=(0.0, high),
        )
        layers = {}
        for name, run in lines:
            layers[name] = {"t": t, "ess": np.full(t.size, np.nan) if run is None else run.trace.ess[shown]}
        top = max(float(run.trace.ess.max()) for _, run in lines if run is not None)
        self._ess.paint(layers, x=(0.0, float(len(trace))), y=(0.0, 1.08 * top))

    def _show_joint(self, picture: JointPicture) -> None:
        mu, sigma = picture.window
        truth = picture.settings
        layers = {
            "particles": {"mu": picture.particles[:, 0], "sigma": picture.particles[:, 1]},
            "truth": {"mu": [truth["mu"]], "sigma": [truth["sigma"]]},
        }
        for share, lines in zip(SHARES, picture.contours, strict=True):
            layers[f"{share:g}"] = {"xs": [line[:, 0] for line in lines], "ys": [line[:, 1] for line in lines]}
        words = "exact posterior: 50 % and 95 %" if picture.exact else "contours: computing …"
        self._joint.paint(layers, x=mu, y=sigma, title=f"(μ, σ) after t = {picture.t}; {words}")
        repaint(self._joint)


def _decimated(n: int) -> np.ndarray:
    return np.unique(np.linspace(0, n - 1, min(n, _MOST_POINTS)).astype(int))


def _run_layers(runs: Runs, run: Run, name: str) -> dict:
    column, trace = _COLUMNS.index(name), run.trace
    n, shown = len(trace), _decimated(len(trace))
    low, high = runs.window[column]
    t = shown + 1.0
    truth = runs.settings[name]
    layers = {
        "cloud": image((0, low, n, high), getattr(run, f"{name}_cloud")),
        "mean": {"t": t, name: trace.mean[shown, column]},
        "truth": {"t": np.array([0.0, n]), name: np.full(2, truth)},
    }
    if name == "mu":
        inside = np.clip(np.stack([trace.left[shown], trace.right[shown]]), low, high)
        layers["interval"] = ribbon(t, *inside)
    return layers


def _empty_layers(name: str) -> dict:
    nothing = {"t": np.array([np.nan]), name: np.array([np.nan])}
    layers = {"cloud": image((0, 0, 1, 1), np.full((2, 2), np.nan)), "mean": nothing, "truth": nothing}
    layers |= {"now": nothing, "future": {"x": [np.nan], "y": [np.nan]}}
    return layers | ({"interval": {"x": [np.nan], "y": [np.nan]}} if name == "mu" else {})


def _sentence(runs: Runs) -> str:
    trace, (a, b) = runs.adaptive.trace, runs.interval
    (low, middle, high) = (trace.quantiles[-1, k, 0] for k in range(3))
    hand = ", by hand" if runs.settings["best"] is not None else ""
    return (
        f"After {len(trace)} answers: μ = {middle:.4g} (95 %: {low:.4g} to {high:.4g}); "
        f"intervals m + [{a:.3g}, {b:.3g}]·c{hand}; "
        f"one answer is worth {efficiency(runs):.1%} of one without privacy. N = {len(trace.weights[-1])}."
    )


def _curve(x: str, y: str, label: str, **options) -> hv.Curve:
    return hv.Curve([(1.0, 1.0)], x, y, label=label).opts(**({"line_width": 1.5} | options))


class _CloudPlot(LivePlot):
    """Remembers whether it shows mu or sigma, and whether it is empty."""

    shown = "mu"
    blank = False


def _cloud_plot(name: str, kind: str) -> LivePlot:
    area = [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0)]
    layers = {}
    if name == "mu":
        layers["interval"] = hv.Area(area, "t", ["mu", "top"], label="interval [l, r]").opts(
            color=ORANGE, alpha=0.35, line_width=0
        )
    layers |= {
        "cloud": hv.Image(np.zeros((2, 2)), ["t", name], "share", bounds=(0, 0, 1, 1)).opts(
            cmap=FADING_BLUE, clim=(0, 1)
        ),
        "mean": _curve("t", name, "posterior mean", color=PURPLE),
        "truth": _curve("t", name, "truth", color=VERMILLION, line_dash="dashed", line_width=2),
        "future": hv.Area(area, "t", [name, "top"]).opts(color=GREY, alpha=0.35, line_width=0),
        "now": _curve("t", name, "", color=GREY),
    }
    plot = _CloudPlot(
        layers,
        height=205,
        title=f"{_SYMBOLS[name]}, {kind}",
        xlabel="t",
        ylabel=_SYMBOLS[name],
        xlim=(0, 1),
        ylim=(0, 1),
        show_legend=False,
    )
    plot.shown = name
    return plot


def _joint_plot() -> LivePlot:
    def contour(label, **options):
        return hv.Path([[(0.0, 0.0), (0.0, 0.0)]], ["mu", "sigma"], label=label).opts(line_width=2, **options)

    layers = {
        "particles": hv.Points([(0.0, 0.0)], ["mu", "sigma"], label="particles").opts(
            color=BLUE, size=4, alpha=0.35, line_color=None
        ),
        "0.5": contour("exact 50 %", color=ORANGE),
        "0.95": contour("exact 95 %", color=GREEN),
        "truth": hv.Points([(0.0, 0.0)], ["mu", "sigma"], label="truth").opts(
            marker="star", size=16, fill_color=VERMILLION, line_color="black"
        ),
    }
    limits = {"xlim": (0, 1), "ylim": (0, 1)}
    return LivePlot(layers, height=290, title="(μ, σ)", xlabel="μ", ylabel="σ", legend_position="top_right", **limits)


def _error_plot() -> LivePlot:
    layers = {
        "adaptive": _curve("t", "error", "adaptive", color=BLUE),
        "fixed": _curve("t", "error", "fixed", color=ORANGE),
        "limit": _curve("t", "error", "Cramér–Rao limit", color=VERMILLION, line_dash="dashed", line_width=2),
    }
    return LivePlot(
        layers,
        height=290,
        title="Error of μ against the Cramér–Rao limit",
        xlabel="t",
        ylabel="|posterior mean − μ|",
        logx=True,
        logy=True,
        xlim=(1, 1000),
        ylim=(0.01, 100),
        legend_position="bottom_left",
    )


def _width_plot() -> LivePlot:
    layers = {
        "width": _curve("t", "width", "r − l", color=BLUE),
        "best": _curve("t", "width", "best for the truth", color=VERMILLION, line_dash="dashed", line_width=2),
    }
    options = {"xlabel": "t", "ylabel": "r − l", "xlim": (0, 1), "ylim": (0, 1)}
    return LivePlot(layers, height=220, title="Width of the interval", legend_position="top_right", **options)


def _ess_plot() -> LivePlot:
    layers = {
        "adaptive": _curve("t", "ess", "adaptive", color=BLUE),
        "fixed": _curve("t", "ess", "fixed", color=ORANGE),
    }
    options = {"xlabel": "t", "ylabel": "particles", "xlim": (0, 1), "ylim": (0, 1)}
    return LivePlot(layers, height=220, title="Effective sample size", legend_position="bottom_right", **options)
