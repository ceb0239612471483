"""Text on the page that changes."""

import panel as pn


class HtmlText(pn.pane.HTML):
    """HTML of which only the text travels when it changes.

    Panel's own sends its style sheets along each time, and in a notebook asks the internet for them. Panel Material
    UI's Typography, on a busy machine, now and then loses a text that changes while it is being drawn.
    """

    priority = False  # not the pane that Panel shall make for any text

    def _update(self, ref: str, model) -> None:
        try:
            model.text = self._get_properties(model.document)["text"]
        except (AttributeError, KeyError):  # private names of Panel's
            super()._update(ref, model)
