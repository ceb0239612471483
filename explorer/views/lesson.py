"""A teaching notebook as a page: its text, its code on demand, and what its cells show, live."""

import ast
import html
import io
import json
import re
import threading
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.views.parts.html_text import HtmlText
from explorer.views.parts.session import at_end
from explorer.views.tabs import Tab

_WIDE = {"sizing_mode": "stretch_width"}
_PREPARING = (
    "This lesson is being prepared, which takes up to half a minute after the server was started. "
    "<script>setTimeout(() => location.reload(), 3000)</script>"
)
_TABLE = "<style>.dataframe td, .dataframe th {padding: 3px 14px 3px 0; text-align: right}</style>"


def lessons(folder: Path) -> dict[str, Path]:
    """The notebooks of a folder by their titles, in the order of their names."""
    found = sorted(folder.glob("*.ipynb"))
    if not found:
        raise ValueError(f"there are no notebooks in {folder}")
    return {title(_cells(path)): path for path in found}


def title(cells: list[dict]) -> str:
    """The first heading."""
    return next(_source(cell).lstrip("# ").splitlines()[0] for cell in cells if cell["cell_type"] == "markdown")


class Prepared:
    """What all visitors of a lesson share: its cells, and what those show that show no live figure.

    They are carried out once, in a thread, as some take seconds; a page that is asked for before says so.
    """

    def __init__(self, path: Path) -> None:
        self.cells = _cells(path)
        self.names: dict = {"__name__": "lesson"}
        self.shown: dict[int, list[str]] = {}
        self.ready = threading.Event()

    def carry_out(self) -> None:
        for number, cell in enumerate(self.cells):
            if cell["cell_type"] == "code" and not _is_live(cell):
                printed, value = run_cell(_source(cell), self.names)
                self.shown[number] = [text for text in (_preformatted(printed), _as_html(value)) if text]
        self.ready.set()


@cache
def prepared(path: Path) -> Prepared:
    """Begins to prepare when first asked for."""
    lesson = Prepared(path)
    threading.Thread(target=lesson.carry_out, daemon=True, name=f"lesson {path.stem}").start()
    return lesson


class Lesson(pn.viewable.Viewer):
    """One notebook, from top to bottom; its live figures are the visitor's own."""

    def __init__(self, lesson: Prepared, **params):
        super().__init__(**params)
        self._lesson, self._names, self._views = lesson, dict(lesson.names), []
        self._parts = [part for number, cell in enumerate(lesson.cells) for part in self._shown(number, cell)]

    def _shown(self, number: int, cell: dict) -> list:
        text = _source(cell)
        if cell["cell_type"] == "markdown":
            return [pn.pane.Markdown(_display_math(text), renderer_options={"html": True}, **_WIDE)]
        parts = [f"<details><summary>code</summary><pre>{html.escape(text)}</pre></details>"]
        parts = [pn.pane.HTML(part, **_WIDE) for part in parts + self._lesson.shown.get(number, [])]
        if _is_live(cell):
            _, view = run_cell(text, self._names)
            self._views.append(view)
            parts.append(view)
        return parts

    def close(self) -> None:
        """Whatever still runs stops."""
        for view in self._views:
            if isinstance(view, Tab):
                view.close()

    def __panel__(self):
        return pn.Column(*self._parts, **_WIDE)


def lesson_page(path: Path) -> pmui.Page:
    """The page for a server."""
    lesson = prepared(path)
    if lesson.ready.is_set():
        content = Lesson(lesson)
        at_end(content.close)
    else:
        content = pn.pane.HTML(_PREPARING, **_WIDE)
    home = HtmlText("<a href='./'>← Explorer</a>", margin=(5, 10))
    return pmui.Page(
        title=title(lesson.cells),
        main=[pn.Column(home, content, sizing_mode="stretch_width", margin=(5, 15))],
        busy_indicator=None,
    )


def run_cell(text: str, names: dict) -> tuple[str, Any]:
    """What a cell prints, and the value of its last line."""
    # On this page a view stands in its place, and is not added to its end.
    tree = ast.parse(text.replace(".servable()", ""))
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    names["print"] = partial(print, file=printed)  # sys.stdout is everybody's
    exec(compile(tree, "lesson", "exec"), names)
    value = None if last is None else eval(compile(ast.Expression(last.value), "lesson", "eval"), names)
    return printed.getvalue(), value


def _is_live(cell: dict) -> bool:
    """Whether a cell shows a figure that belongs to one visitor."""
    return any(word in _source(cell) for word in (".servable()", "LivePlot("))


def _as_html(value) -> str:
    if value is None:
        return ""
    return _TABLE + value.to_html(border=0) if isinstance(value, pd.DataFrame) else _preformatted(repr(value))


def _preformatted(text: str) -> str:
    return f"<pre style='white-space: pre-wrap'>{html.escape(text)}</pre>" if text else ""


def _display_math(text: str) -> str:
    """Markdown eats the backslashes of formulas, unless each is doubled."""
    return re.sub(r"\$\$.*?\$\$", lambda formula: formula[0].replace("\\", "\\\\"), text, flags=re.DOTALL)


def _cells(path: Path) -> list[dict]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        raise ValueError(f"{path} cannot be read as a notebook") from None


def _source(cell: dict) -> str:
    return "".join(cell["source"])
