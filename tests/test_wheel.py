"""What is installed from the built wheel, far from this folder: the command, the app, and the lessons."""

import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WINDOWS = os.name == "nt"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from a copy, so that nothing is left behind in this folder."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("explorer", "notebooks"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, source)
    pip("wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(target), str(source))
    (built,) = target.glob("*.whl")
    return built


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The command, in an environment that has what Explorer needs and nothing of this folder."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    programs = folder / ("Scripts" if WINDOWS else "bin")
    pip("--python", str(programs / "python"), "install", "--no-deps", "--no-index", str(wheel))
    # What it needs is taken from the environment of the tests, instead of being downloaded. A folder that is named in
    # a .pth file is searched, but its own .pth files, that of an editable Explorer among them, are not read.
    paths = {"base": str(folder), "platbase": str(folder)}
    site_packages = Path(sysconfig.get_path("purelib", "venv", paths))
    others = dict.fromkeys(path for path in sys.path if Path(path).name in ("site-packages", "dist-packages"))
    (site_packages / "needed.pth").write_text("\n".join(others) + "\n", encoding="utf-8")
    return programs / ("explorer.exe" if WINDOWS else "explorer")


@pytest.fixture(autouse=True)
def far_away(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_has_the_lessons_and_all_that_is_not_python(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / "explorer").rglob("*") if path.is_file()}
    shipped = {name for name in shipped if "__pycache__" not in name}
    lessons = {f"explorer/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert len(lessons) >= 6
    packed = {name for name in names if name.startswith("explorer/")}
    assert packed == shipped | lessons


def test_the_command_works_and_is_the_installed_one(installed):
    version = run(str(installed), "--version")
    assert f'version = "{version.split()[1]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    where = run(str(installed.with_name("python")), "-c", "import explorer; print(explorer.__file__)")
    assert Path(where.strip()).is_relative_to(installed.parents[1])
    assert "0.108872" in run(str(installed), "fisher", "--epsilon", "1")


def test_the_app_and_a_lesson_are_served(installed, serving, tmp_path):
    with serving(tmp_path / "log", "--notebooks", explorer=(str(installed),)) as (address, _):
        for page in ("", "1_privacy_by_noise"):
            with urllib.request.urlopen(address + page, timeout=120) as answer:
                assert answer.status == 200
                assert b"bokeh" in answer.read()
    assert "Traceback" not in (tmp_path / "log").read_text()
