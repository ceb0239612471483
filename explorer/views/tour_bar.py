"""The tour above the tabs."""

import html

import panel as pn
import panel_material_ui as pmui

from explorer.models.tour import STOPS, Tour
from explorer.views.parts.html_text import HtmlText


class TourBar(pn.viewable.Viewer):
    """What the present step says, above the tabs; not there without a tour."""

    def __init__(self, tour: Tour, **params):
        super().__init__(**params)
        self._tour = tour
        self._text = HtmlText("", sizing_mode="stretch_width", margin=(4, 10))
        self._back = pmui.Button(label="Back", variant="outlined", size="small", margin=5)
        self._next = pmui.Button(label="Next", variant="contained", size="small", margin=5)
        end = pmui.Button(label="End the tour", variant="text", size="small", margin=5)
        self._back.on_click(lambda event: self._go(tour.step - 1))
        self._next.on_click(lambda event: self._go((tour.step + 1) % (len(STOPS) + 1)))
        end.on_click(lambda event: self._go(0))
        self._bar = pn.Column(  # Material's Paper is wider than a phone
            self._text,
            pn.Row(self._back, self._next, end),
            styles={"border": "1px solid #8a8f98", "border-radius": "6px"},
            sizing_mode="stretch_width",
            margin=(5, 10),
            visible=False,
        )
        tour.param.watch(self._show, "step")
        self._show()

    def _go(self, step: int) -> None:
        self._tour.step = step

    def _show(self, *events) -> None:
        stop, step = self._tour.now, self._tour.step
        with pn.io.hold():
            self._bar.visible = stop is not None
            if stop is None:
                return
            says, to_try, title = map(html.escape, (stop.says, stop.to_try, stop.title))
            self._text.object = f"<b>{step} of {len(STOPS)}: {title}</b><br>{says}<br><b>Try it:</b> <i>{to_try}</i>"
            self._back.disabled = step == 1
            self._next.label = "Next" if step < len(STOPS) else "Finish"

    def __panel__(self):
        return self._bar
