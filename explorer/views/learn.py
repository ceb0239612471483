"""Learn: the tour that leads through the other tabs, a glossary, and the lessons."""

import html

import panel as pn
import panel_material_ui as pmui

from explorer.models.tour import GLOSSARY, STOPS, Tour
from explorer.views.html_text import HtmlText
from explorer.views.view import wrapped

_WELCOME = (
    "People answer one by one. Each clips a sensitive number to an interval, adds noise and shares the result, so that "
    "nobody can tell what the number was. What can still be learned about all of them, and what should the next person "
    f"be asked? The tour shows it in {len(STOPS)} steps of a minute each: it sets the controls, opens the right tab, "
    "and stays above the figures while you try things out. Nothing can break. The method is that of the paper by "
    "Sinan Yıldırım, “Differentially private online Bayesian estimation with adaptive truncation”."
)
_TABLE = (
    "<style>.glossary{border-collapse:collapse;font:inherit}.glossary td,.glossary th{padding:5px 12px 5px 0;"
    "text-align:left;border-bottom:1px solid #8a8f9866;vertical-align:top}</style>"
)


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


class Learn(pn.viewable.Viewer):
    """The start of the tour, the glossary and the lessons."""

    def __init__(self, tour: Tour, lessons: dict[str, str] | None = None, **params):
        super().__init__(**params)
        start = pmui.Button(label="Start the tour", variant="contained", margin=(10, 10))
        start.on_click(lambda event: tour.param.update(step=1))
        steps = "".join(f"<li>{html.escape(stop.title)}</li>" for stop in STOPS)
        heading = {"variant": "h6", "margin": (14, 10, 0, 10)}
        self._main = pn.Column(
            pmui.Typography(_WELCOME, sizing_mode="stretch_width", margin=(10, 10)),
            start,
            pn.pane.HTML(f"<ol>{steps}</ol>", sizing_mode="stretch_width", margin=(0, 10)),
            pmui.Typography("Lessons", **heading),
            pn.pane.HTML(_lessons(lessons or {}), sizing_mode="stretch_width", margin=(4, 10)),
            pmui.Typography("The paper’s symbols, and where they are on this page", **heading),
            wrapped(pn.pane.HTML(_glossary(), sizing_mode="stretch_width", margin=(4, 10))),
            sizing_mode="stretch_width",
        )

    #: Nothing to compute, and nothing to wait for.
    built = True
    active = False

    @property
    def main(self):
        return self._main

    def recall(self) -> None:
        """Nothing to remember."""

    def close(self) -> None:
        """Nothing to stop."""

    def __panel__(self):
        return self._main


def _glossary() -> str:
    rows = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in GLOSSARY)
    head = "<tr><th>symbol</th><th>meaning</th><th>where</th></tr>"
    return f"{_TABLE}<table class=glossary>{head}{rows}</table>"


def _lessons(lessons: dict[str, str]) -> str:
    if not lessons:
        return (
            "Six notebooks of ten to fifteen minutes, with exercises, are in the folder <code>notebooks</code>: open "
            "them with <code>jupyter lab</code>, or start this page with <code>explorer serve --notebooks</code>."
        )
    items = (f"<li><a href='{html.escape(link)}'>{html.escape(title)}</a></li>" for title, link in lessons.items())
    return f"Ten to fifteen minutes each, with exercises:<ol>{''.join(items)}</ol>"
