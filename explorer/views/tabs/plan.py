"""The planner: how many people, which mechanism, which ε, before anybody is asked."""

from itertools import cycle

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui

from explorer.engine.information import Option
from explorer.engine.mechanisms import MECHANISMS
from explorer.models.planning import EPSILONS, Plan, Planning
from explorer.views.parts.controls import number_input, widget
from explorer.views.parts.downloads import code_button, csv_button
from explorer.views.parts.html_text import HtmlText
from explorer.views.parts.layout import side_by_side, wrapped
from explorer.views.parts.live_plot import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, LivePlot, repaint
from explorer.views.parts.sortable_table import sortable_table
from explorer.views.tabs.tab import ComputedTab

#: Of the mechanisms, in their order; if there are more, they begin again.
_COLOURS = (BLUE, PURPLE, ORANGE, GREEN)
_COLUMNS = (
    ("mechanism", "{}"),
    ("ε", "{:.4g}"),
    ("people n", "{:,}"),
    ("standard error", "{:.4g}"),
    ("a, in σ from μ", "{:.3f}"),
    ("b", "{:.3f}"),
)
_EXPLAINED = (
    "From the exact Fisher information about μ, with σ unknown, at each mechanism’s best interval: n answers know μ to "
    "a standard error of σ/√(n F). That is what many answers reach once the interval has found its place; a survey of "
    "a few hundred also pays for the search, and σ is a guess. Gaussian is (ε, δ)-private, the others are ε-private."
)


class Planner(ComputedTab):
    """People needed over ε for each mechanism, and the options for what is given.

    >>> Planner(sigma=8, epsilon=2, standard_error=0.5).model.standard_error
    0.5
    """

    id, title = "plan", "Plan"
    address_keys = ("standard_error", "given", "people")
    model_class = Planning

    def _build(self):
        model = self.model
        self._names = list(MECHANISMS)
        self._plot = _people_plot(self._names)
        self._table = HtmlText("", sizing_mode="stretch_width", margin=(0, 10))
        error = number_input(model.param.standard_error, start=1e-6, step=0.01)
        people = number_input(model.param.people, start=1, step=100)
        people.visible = model.param.given.rx() == "n"
        return pn.Column(
            pn.Spacer(height=8),
            side_by_side(error, widget(model.param.given), people, narrowest=200),
            self.status,
            self._plot,
            self._table,
            pmui.Typography(_EXPLAINED, variant="body2", sizing_mode="stretch_width", margin=(6, 10)),
            wrapped(
                code_button(model),
                csv_button("Options as CSV", "plan.csv", model),
            ),
            sizing_mode="stretch_width",
        )

    def _show(self, plan: Plan) -> None:
        layers = {
            name: {"epsilon": EPSILONS, "people": plan.people.get(name, np.full(EPSILONS.size, np.nan))}
            for name in self._names
        }
        everything = np.concatenate([*plan.people.values(), [plan.without_privacy]])
        low, high = 0.5 * float(np.nanmin(everything)), 2 * float(np.nanmax(everything))
        epsilon, n = plan.settings["epsilon"], plan.settings["n"]
        if epsilon is not None:
            layers["given"] = {"epsilon": np.full(2, epsilon), "people": np.array([low, high])}
        else:
            layers["given"] = {"epsilon": EPSILONS[[0, -1]], "people": np.full(2, float(n))}
        layers["limit"] = {"epsilon": EPSILONS[[0, -1]], "people": np.full(2, plan.without_privacy)}
        layers["options"] = {
            "epsilon": np.array([option.epsilon for option in plan.options]),
            "people": np.array([float(option.n) for option in plan.options]),
        }
        self._plot.paint(layers, y=(low, high))
        self._table.object = sortable_table(_COLUMNS, map(_row, plan.options))
        self.status.say(_sentence(plan))
        repaint(self._plot)


def _row(option: Option) -> Option:
    """A plain yes or no has a place, the middle, and no width."""
    return option._replace(a=np.nan, b=np.nan) if MECHANISMS[option.mechanism].by_midpoint else option


def _sentence(plan: Plan) -> str:
    goal = f"For a standard error of {plan.settings['standard_error']:g} (σ about {plan.settings['sigma']:.4g})"
    if not plan.options:
        return f"{goal}: no mechanism can, with so few people, at any ε up to 20."
    best = plan.options[0]
    without = f"without privacy {np.ceil(plan.without_privacy * (1 - 1e-12)):,.0f} would do"
    if plan.settings["epsilon"] is not None:
        return f"{goal} at ε = {best.epsilon:g}: {best.mechanism} needs {best.n:,} people; {without}."
    return f"{goal} with {best.n:,} people: {best.mechanism} needs only ε = {best.epsilon:.3g}; {without}."


def _people_plot(names: list[str]) -> LivePlot:
    def line(name, label, **options):
        return hv.Curve([(1.0, 1.0)], "epsilon", "people", label=label).opts(**({"line_width": 2} | options))

    layers = {
        name: line(name, name, color=colour, tools=["hover"])
        for name, colour in zip(names, cycle(_COLOURS), strict=False)
    }
    layers |= {
        "limit": line("limit", "without privacy", color=GREY, line_dash="dashed"),
        "given": line("given", "given", color=VERMILLION, line_dash="dotted"),
        "options": hv.Points([(1.0, 1.0)], ["epsilon", "people"]).opts(
            marker="star", size=14, fill_color="white", line_color="black", apply_ranges=False
        ),
    }
    return LivePlot(
        layers,
        height=380,
        title="People needed, at each mechanism’s best interval",
        xlabel="ε",
        ylabel="people n",
        logx=True,
        logy=True,
        xlim=(0.09, 11),
        ylim=(1, 1e6),
        legend_position="top_right",
    )
