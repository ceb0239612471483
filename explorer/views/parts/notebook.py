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
from importlib.resources import files
from pathlib import Path

import panel as pn

from explorer.views.parts.panel_workarounds import widgets_from

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
    pn.config.inline = True
    with widgets_from(base + _SCRIPT, base + _STYLE):
        yield


def _base_url() -> str | None:
    """Where the Jupyter server that started this kernel has its root; None if there is none that has the files."""
    try:
        get_ipython()  # a builtin of IPython
        from jupyter_core.paths import jupyter_runtime_dir

        server = json.loads((Path(jupyter_runtime_dir()) / f"jpserver-{os.environ['JPY_PARENT_PID']}.json").read_text())
        with urllib.request.urlopen(server["url"] + _SCRIPT, timeout=5) as answer:
            same = answer.read() == (files("panel_material_ui") / f"{_BUNDLE}.js").read_bytes()
        return server["base_url"] if same else None
    except (NameError, ImportError, OSError, ValueError, KeyError):
        return None
