"""The Fisher map: a heatmap of the score over (a, b) that follows its controls.

``FisherMap()`` as the last line of a notebook cell shows the controls beside the map; ``.model`` is the
Param object behind it.
"""

import asyncio
from typing import NamedTuple

import holoviews as hv
import panel as pn
import panel_material_ui as pmui
import param

from explorer.engine.information import BestInterval, Surface
from explorer.models.fisher_surface import FisherSurface

hv.extension("bokeh", logo=False)
hv.renderer("bokeh").webgl = False  # slower than the canvas here, and leaves blank plots for some users

_LABELS = {
    "mu": "F[μ,μ]",
    "sigma": "F[σ,σ]",
    "trace": "F[μ,μ] + F[σ,σ]",
    "det": "det F",
    "mu|sigma": "F[μ,μ] − F[μ,σ]²/F[σ,σ]",
}
_DELTAS = {f"1e-{power}": 10.0**-power for power in range(2, 13)}


class _Result(NamedTuple):
    """What is drawn, with the settings it was computed for: the controls may have moved on."""

    surface: Surface
    best: BestInterval | None
    score: str
    limit: float


class FisherMap(pn.viewable.Viewer):
    """Heatmap of the score with the best interval marked."""

    model = param.ClassSelector(class_=FisherSurface)

    def __init__(self, **params):
        params.setdefault("model", FisherSurface())
        super().__init__(**params)
        self._pipe = hv.streams.Pipe(data=self._compute())
        self._computing = False
        self._changed = False
        plot = hv.DynamicMap(self._image, streams=[self._pipe]) * hv.DynamicMap(self._marker, streams=[self._pipe])
        self._pane = pn.pane.HoloViews(plot, sizing_mode="stretch_width", min_height=480, linked_axes=False)
        self._caption = pmui.Typography(self._sentence(self._pipe.data), sizing_mode="stretch_width")
        self.controls = self._build_controls()
        self.model.param.watch(self._refresh, [name for name in self.model.param if name != "name"])

    def _build_controls(self) -> pmui.Column:
        p = self.model.param
        delta = pmui.Select.from_param(p.delta, label="δ", options=_DELTAS)
        df = pmui.FloatSlider.from_param(p.df, label="Degrees of freedom")
        delta.visible = p.mechanism.rx() == "gaussian"
        df.visible = p.family.rx() == "student_t"
        widgets = [
            pmui.FloatSlider.from_param(p.epsilon, label="ε"),
            pmui.Select.from_param(p.mechanism, label="Mechanism"),
            delta,
            pmui.Select.from_param(p.family, label="Population"),
            df,
            pmui.Select.from_param(p.score, label="Score"),
            pmui.IntSlider.from_param(p.resolution, label="Grid resolution"),
            pmui.FloatSlider.from_param(p.limit, label="Grid limit"),
        ]
        return pmui.Column(*widgets, sizing_mode="stretch_width", min_width=220)

    def _compute(self) -> _Result:
        settings = self.model.score, self.model.limit
        return _Result(self.model.surface(), self.model.best(), *settings)

    async def _refresh(self, *events) -> None:
        """Compute off the event loop; while that runs, only the newest change is kept."""
        self._changed = True
        if self._computing:
            return
        self._computing = True
        try:
            while self._changed:
                self._changed = False
                result = await asyncio.to_thread(self._compute)
                self._pipe.send(result)
                self._caption.object = self._sentence(result)
        finally:
            self._computing = False

    def _image(self, data: _Result) -> hv.Image:
        surface, label = data.surface, _LABELS[data.score]
        return hv.Image((surface.a, surface.b, surface.values.T), ["a", "b"], hv.Dimension("score", label=label)).opts(
            cmap="viridis",
            colorbar=True,
            colorbar_opts={"title": ""},
            tools=["hover"],
            default_tools=["pan", "wheel_zoom", "save", "reset"],
            xlabel="a: left end, in σ from μ",
            ylabel="b: right end, in σ from μ",
            responsive=True,
            min_height=480,
            framewise=True,
        )

    def _marker(self, data: _Result) -> hv.Points:
        points = [] if data.best is None else [(data.best.a, data.best.b)]
        return hv.Points(points, ["a", "b"]).opts(
            marker="star", size=18, fill_color="white", line_color="black", apply_ranges=False
        )

    def _sentence(self, data: _Result) -> str:
        best = data.best
        if best is None:
            return "This score is 0 for every interval: one yes-or-no answer cannot tell two numbers apart."
        where = "" if max(abs(best.a), abs(best.b)) <= data.limit else " (outside the map)"
        return f"Best interval [{best.a:.4g}, {best.b:.4g}]{where}, {_LABELS[data.score]} = {best.value:.4g}"

    def __panel__(self):
        return pmui.Row(
            pmui.Column(self.controls, max_width=320),
            pmui.Column(self._caption, self._pane, sizing_mode="stretch_width"),
        )

    @property
    def main(self) -> pmui.Column:
        """The map without its controls, for a page that has a sidebar."""
        return pmui.Column(self._caption, self._pane, sizing_mode="stretch_width", margin=10)
