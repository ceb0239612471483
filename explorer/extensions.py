"""Files of one's own that add mechanisms, families, samplers, policies or tabs to the command line and the server.

``EXPLORER_EXTENSIONS`` names Python files, separated as in ``PATH``. Each is run once in every process that works: the
command, the server, and the processes of a study. In Python, import such a file before you use what it registers::

    EXPLORER_EXTENSIONS=staircase.py explorer audit --mechanism staircase

These files are programs: whoever sets the variable runs them.
"""

import hashlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

VARIABLE = "EXPLORER_EXTENSIONS"


def load() -> None:
    """Run the files that the environment names. Raises ValueError if there is no such file."""
    for name in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        _run(name)


@cache
def _run(name: str) -> None:
    path = Path(name)
    if not path.is_file():
        raise ValueError(f"{VARIABLE} names a file that is not there: {name}")
    # A module with a name of its own, under which compiled functions find it again.
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]  # two folders may hold files of one name
    spec = importlib.util.spec_from_file_location(f"explorer_extension_{path.stem}_{place}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{VARIABLE} names a file that is no Python file: {name}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
