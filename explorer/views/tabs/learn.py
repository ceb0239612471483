"""Learn: the tour that leads through the other tabs, a glossary, and the lessons."""

import html

import panel as pn
import panel_material_ui as pmui

from explorer.models.tour import GLOSSARY, STOPS, Tour
from explorer.views.parts.layout import wrapped
from explorer.views.tabs.tab import Tab

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


class Learn(Tab):
    """The start of the tour, the glossary and the lessons.

    >>> Learn().model.step
    0
    """

    id, title = "learn", "Learn"
    model_class = Tour

    @classmethod
    def model_for(cls, page):
        return page.tour  # which the bar above all tabs follows, too

    def _build(self):
        tour = self.model
        start = pmui.Button(label="Start the tour", variant="contained", margin=(10, 10))
        start.on_click(lambda event: tour.param.update(step=1))
        steps = "".join(f"<li>{html.escape(stop.title)}</li>" for stop in STOPS)
        heading = {"variant": "h6", "margin": (14, 10, 0, 10)}
        return pn.Column(
            pmui.Typography(_WELCOME, sizing_mode="stretch_width", margin=(10, 10)),
            start,
            pn.pane.HTML(f"<ol>{steps}</ol>", sizing_mode="stretch_width", margin=(0, 10)),
            pmui.Typography("Lessons", **heading),
            pn.pane.HTML(_lessons(tour.lessons), sizing_mode="stretch_width", margin=(4, 10)),
            pmui.Typography("The paper’s symbols, and where they are on this page", **heading),
            wrapped(pn.pane.HTML(_glossary(), sizing_mode="stretch_width", margin=(4, 10))),
            sizing_mode="stretch_width",
        )


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
