"""The teaching notebooks: each runs from a clean kernel, with its solutions, and says nothing that it should not."""

import os
import re
from pathlib import Path

import nbclient
import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
pytestmark = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def solutions(notebook) -> list[str]:
    """The Python code in the exercises' solutions."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return [code for text in texts for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL)]


def test_it_runs_with_its_solutions_and_without_a_warning(path, tmp_path, monkeypatch):
    monkeypatch.setitem(os.environ, "IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    assert len(solutions(notebook)) >= 2
    notebook.cells += [nbformat.v4.new_code_cell(code) for code in solutions(notebook)]
    where = {"metadata": {"path": tmp_path}}
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    for output in outputs:
        assert output.output_type != "error"
        assert output.get("name") != "stderr", output.text
        assert "Warning" not in str(output.get("text", ""))


def test_it_is_committed_without_output(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_its_formulas_stand_alone_so_that_every_reader_renders_them(path):
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            assert "$" not in re.sub(r"^\$\$.*?\$\$$", "", cell.source, flags=re.DOTALL | re.MULTILINE)
