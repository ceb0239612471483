"""Files of one's own that add mechanisms, families, policies or tabs, for the command line and for the server.

``EXPLORER_EXTENSIONS`` names Python files, separated as in ``PATH``. Each is run once in every process that works: the
command, the server, and the processes of a study. In Python, import such a file before you use what it registers::

    EXPLORER_EXTENSIONS=staircase.py explorer audit --mechanism staircase

These files are programs: whoever sets the variable runs them.
"""

import os
import runpy
from functools import cache
from pathlib import Path

VARIABLE = "EXPLORER_EXTENSIONS"


def load() -> None:
    """Run the files that the environment names. Raises ValueError if there is no such file."""
    for name in filter(None, os.environ.get(VARIABLE, "").split(os.pathsep)):
        _run(name)


@cache
def _run(name: str) -> None:
    if not Path(name).is_file():
        raise ValueError(f"{VARIABLE} names a file that is not there: {name}")
    runpy.run_path(name, run_name=Path(name).stem)
