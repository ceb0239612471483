"""``environment.yml`` asks conda-forge for what ``pyproject.toml`` asks of PyPI."""

import re
import tomllib
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Packages that conda-forge splits or names otherwise.
NAMES = {"matplotlib": ["matplotlib-base"], "dask[distributed]": ["dask", "distributed"]}


def wanted() -> dict[str, str]:
    """Name and bounds of all that the project and its extras need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = {}
    for line in chain(project["dependencies"], *project["optional-dependencies"].values()):
        name, bounds = re.fullmatch(r"([\w.-]+(?:\[[\w,]+\])?)(.*)", line).groups()
        if not name.startswith("explorer["):
            found |= dict.fromkeys(NAMES.get(name, [name]), bounds)
    return found | {"python": project["requires-python"]}


def test_both_files_name_the_same_packages_with_the_same_bounds():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^ +- ([a-z][\w.-]*)([<>=].*)$", text, re.MULTILINE))
    assert listed == wanted()
