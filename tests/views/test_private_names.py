"""Names that Panel and others call private: where they are used, that they exist, and what happens without them."""

import ast
import asyncio
import inspect
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.document.events import TitleChangedEvent
from bokeh.plotting import figure
from bokeh.protocol import Protocol
from panel.io.application import Application
from panel.io.document import schedule_write_events
from panel_material_ui.base import MaterialComponent
from tornado.locks import Lock

from explorer.views.parts.controls import Slider
from explorer.views.parts.html_text import HtmlText
from explorer.views.parts.live_plot import LivePlot, repaint
from explorer.views.parts.panel_workarounds import browser_first, shown_plots, widgets_from
from explorer.views.parts.upload import Upload
from explorer.views.tabs import ComputedTab, Tab

PACKAGE = Path(__file__).resolve().parents[2] / "explorer"
#: Only these reach into what is not theirs.
WORKAROUNDS = {"views/parts/panel_workarounds.py", "engine/compute/compiled.py"}
#: Private by name, public by documentation.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_replace"}
#: Another's class, and which of its private names our class uses or overrides.
USED = {
    LivePlot: (pn.pane.HoloViews, {"_plots"}),
    HtmlText: (pn.pane.HTML, {"_get_properties", "_update"}),
    Slider: (pmui.FloatSlider, {"_busy__ignore", "_priority_changes"}),
    Upload: (pmui.FileInput, {"_handle_msg", "_send_msg"}),
    Tab: (pn.viewable.Viewer, set()),
    ComputedTab: (pn.viewable.Viewer, set()),
}


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def own_names(tree: ast.AST) -> Iterator[str]:
    """What a file gives a private name to: functions, classes, variables and attributes of ``self``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def test_only_the_workarounds_reach_into_what_is_not_theirs():
    trees = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    assert trees.keys() >= WORKAROUNDS
    overridden = {name for _, names in USED.values() for name in names}
    own = {name for tree in trees.values() for name in own_names(tree)} | DOCUMENTED | overridden
    for file in trees.keys() - WORKAROUNDS - {"cli.py"}:
        read = {node.attr for node in ast.walk(trees[file]) if isinstance(node, ast.Attribute)}
        imported = {a.name for node in ast.walk(trees[file]) if isinstance(node, ast.ImportFrom) for a in node.names}
        assert {name for name in read | imported if private(name)} <= own, file


@pytest.mark.parametrize("mine", USED)
def test_what_is_overridden_exists_and_nothing_else_is(mine):
    theirs, used = USED[mine]
    assert issubclass(mine, theirs)
    there = {name for name in dir(theirs()) if private(name)}
    assert used <= there
    own = [cls for cls in mine.__mro__ if cls.__module__.startswith("explorer.")]
    given = {name for cls in own for name in own_names(ast.parse(inspect.getsource(cls))) if private(name)}
    assert given & there <= used


def test_the_names_that_a_notebook_needs_exist():
    assert {"_bundle_css"} <= vars(MaterialComponent).keys()
    assert callable(MaterialComponent._get_model)
    model = pmui.Button().get_root()
    assert {"bundle", "esm", "css_bundle"} <= set(model.properties())


def test_in_a_notebook_cell_and_nowhere_else_widgets_load_local_files(monkeypatch):
    monkeypatch.setattr(MaterialComponent, "_get_model", MaterialComponent._get_model)  # to be put back
    before = vars(MaterialComponent)["_bundle_css"]
    with widgets_from("here.js", "here.css"):
        assert MaterialComponent._bundle_css == []
    assert vars(MaterialComponent)["_bundle_css"] is before
    button = pmui.Button()
    assert button.get_root().esm != "here.js"
    cell = button.get_root(comm=pn.state._comm_manager.get_server_comm())
    assert (cell.esm, cell.css_bundle, cell.bundle) == ("here.js", "here.css", "url")


def test_without_the_names_for_a_notebook_nothing_happens(monkeypatch):
    monkeypatch.delattr(MaterialComponent, "_bundle_css")
    get_model = MaterialComponent._get_model
    with widgets_from("here.js", "here.css"):
        assert MaterialComponent._get_model is get_model


def painted() -> tuple[LivePlot, Document]:
    """A plot on a page, and the page's document."""
    plot, document = LivePlot({"curve": hv.Curve([(0, 0)], "x", "y")}), Document()
    plot.paint({"curve": {"x": np.arange(3.0), "y": np.arange(3.0)}}, y=(0, 2))
    document.add_root(pn.Column(plot).get_root(document))
    return plot, document


def shown(document: Document) -> list[float]:
    """The curve's values on the page, and the upper limit of its axis."""
    (drawn,) = document.roots[0].select({"type": figure})
    return [*drawn.renderers[0].data_source.data["y"], drawn.y_range.end]


def test_a_plot_shows_what_was_painted_before_it_was_drawn_and_after():
    plot, document = painted()
    assert shown(document) == [0, 1, 2, 2]
    plot.paint({"curve": {"x": np.arange(2.0), "y": np.array([5.0, 6.0])}}, y=(0, 6))
    repaint(plot)
    assert shown(document) == [5, 6, 6]
    assert len(shown_plots(plot)) == 1


def test_without_panels_plots_it_is_drawn_anew(monkeypatch):
    plot, document = painted()
    monkeypatch.setattr("explorer.views.parts.live_plot.shown_plots", lambda pane: None)
    plot.paint({"curve": {"x": np.arange(2.0), "y": np.array([5.0, 6.0])}}, y=(0, 6))
    repaint(plot)
    assert shown(document) == [5, 6, 6]
    assert plot.built
    assert shown_plots(SimpleNamespace()) is None


@pytest.mark.parametrize("gone", [False, True])
def test_a_text_changes_with_and_without_panels_names(monkeypatch, gone):
    pane = HtmlText("<b>one</b>")
    model = pane.get_root()
    if gone:
        updated = []
        monkeypatch.setattr(pane, "_get_properties", lambda document: {})
        monkeypatch.setattr(pn.pane.HTML, "_update", lambda self, ref, model: updated.append(self.object))
    sheets = model.stylesheets
    pane.object = "<b>two</b>"
    assert updated == ["<b>two</b>"] if gone else "two" in model.text
    assert model.stylesheets is sheets or gone


def test_what_comes_from_the_browser_is_not_sent_back_to_it():
    """Nor is it kept from Python while Panel holds its own changes back."""
    document, model = Document(), pmui.Switch().get_root().data
    document.add_root(model)
    browser_first(document)
    heard, sent = [], []
    model.on_change("value", lambda name, old, new: heard.append(new))
    document.on_change(lambda event: sent.append(event.setter))
    document.hold()
    document.apply_json_patch(
        {"events": [{"kind": "ModelChanged", "model": {"id": model.id}, "attr": "value", "new": True}]},
        setter="browser",
    )
    assert (heard, sent) == ([True], ["browser"])  # Bokeh's session leaves out what has itself as its setter
    model.value = False
    assert len(sent) == 1
    document.unhold()
    assert sent == ["browser", None]


def test_what_a_closed_page_did_not_take_is_let_go_of():
    """To a connection that closed in the middle of a message, Panel must not try to send the next ones for ever."""

    class Connection:
        protocol = Protocol()
        _socket = SimpleNamespace(write_lock=Lock())

    async def visit() -> list[int]:
        document, connection = Document(), Connection()
        Application(FunctionHandler(lambda document: None)).initialize_document(document)
        await connection._socket.write_lock.acquire()  # and nobody will release it
        schedule_write_events(document, [connection], [TitleChangedEvent(document, "new")])
        await asyncio.sleep(0.05)
        trying = len(asyncio.all_tasks()) - 1
        document.destroy(None)
        await asyncio.sleep(0.05)
        return [trying, len(asyncio.all_tasks()) - 1]

    with ThreadPoolExecutor() as own_thread:  # in this one a browser's loop may be running
        assert own_thread.submit(lambda: asyncio.run(visit())).result() == [1, 0]
