"""In a Jupyter notebook: everything the browser needs comes from the Jupyter server, nothing from the internet.

Left to themselves, Panel and Panel Material UI fetch scripts and styles from a content delivery network there; in a
lecture hall without a connection a cell would stay empty. Panel can put its own files into the notebook. Those of
Panel Material UI it would put there once for each widget, 40 MB for a view; but Panel's extension of the Jupyter
server, which installs itself, serves them.
"""

import json
import os
from pathlib import Path

from panel_material_ui.base import MaterialComponent

#: Where Panel's extension of the Jupyter server has the files of a widget's class.
_FILES = "panel-preview/components/panel_material_ui.base/MaterialComponent"
_BUNDLE = "dist/panel-material-ui.bundle"


def load() -> None:
    """Make this kernel's notebook ready; does nothing outside of a Jupyter server."""
    base = _base_url()
    if base is None:
        return
    os.environ["PANEL_INLINE"] = "true"
    files = base + _FILES
    local = {
        "bundle": "url",
        "esm": f"{files}/_bundle_path/{_BUNDLE}.js",
        "css_bundle": f"{files}/_bundle_css/{_BUNDLE}.css",
    }
    get_model = MaterialComponent._get_model

    def get_local_model(self, doc, *args, **options):
        model = get_model(self, doc, *args, **options)
        if doc.session_context is None:
            model.update(**local)
        return model

    MaterialComponent._get_model = get_local_model
    MaterialComponent._bundle_css = []  # each widget brings it


def _base_url() -> str | None:
    """Where the Jupyter server that started this kernel has its root; None if there is no such server."""
    parent = os.environ.get("JPY_PARENT_PID")
    try:
        get_ipython()  # a builtin of IPython
        from jupyter_core.paths import jupyter_runtime_dir

        return json.loads((Path(jupyter_runtime_dir()) / f"jpserver-{parent}.json").read_text())["base_url"]
    except (NameError, ImportError, OSError, ValueError, KeyError):
        return None
