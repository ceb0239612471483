"""A table whose head sorts it: plain HTML, so that it needs nothing of the server and no script from elsewhere.

>>> "<td data-value='0.5'>0.50</td>" in sortable_table([("RMSE", "{:.2f}")], [(0.5,)])
True
"""

import html
import math
from collections.abc import Iterable, Sequence

#: Sorts the rows by the column of the button that was pressed; once more, and it sorts them the other way round.
_SORT = (
    "const head = this.parentElement, body = this.closest(`table`).tBodies[0];"
    "const column = head.cellIndex, up = head.ariaSort !== `ascending`;"
    "for (const other of head.parentElement.cells) other.removeAttribute(`aria-sort`);"
    "head.setAttribute(`aria-sort`, up ? `ascending` : `descending`);"
    "const value = row => row.cells[column].dataset.value;"
    "const order = (a, b) => isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;"
    "const last = row => value(row) === `nan`;"
    "body.append(...[...body.rows].sort((a, b) => last(a) - last(b) || (up ? 1 : -1) * order(value(a), value(b))));"
)
_STYLE = (
    "<style>.sortable{border-collapse:collapse;font:inherit}"
    ".sortable td,.sortable th{padding:4px 10px;text-align:right;border-bottom:1px solid #8a8f9866;white-space:nowrap}"
    ".sortable button{font:inherit;font-weight:600;border:0;"
    "background:none;color:inherit;cursor:pointer;padding:0}.sortable [aria-sort=ascending] button::after{content:' ▲'}"
    ".sortable [aria-sort=descending] button::after{content:' ▼'}</style>"
)


def sortable_table(columns: Sequence[tuple[str, str]], rows: Iterable[Sequence]) -> str:
    """HTML of a table; a column is its title and the format of its values."""
    head = "".join(f'<th><button onclick="{_SORT}">{html.escape(title)}</button></th>' for title, _ in columns)
    body = "".join(
        f"<tr>{''.join(_cell(value, form) for value, (_, form) in zip(row, columns, strict=True))}</tr>" for row in rows
    )
    table = f"<table class=sortable><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"{_STYLE}<div style='overflow-x: auto'>{table}</div>"


def _cell(value, form: str) -> str:
    missing = isinstance(value, float) and math.isnan(value)
    text = "–" if missing else form.format(value)
    return f"<td data-value='{html.escape(str(value), quote=True)}'>{html.escape(text)}</td>"
