"""The paper's Figures 2 and 3, as pictures and as pages that can be zoomed.

A figure is rows of panels, described once; ``save`` draws it with Matplotlib as a PNG and with Bokeh as an HTML file
that needs no internet.
"""

import html
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorer.engine.inference.resampling import systematic
from explorer.engine.run.trace import Trace

#: Okabe and Ito's colours, which colour-blind people can tell apart.
_BLUE, _ORANGE, _VERMILLION, _BLACK = "#0072B2", "#E69F00", "#D55E00", "#000000"
#: Of each cloud that the figure shows, so many particles.
_SHOWN = 100
_PARAMETERS = (("mu", "μ"), ("sigma", "σ"))


class Points(NamedTuple):
    x: np.ndarray
    y: np.ndarray


class Line(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    colour: str
    width: float


class Boxes(NamedTuple):
    """One box for each name."""

    values: dict[str, np.ndarray]


class Panel(NamedTuple):
    title: str
    x_label: str
    y_label: str
    limits: tuple[float, float]
    layers: list


Figure = list[list[Panel]]


def particles_figure(traces: dict[str, tuple[Trace, Trace]]) -> Figure:
    """Figure 2: for each ε, by its title, a row with μ and σ of the adaptive and of the fixed run."""
    return [
        [
            _over_time(trace, column, f"{title}: {symbol}, {kind}")
            for column, (_, symbol) in enumerate(_PARAMETERS)
            for trace, kind in zip(runs, ("adaptive", "fixed ±10σ"), strict=True)
        ]
        for title, runs in traces.items()
    ]


def _over_time(trace: Trace, column: int, title: str) -> Panel:
    rng = np.random.default_rng(1)
    times, values = [], []
    for t, cloud, weights in zip(trace.kept, trace.particles, trace.weights, strict=True):
        chosen = cloud[systematic(rng, weights)][:, column]  # evenly weighted, as the paper shows them
        values.append(rng.choice(chosen, min(_SHOWN, chosen.size), replace=False))
        times.append(np.full(values[-1].size, t))
    x = np.arange(1, len(trace) + 1)
    layers: list[Points | Line] = [Points(np.concatenate(times), np.concatenate(values))]
    if column == 0:
        layers += [Line(x, end, _ORANGE, 0.7) for end in (trace.left, trace.right)]
    name, symbol = _PARAMETERS[column]
    truth, sigma = trace.settings[name], trace.settings["sigma"]
    layers += [Line(x, trace.mean[:, column], _VERMILLION, 1.5), Line(x[[0, -1]], np.full(2, truth), _BLACK, 0.8)]
    limits = (truth - 11 * sigma, truth + 11 * sigma) if column == 0 else (0.0, 3 * sigma)
    return Panel(title, "t", symbol, limits, layers)


def boxes_figure(table: pd.DataFrame, by: str, groups: Sequence[str]) -> Figure:
    """Figure 3: box plots of the posterior means, for μ above and σ below, one panel for each ε.

    ``by`` is the column that tells the boxes of a panel apart, and ``groups`` are its values in their order.
    """
    good = table[table["error"].isna()]
    return [
        [_boxes(rows, epsilon, name, symbol, by, groups) for epsilon, rows in good.groupby("epsilon")]
        for name, symbol in _PARAMETERS
    ]


def _boxes(rows: pd.DataFrame, epsilon: float, name: str, symbol: str, by: str, groups: Sequence[str]) -> Panel:
    truth, real = float(rows[f"true_{name}"].iloc[0]), float(rows["real_epsilon"].iloc[0])
    away = 1.1 * float(np.abs(rows[name] - truth).max())
    lowest = truth - away if name == "mu" else max(truth - away, 0.0)
    boxes = Boxes({group: rows.loc[rows[by] == group, name].to_numpy() for group in groups})
    line = Line(np.array([-0.5, len(groups) - 0.5]), np.full(2, truth), _VERMILLION, 1.0)
    title = f"ε = {epsilon:g}" if real == epsilon else f"ε = {epsilon:g} claimed, {real:.3g} given"
    return Panel(title, "", symbol, (lowest, truth + away), [line, boxes])


def save(figure: Figure, folder: Path, name: str, title: str) -> None:
    """Write ``name.png`` and ``name.html``."""
    _draw_png(figure, folder / f"{name}.png", title)
    _draw_html(figure, folder / f"{name}.html", title)


def _draw_png(figure: Figure, path: Path, title: str) -> None:
    from matplotlib.figure import Figure as Canvas  # without pyplot: no window, no global state

    rows, columns = len(figure), len(figure[0])
    canvas = Canvas(figsize=(3.6 * columns, 2.5 * rows + 0.5), layout="constrained")
    canvas.suptitle(title)
    for row, axes in zip(figure, canvas.subplots(rows, columns, squeeze=False), strict=True):
        for panel, ax in zip(row, axes, strict=True):
            ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label, ylim=panel.limits)
            for layer in panel.layers:
                if isinstance(layer, Points):
                    ax.plot(*layer, ".", color=_BLUE, markersize=1.5, alpha=0.4, rasterized=True)
                elif isinstance(layer, Line):
                    ax.plot(layer.x, layer.y, color=layer.colour, linewidth=layer.width)
                else:
                    places = range(len(layer.values))
                    boxes = list(layer.values.values())
                    ax.boxplot(boxes, positions=places, widths=0.6, medianprops={"color": _BLUE, "linewidth": 2})
                    ax.set_xticks(places, layer.values, rotation=20, ha="right")
    canvas.savefig(path, dpi=110)


def _draw_html(figure: Figure, path: Path, title: str) -> None:
    import bokeh
    from bokeh.embed import components
    from bokeh.layouts import gridplot
    from bokeh.plotting import figure as new_plot

    def drawn(panel: Panel):
        names = next((list(layer.values) for layer in panel.layers if isinstance(layer, Boxes)), None)
        plot = new_plot(width=340, height=260, title=panel.title, y_range=panel.limits, output_backend="canvas")
        plot.xaxis.axis_label, plot.yaxis.axis_label = panel.x_label, panel.y_label
        if names:
            plot.xaxis.ticker = list(range(len(names)))
            plot.xaxis.major_label_overrides = dict(enumerate(names))
            plot.xaxis.major_label_orientation = 0.35
        for layer in panel.layers:
            if isinstance(layer, Points):
                plot.scatter(*layer, size=2.5, color=_BLUE, alpha=0.4, line_color=None)
            elif isinstance(layer, Line):
                plot.line(layer.x, layer.y, color=layer.colour, line_width=1.5 * layer.width)
            else:
                _bokeh_boxes(plot, layer)
        return plot

    grid = gridplot([[drawn(panel) for panel in row] for row in figure], toolbar_location="right", merge_tools=True)
    grid.toolbar.logo = None
    # Not Bokeh's own way to make a page: once Panel has been imported, it is changed to fetch scripts from elsewhere.
    library = (Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.min.js").read_text(encoding="utf-8")
    script, place = components(grid)
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(title)}</title>"
    path.write_text(f"{head}<script>{library}</script>{place}{script}</html>", encoding="utf-8")


def _bokeh_boxes(plot, boxes: Boxes) -> None:
    """Quartiles; whiskers to the last value within one and a half boxes; what lies beyond as points."""
    for place, values in enumerate(boxes.values.values()):
        if not values.size:
            continue
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        reach = 1.5 * (high - low)
        inside = values[(values >= low - reach) & (values <= high + reach)]
        beyond = values[(values < low - reach) | (values > high + reach)]
        plot.segment(place, inside.min(), place, low, color=_BLACK)
        plot.segment(place, high, place, inside.max(), color=_BLACK)
        plot.vbar(place, 0.6, high, low, fill_color=_BLUE, fill_alpha=0.3, line_color=_BLACK)
        plot.segment(place - 0.3, middle, place + 0.3, middle, color=_BLUE, line_width=3)
        plot.scatter(np.full(beyond.size, place), beyond, size=6, fill_color=None, line_color=_BLACK)
