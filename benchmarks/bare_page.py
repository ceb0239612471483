"""What the dashboard is measured against: one slider and one bare Bokeh image on the same kind of page."""

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.plotting import figure

pn.extension()
slider = pmui.FloatSlider(start=0.1, end=10, step=0.05, value=1, label="ε")
values = np.random.default_rng(0).random((50, 50))
plot = figure(sizing_mode="stretch_width", height=430)
source = plot.image(image=[values], x=-3, y=-3, dw=6, dh=6, palette="Viridis256").data_source


def replace(event) -> None:
    source.data = {"image": [values * event.new]}


slider.param.watch(replace, "value")
pmui.Page(title="Bare", sidebar=[slider], main=[pn.pane.Bokeh(plot, sizing_mode="stretch_width")]).servable()
