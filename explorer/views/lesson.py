"""A teaching notebook as a page: its text, its code on demand, and what its cells show, live.

The cells are carried out for each visitor anew, in order, as a notebook would; a view in the last line of a cell works
as it does there.
"""

import ast
import contextlib
import html
import io
import json
import re
from pathlib import Path

import pandas as pd
import panel as pn
import panel_material_ui as pmui

from explorer.views.html_text import HtmlText
from explorer.views.session import at_end
from explorer.views.view import View

_WIDE = {"sizing_mode": "stretch_width"}
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


class Lesson(pn.viewable.Viewer):
    """One notebook, from top to bottom."""

    def __init__(self, path: Path, **params):
        super().__init__(**params)
        self.cells = _cells(path)
        self._names = {"__name__": "lesson"}
        self._views: list[View] = []
        self._parts = [part for cell in self.cells for part in self._shown(cell)]

    def _shown(self, cell: dict) -> list:
        text = _source(cell)
        if cell["cell_type"] == "markdown":
            return [pn.pane.Markdown(_display_math(text), renderer_options={"html": True}, **_WIDE)]
        code = f"<details><summary>code</summary><pre>{html.escape(text)}</pre></details>"
        return [pn.pane.HTML(code, **_WIDE), *self._run(text)]

    def _run(self, text: str) -> list:
        # On this page a view stands in its place, and is not added to its end.
        tree = ast.parse(text.replace(".servable()", ""))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, "lesson", "exec"), self._names)
            value = None if last is None else eval(compile(ast.Expression(last.value), "lesson", "eval"), self._names)
        parts = [_preformatted(printed.getvalue())] if printed.getvalue() else []
        if isinstance(value, View):
            self._views.append(value)
        if isinstance(value, pd.DataFrame):
            parts.append(pn.pane.HTML(_TABLE + value.to_html(border=0), **_WIDE))
        elif isinstance(value, int | float | str | list | tuple):
            parts.append(_preformatted(repr(value)))
        elif value is not None:
            parts.append(pn.panel(value, **({} if isinstance(value, View) else _WIDE)))
        return parts

    def close(self) -> None:
        """Whatever still runs stops."""
        for view in self._views:
            view.close()

    def page(self) -> pmui.Page:
        """The page for a server."""
        at_end(self.close)
        home = HtmlText("<a href='./'>← Explorer</a>", margin=(5, 10))
        return pmui.Page(
            title=title(self.cells),
            main=[pn.Column(home, self, sizing_mode="stretch_width", margin=(5, 15))],
            busy_indicator=None,
        )

    def __panel__(self):
        return pn.Column(*self._parts, **_WIDE)


def _preformatted(text: str) -> pn.pane.HTML:
    return pn.pane.HTML(f"<pre style='white-space: pre-wrap'>{html.escape(text)}</pre>", **_WIDE)


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
