"""What the README shows is what happens."""

import re
import shlex
from pathlib import Path

import pytest

from explorer.cli import main

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_the_printed_table_is_the_commands_output(capsys):
    command, printed = re.search(r"\$ explorer (.*?)\n(.*?)```", README, re.DOTALL).groups()
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("code", PYTHON, ids=lambda code: code.splitlines()[-1][:30])
def test_the_python_examples_run(code, tmp_path):
    script = tmp_path / "example.py"  # in a file, as a reader would have it
    script.write_text(code, encoding="utf-8")
    exec(compile(code, str(script), "exec"), {"__name__": "example"})
