"""What a computation is doing, in one line that people can rely on: a sentence, a bar, an error.

Whenever a text beside the plots changes, the browser lays out the whole page anew. While a slider is dragged nothing
here changes, therefore: that a picture is a preview stands in its title.
"""

import html

import panel as pn
import panel_material_ui as pmui

from explorer.models.computation import Computation
from explorer.views.parts.html_text import HtmlText

_WORDS = {
    "idle": ("default", "waiting"),
    "waiting": ("info", "waiting …"),
    "computing": ("info", "computing …"),
    "preview": ("warning", "preview, refining …"),
    "ready": ("success", "final"),
    "cancelled": ("default", "cancelled"),
    "failed": ("error", "failed"),
}


class Status(pn.viewable.Viewer):
    """Follows a model's status, progress and error."""

    def __init__(self, model: Computation, **params):
        super().__init__(**params)
        self._model = model
        self._chip = pmui.Chip(label="waiting", size="small", variant="outlined", margin=(8, 10), min_width=120)
        self._bar = pmui.LinearProgress(value=0, variant="determinate", sizing_mode="stretch_width", visible=False)
        self._alert = pmui.Alert("", severity="error", visible=False, sizing_mode="stretch_width")
        self._caption = HtmlText("", sizing_mode="stretch_width", margin=(6, 10), styles={"font-size": "16px"})
        model.param.watch(self._update, ["status", "progress", "error"])
        self._update()

    def _update(self, *events) -> None:
        model = self._model
        color, words = _WORDS[model.status]
        running = model.status in ("computing", "preview")
        if running and model.progress == 0:  # a quick computation needs no announcement
            return
        with pn.io.hold():
            self._chip.param.update(label=words, color=color, visible=model.status != "idle")
            self._bar.param.update(value=round(100 * model.progress), visible=running)
            self._alert.param.update(object=html.escape(model.error), visible=bool(model.error))

    def say(self, sentence: str) -> None:
        """What is seen, in words."""
        self._caption.object = html.escape(sentence, quote=False)

    def __panel__(self):
        return pn.Column(
            pn.Row(self._caption, self._chip, sizing_mode="stretch_width"),
            self._bar,
            self._alert,
            sizing_mode="stretch_width",
        )
