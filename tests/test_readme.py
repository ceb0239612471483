"""What the README shows is what happens."""

import re
import shlex
from pathlib import Path
from runpy import run_path

import pytest

from explorer.cli import main

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


SHOWN = dict(re.findall(r"\$ explorer (.*?)\n(.*?)```", README, re.DOTALL))


def printed_by(command, capsys, code=0):
    assert main(shlex.split(command)) == code
    return capsys.readouterr().out


def test_the_printed_table_is_the_commands_output(capsys):
    (command,) = (command for command in SHOWN if command.startswith("fisher"))
    assert printed_by(command, capsys) == SHOWN[command]


def test_the_printed_audit_is_the_commands_output(capsys):
    (command,) = (command for command in SHOWN if command.startswith("audit"))
    assert printed_by(command, capsys, code=1) == SHOWN[command]


def test_the_printed_run_is_one_like_it(capsys):
    """Another processor may round otherwise and so, in the end, accept another particle: the same story, not digits."""
    (command,) = (command for command in SHOWN if command.startswith("simulate"))
    here, there = (text.splitlines() for text in (printed_by(command, capsys), SHOWN[command]))
    assert here[:3] == there[:3]
    assert [row.split()[0] for row in here[3:]] == [row.split()[0] for row in there[3:]]
    last_here, last_there = ([float(cell) for cell in lines[-1].split()] for lines in (here, there))
    assert abs(last_here[4] - last_there[4]) < 0.3
    assert abs(last_here[7] - last_there[7]) < 0.6


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.splitlines()[-1][:30])
def test_the_python_examples_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "example.py"  # in a file, as a reader would have it
    script.write_text(code, encoding="utf-8")
    exec(compile(code, str(script), "exec"), {"__name__": "example"})


def test_the_reference_is_made_from_the_docstrings():
    docs = Path(__file__).resolve().parents[1] / "docs"
    made = run_path(str(docs / "make_reference.py"))["reference"]()
    assert made == (docs / "reference.md").read_text(encoding="utf-8"), "run python docs/make_reference.py"


def test_every_page_that_it_links_is_there():
    for link in re.findall(r"\]\(([\w./]+)\)", README):
        assert (Path(__file__).resolve().parents[1] / link).exists(), link
