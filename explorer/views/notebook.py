"""In a Jupyter notebook: everything the browser needs comes from the Jupyter server, nothing from the internet.

Left to themselves, Panel and Panel Material UI fetch scripts and styles from a content delivery network there; in a
lecture hall without a connection a cell would stay empty. Panel can put its own files into the notebook. Those of
Panel Material UI it would put there once for each widget, 40 MB for a view; but Panel's extension of the Jupyter
server, which installs itself, serves them.
"""

import contextlib
import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import panel as pn
from panel_material_ui.base import MaterialComponent

#: Where Panel's extension of the Jupyter server has the files of a widget's class.
_FILES = "panel-preview/components/panel_material_ui.base/MaterialComponent"
_BUNDLE = "dist/panel-material-ui.bundle"
_SCRIPT, _STYLE = f"{_FILES}/_bundle_path/{_BUNDLE}.js", f"{_FILES}/_bundle_css/{_BUNDLE}.css"


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """While Panel's extension is loaded: makes it, and all widgets from then on, ask the Jupyter server alone.

    Does nothing outside of a Jupyter server, or if that does not have the files.
    """
    base = _base_url()
    if base is None:
        yield
        return
    type(pn.config)._inline = True
    get_model = MaterialComponent._get_model

    def get_local_model(self, doc, root=None, parent=None, comm=None):
        model = get_model(self, doc, root, parent, comm)
        if comm is not None:  # for a cell, and not for a file or a server of its own
            model.update(bundle="url", esm=base + _SCRIPT, css_bundle=base + _STYLE)
        return model

    MaterialComponent._get_model = get_local_model
    style = MaterialComponent.__dict__["_bundle_css"]
    MaterialComponent._bundle_css = []  # each widget brings it
    try:
        yield
    finally:
        type.__setattr__(MaterialComponent, "_bundle_css", style)


def _base_url() -> str | None:
    """Where the Jupyter server that started this kernel has its root; None if there is none that has the files."""
    try:
        get_ipython()  # a builtin of IPython
        from jupyter_core.paths import jupyter_runtime_dir

        server = json.loads((Path(jupyter_runtime_dir()) / f"jpserver-{os.environ['JPY_PARENT_PID']}.json").read_text())
        with urllib.request.urlopen(server["url"] + _SCRIPT, timeout=5) as answer:
            same = len(answer.read()) == Path(MaterialComponent._bundle_path).stat().st_size
        return server["base_url"] if same else None
    except (NameError, ImportError, OSError, ValueError, KeyError):
        return None
