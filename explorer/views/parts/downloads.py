"""What a visitor takes home: a result as a CSV file, and the Python code that computes it."""

import html
import io
from collections.abc import Callable
from operator import methodcaller

import panel as pn
import panel_material_ui as pmui

from explorer.models.computation import Computation
from explorer.views.parts.html_text import HtmlText

_NOTHING_YET = "# nothing has been computed yet\n"


def csv_button(
    label: str, filename: str, model: Computation, table: Callable = methodcaller("table")
) -> pmui.FileDownload:
    """A button that downloads a model's result as a table, which is made when asked for."""

    def content() -> io.StringIO:
        return io.StringIO(_NOTHING_YET if model.result is None else table(model.result).to_csv(index=False))

    return pmui.FileDownload(
        callback=content, filename=filename, label=label, variant="outlined", size="small", embed=False, margin=5
    )


#: In HTML: a callback of Panel's that knows the text would keep the whole page in the server's memory for ever.
_COPY = (
    "<button style='padding: 6px 16px; font: inherit; cursor: pointer' "
    "onclick='navigator.clipboard.writeText(this.previousElementSibling.textContent); this.textContent = `Copied`'>"
    "Copy</button>"
)


def code_button(model: Computation) -> pn.Row:
    """Shows the calls that reproduce a model's result, and copies them."""
    text = HtmlText("", sizing_mode="stretch_width")
    dialog = pmui.Dialog(text, title="The same in Python", width_option="md", close_on_click=True)
    button = pmui.Button(label="Copy as Python", variant="outlined", size="small", margin=5)

    def show(event) -> None:
        with pn.io.hold():
            script = _NOTHING_YET if model.result is None else model.result.script()
            text.object = f"<pre style='white-space: pre-wrap'>{html.escape(script)}</pre>{_COPY}"
            dialog.open = True

    button.on_click(show)
    return pn.Row(button, dialog, width=150, margin=0)
