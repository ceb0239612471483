"""The mechanism: where the clip and the noise come from, and why an answer gives so little away."""

import html

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from explorer.engine.mechanisms import MECHANISMS
from explorer.models.auditing import Auditing
from explorer.models.mechanism_densities import MechanismDensities, MechanismPicture
from explorer.views.parts.controls import SpanSlider, widget
from explorer.views.parts.downloads import code_button, csv_button
from explorer.views.parts.html_text import HtmlText
from explorer.views.parts.layout import side_by_side, wrapped
from explorer.views.parts.live_plot import BLUE, GREY, ORANGE, PURPLE, VERMILLION, LivePlot, legend, repaint
from explorer.views.parts.status import Status
from explorer.views.tabs.tab import ComputedTab

#: Of the density, outside of it: on a phone it would cover the curve.
_LEGEND = legend((BLUE, "━", "density of Y"), (ORANGE, "▮", "share clipped to l, to r"), (GREY, "┊", "l, r"))
_AUDIT = (
    "Answers are drawn for several values; an event that tells two of them apart is looked for in one "
    "half and measured in the other. The real ε lies above the bound with 99.9 % confidence. For the mechanisms here, "
    "the largest log-ratio of the densities is also computed exactly. Asked for is [μ − σ, μ + σ]."
)

#: Half the width of a bar, and the room beside the outer ones, in units of the distance between two answers.
_BAR, _GAP = 0.15, 0.5


class MechanismView(ComputedTab):
    """Density of an answer, what two neighbours look like, and the privacy loss with its bound.

    >>> MechanismView(epsilon=2, manual=True, interval=(-1, 1)).model.compute().epsilon
    2.0
    """

    id, title = "mechanism", "Mechanism"
    address_keys = ("first", "second")
    model_class = MechanismDensities

    def _build(self):
        experiment = self.model.experiment
        self._density, self._neighbours, self._loss = _density_plot(), _neighbours_plot(), _loss_plot()
        self._ends = SpanSlider(
            start=-3,
            end=3,
            step=0.01,
            value=experiment.interval,
            label="(a, b) by hand, in σ from μ",
            description=experiment.param.interval.doc,
            sizing_mode="stretch_width",
        )
        self._ends.param.watch(self._by_hand, "value")
        experiment.param.watch(self._show_ends, "interval")
        self._show_ends()
        self.auditing = Auditing(experiment=experiment)
        self.auditing.param.watch(self._show_report, "result")
        self._report = HtmlText("", sizing_mode="stretch_width", margin=(0, 10))
        audit = pmui.Button(label="Audit", variant="outlined", size="small", margin=(10, 5))
        audit.on_click(self._run_audit)
        return pn.Column(
            self.status,
            side_by_side(self._ends, widget(self.model.param.first), widget(self.model.param.second), narrowest=250),
            pn.pane.HTML(_LEGEND, margin=(0, 10)),
            self._density,
            side_by_side(self._neighbours, self._loss),
            wrapped(
                code_button(self.model),
                csv_button("As CSV", "mechanism.csv", self.model),
            ),
            pmui.Typography("Take nobody’s word for ε: audit it", variant="h6", margin=(14, 10, 0, 10)),
            pmui.Typography(_AUDIT, variant="body2", sizing_mode="stretch_width", margin=(4, 10)),
            side_by_side(widget(self.auditing.param.trials), widget(self.auditing.param.as_coded), narrowest=200),
            audit,
            Status(self.auditing),
            self._report,
            sizing_mode="stretch_width",
        )

    def close(self):
        super().close()
        self.auditing.close()

    async def _run_audit(self, event) -> None:
        await self.auditing.refresh()

    def _show_report(self, event) -> None:
        self._report.object = f"<pre style='white-space: pre-wrap'>{html.escape(str(event.new))}</pre>"

    def _by_hand(self, event) -> None:
        """Whoever drags the ends means them."""
        if event.new != self.model.experiment.interval:
            self.model.experiment.param.update(manual=True, interval=event.new)

    def _show_ends(self, *events) -> None:
        a, b = self.model.experiment.interval
        self._ends.param.update(start=min(-3.0, a), end=max(3.0, b), value=(a, b))

    def _show(self, picture: MechanismPicture) -> None:
        y, (left, right) = picture.y, picture.interval
        spread, places = (float(y[0]), float(y[-1])), (left, right)
        if picture.discrete:  # bars, of which the first and the last stand where the clipped people would
            spread, places = (float(y[0]) - _GAP * _step(y), float(y[-1]) + _GAP * _step(y)), spread
        atoms = np.array(picture.atoms)
        top = 1.12 * float(picture.density.max())
        what = "probability" if picture.discrete else "density"
        self._density.paint(
            {
                "density": _stairs(picture, picture.density, "y", "density"),
                "ends": {"x0": places, "y0": np.zeros(2), "x1": places, "y1": np.full(2, top)},
                # The atoms are probabilities, the curve a density: drawn as a share of the plot's height.
                "atoms": {"x0": places, "y0": np.zeros(2), "x1": places, "y1": atoms * top},
            },
            x=spread,
            y=(0.0, top),
            title=f"Density of the answer Y; {atoms[0]:.1%} of the people are clipped to l, {atoms[1]:.1%} to r",
            ylabel=f"{what} of y",
        )
        self._neighbours.paint(
            {
                name: _stairs(picture, given, "y", "density")
                for name, given in zip(("first", "second"), picture.given, strict=True)
            },
            x=spread,
            y=(0.0, 1.12 * float(max(given.max() for given in picture.given))),
            title=f"Two neighbours, x = {picture.values[0]:.4g} and x' = {picture.values[1]:.4g}",
            ylabel=f"{what} of y",
        )
        reach = 1.25 * max(picture.epsilon, float(np.abs(picture.loss).max()))
        self._loss.paint(
            {
                "loss": _stairs(picture, picture.loss, "y", "loss"),
                "upper": {"y": np.array(spread), "loss": np.full(2, picture.epsilon)},
                "lower": {"y": np.array(spread), "loss": np.full(2, -picture.epsilon)},
            },
            x=spread,
            y=(-reach, reach),
        )
        self.status.say(_sentence(picture))
        repaint(self._density, self._neighbours, self._loss)


def _stairs(picture: MechanismPicture, values: np.ndarray, x: str, y: str) -> dict:
    """A curve; for a few answers, a bar for each, drawn as one line."""
    if not picture.discrete:
        return {x: picture.y, y: values}
    half = _BAR * _step(picture.y)
    edges = picture.y[:, None] + half * np.array([-1, -1, 1, 1])
    heights = values[:, None] * np.array([0, 1, 1, 0])
    return {x: edges.ravel(), y: heights.ravel()}


def _step(answers: np.ndarray) -> float:
    """The distance between two answers."""
    return float(np.diff(np.sort(answers)).min()) if answers.size > 1 else 1.0


def _sentence(picture: MechanismPicture) -> str:
    left, right = picture.interval
    largest = float(np.abs(picture.loss).max())
    odds = f"seeing y changes the odds between them by a factor of at most {np.exp(largest):.3g}"
    if not MECHANISMS[picture.settings["mechanism"]].pure:
        return (
            f"Asked for [{left:.4g}, {right:.4g}]. This mechanism may exceed ε = {picture.epsilon:g} "
            f"with probability δ = {picture.settings['delta']:g}."
        )
    promise = f"ε = {picture.epsilon:g} promises {np.exp(picture.epsilon):.3g} for any two values"
    return f"Asked for [{left:.4g}, {right:.4g}]. For these two neighbours {odds}; {promise}."


def _curve(x: str, y: str, label: str, **options) -> hv.Curve:
    return hv.Curve([(0.0, 0.0)], x, y, label=label).opts(**({"line_width": 2} | options))


def _segments(label: str, **options) -> hv.Segments:
    return hv.Segments([(0.0, 0.0, 0.0, 0.0)], ["x0", "y0", "x1", "y1"], label=label).opts(**options)


_LIMITS = {"xlim": (-1, 1), "ylim": (0, 1)}


def _density_plot() -> LivePlot:
    layers = {
        "ends": _segments("l, r", color=GREY, line_dash="dotted", line_width=1),
        "atoms": _segments("atoms (share of height)", color=ORANGE, line_width=6),
        "density": _curve("y", "density", "density of Y", color=BLUE, tools=["hover"]),
    }
    options = _LIMITS | {"show_legend": False}
    return LivePlot(
        layers, height=250, title="Density of Y", xlabel="y: what is shared", ylabel="density of y", **options
    )


def _neighbours_plot() -> LivePlot:
    layers = {
        "first": _curve("y", "density", "given x", color=BLUE, tools=["hover"]),
        "second": _curve("y", "density", "given x'", color=VERMILLION, line_dash="dashed", tools=["hover"]),
    }
    return LivePlot(layers, title="Two neighbours", xlabel="y", ylabel="density of y", **_LIMITS)


def _loss_plot() -> LivePlot:
    layers = {
        "loss": _curve("y", "loss", "log p(y|x)/p(y|x')", color=PURPLE, tools=["hover"]),
        "upper": _curve("y", "loss", "±ε", color=VERMILLION, line_dash="dashed"),
        "lower": _curve("y", "loss", "±ε", color=VERMILLION, line_dash="dashed"),
    }
    title = "Privacy loss: what y tells about who it was"
    options = _LIMITS | {"legend_position": "bottom_left"}
    return LivePlot(layers, title=title, xlabel="y", ylabel="log of the odds' change", **options)
