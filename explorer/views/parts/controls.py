"""Widgets for the parameters: made from their bounds, labels and docs, so that the tooltip writes itself."""

import panel as pn
import panel_material_ui as pmui
import param

from explorer.engine.inference.samplers import SAMPLERS
from explorer.engine.mechanisms import MECHANISMS
from explorer.engine.population import FAMILIES
from explorer.views.parts.panel_workarounds import Immediate

_DELTAS = {f"1e-{power}": 10.0**-power for power in range(1, 13)}


class Slider(Immediate, pmui.FloatSlider):
    """A slider for a number."""


class WholeSlider(Immediate, pmui.IntSlider):
    """A slider for a whole number."""


class SpanSlider(Immediate, pmui.RangeSlider):
    """A slider for two ends."""


def widget(parameter: param.Parameter, **options):
    """The widget that fits a parameter."""
    options = {"label": parameter.label, "sizing_mode": "stretch_width"} | options
    if parameter.name == "delta":
        return pmui.Select.from_param(parameter, options=_DELTAS, **options)
    for kind, made in (
        (param.Integer, WholeSlider),
        (param.Range, SpanSlider),
        (param.Number, Slider),
        (param.Boolean, pmui.Switch),
        (param.ListSelector, pmui.MultiChoice),
        (param.Selector, pmui.Select),
    ):
        if isinstance(parameter, kind):
            if kind in (param.Integer, param.Range, param.Number):
                _widen(parameter)
            return made.from_param(parameter, **options)
    raise TypeError(f"no widget for {parameter!r}")


def number_input(parameter: param.Parameter | None = None, **options):
    """A field for a number that has no natural range, for a parameter or for itself."""
    made = pmui.IntInput if isinstance(parameter, param.Integer) else pmui.FloatInput
    options = {"sizing_mode": "stretch_width"} | options
    return made(**options) if parameter is None else made.from_param(parameter, label=parameter.label, **options)


def _widen(parameter: param.Parameter) -> None:
    """A value outside the slider's usual range, from an address say, must still be on the slider."""
    value = getattr(parameter.owner, parameter.name)
    low, high = parameter.softbounds or parameter.bounds
    ends = value if isinstance(value, tuple) else (value, value)
    if parameter.softbounds and (ends[0] < low or ends[1] > high):
        parameter.softbounds = (min(low, ends[0]), max(high, ends[1]))


def _only_if() -> dict[str, tuple[str, tuple]]:
    """Parameters that matter only if another has one of these values."""
    return {
        "delta": ("mechanism", tuple(MECHANISMS.taking("delta"))),
        "df": ("family", tuple(FAMILIES.taking("df"))),
        "interval": ("manual", (True,)),
        "particles": ("sampler", tuple(name for name, cls in SAMPLERS.items() if cls.has_particles)),
    }


def group(owner: param.Parameterized, names: list[str], title: str | None = None) -> pn.Column:
    """The widgets of some parameters, under a title; those that do not matter now are hidden."""
    widgets = {name: widget(owner.param[name]) for name in names}
    for name, (other, values) in _only_if().items():
        if name in widgets:
            widgets[name].visible = owner.param[other].rx().rx.pipe(lambda value, values=values: value in values)
    head = [pmui.Typography(title, variant="overline", margin=(4, 10, -6, 10))] if title else []
    return pn.Column(*head, *widgets.values(), sizing_mode="stretch_width", min_width=200)
