"""``environment.yml`` asks conda for what ``pyproject.toml`` asks pip for."""

import tomllib

import yaml
from packaging.requirements import Requirement
from pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: What has another name on conda-forge.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "playwright": "playwright-python"}
#: What conda-forge does not have.
ONLY_PIP = {"opendp"}


def wanted(requirements):
    """Names and bounds, with those of the project's own extras in their place."""
    found = {}
    for text in requirements:
        requirement = Requirement(text)
        if requirement.name == PROJECT["name"]:
            for extra in sorted(requirement.extras):
                found |= wanted(PROJECT["optional-dependencies"][extra])
        else:
            found[requirement.name] = requirement.specifier
    return found


def test_conda_installs_what_pip_would():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["channels"] == ["conda-forge"]
    listed = [entry for entry in environment["dependencies"] if isinstance(entry, str) and entry != "pip"]
    (by_pip,) = (entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    *by_pip, project = by_pip
    assert project == "--editable ."
    everything = wanted([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]])
    by_conda = {name: bounds for name, bounds in everything.items() if name not in ONLY_PIP}
    python = {"python": Requirement(f"python{PROJECT['requires-python']}").specifier}
    assert wanted(listed) == python | {CONDA_NAMES.get(name, name): bounds for name, bounds in by_conda.items()}
    assert wanted(by_pip) == {name: everything[name] for name in ONLY_PIP}
