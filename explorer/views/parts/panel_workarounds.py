"""What can be done only with names that Panel and Panel Material UI call private: all of it here, or overridden.

Such a name may be gone in the next release. Everything here notices that, and does without as well as it can;
``tests/views/test_private_names.py`` tells which names those are, and fails when one is gone.
"""

import contextlib
from collections.abc import Iterator

import panel as pn
from bokeh.document import Document
from bokeh.document.callbacks import DocumentCallbackManager, invoke_with_curdoc
from panel_material_ui.base import MaterialComponent


def shown_plots(pane: pn.pane.HoloViews) -> list | None:
    """HoloViews' plots of this pane, one for each place where it is shown; None if Panel does not tell.

    Can go when a pane has a public way to its plots. A hook learns of each plot, too, but not of its end.
    """
    plots = getattr(pane, "_plots", None)
    return None if plots is None else [plot for plot, _ in plots.values()]


class Immediate:
    """Mixed into a slider, makes it answer while it is dragged.

    Panel holds every event of a widget back for 50 ms, and tells the page before and after each that it is busy. Both
    together are most of the time from a finger to a picture. Where Panel does not know these names, it goes on to do
    so. Can go when both can be set as parameters.
    """

    _priority_changes = ("value",)
    _busy__ignore = ("value", "value_throttled")


class _BrowserFirst(DocumentCallbackManager):
    """Passes changes from the browser on, even while changes from Python are held back."""

    def trigger_on_change(self, event) -> None:
        document = self._document()
        if document is None or self.hold_value is None or getattr(event, "setter", None) is None:
            super().trigger_on_change(event)
            return
        if event.callback_invoker is not None:
            invoke_with_curdoc(document, event.callback_invoker)
        for callback in self.change_callbacks():
            invoke_with_curdoc(document, lambda callback=callback: callback(event))


def browser_first(document: Document | None) -> None:
    """Never send a change that came from the browser back to it.

    Panel holds changes back while it updates several models at once, and afterwards writes all of them to the browser.
    A change that arrives from the browser meanwhile is then among them: the browser gets its own, older value back,
    and Python may not hear of it. On a busy machine a menu that was closed opened again that way, and its invisible
    backdrop took every click on the page; a slider can jump back. Can go when ``panel.io.document`` leaves events
    with a setter out of what it writes.
    """
    if document is not None and type(document.callbacks) is DocumentCallbackManager:
        document.callbacks.__class__ = _BrowserFirst


@contextlib.contextmanager
def forget_busy_watchers() -> Iterator[None]:
    """A page that is made within the context does not follow whether the server is busy.

    Panel Material UI's page follows that even without a busy indicator, and is then never forgotten: the server, which
    outlives all pages, keeps a list of whom to tell. Can go when a page without an indicator watches nothing.
    """
    others = _busy_watchers()
    yield
    for watcher in _busy_watchers():
        if watcher not in others:
            pn.state.param.unwatch(watcher)


def _busy_watchers() -> list:
    return list(pn.state.param.watchers.get("busy", {}).get("value", []))


@contextlib.contextmanager
def widgets_from(script: str, style: str) -> Iterator[None]:
    """Panel Material UI's widgets in notebook cells, from now on, load these files of the notebook's own server.

    Within the context, Panel's extension does not load the style sheet as well. Can go when Panel Material UI asks no
    other host for its files in a notebook.
    """
    get_model = getattr(MaterialComponent, "_get_model", None)
    css = vars(MaterialComponent).get("_bundle_css")
    if get_model is None or css is None:
        yield
        return
    files = {"bundle": "url", "esm": script, "css_bundle": style}

    def get_local_model(self, doc, root=None, parent=None, comm=None):
        model = get_model(self, doc, root, parent, comm)
        # For a cell, and not for a file or a server of its own.
        if comm is not None and files.keys() <= set(model.properties()):
            model.update(**files)
        return model

    MaterialComponent._get_model = get_local_model
    MaterialComponent._bundle_css = []  # each widget brings it
    try:
        yield
    finally:
        type.__setattr__(MaterialComponent, "_bundle_css", css)
