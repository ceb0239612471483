"""The public names as a type checker sees them; ``python run.py test`` runs mypy itself before the tests."""

import inspect
import subprocess
import sys
from pathlib import Path

import public_names
import pytest

import explorer as ex

ROOT = Path(__file__).resolve().parents[1]


def test_the_stub_is_made_from_the_one_list_of_names():
    assert public_names.STUB.read_text(encoding="utf-8") == public_names.stub(), "run python tests/public_names.py"


def test_the_package_says_that_it_has_types():
    assert (ROOT / "explorer" / "py.typed").exists()


@pytest.mark.parametrize("name", [name for name in ex.__all__ if inspect.isfunction(getattr(ex, name))])
def test_public_functions_say_what_they_return(name):
    assert "return" in inspect.unwrap(getattr(ex, name)).__annotations__


def test_a_wrong_use_is_found(tmp_path):
    """The checks of tests/type_checks have teeth: the opposite of one of them is an error."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import explorer as ex\nwidth: str = ex.best_interval(1.0).a\n", encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), str(wrong)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert 'has type "float", variable has type "str"' in told
    assert told.rstrip().endswith("Found 1 error in 1 file (checked 1 source file)")
