"""``explorer collect``: a file's people answer once, and what is printed and written holds nobody's value."""

import csv
import json

import numpy as np
import pytest

from explorer.cli import main

VALUES = np.round(np.random.default_rng(5).normal(5000, 400, 500), 9)


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = "".join(f"p{k};{value:.9f}\n".replace(".", ",") for k, value in enumerate(VALUES))
    path.write_text(f"name;income\n{rows}nobody;\n", encoding="utf-8")
    return path


def collect(path, *arguments) -> list[str]:
    return ["collect", "--csv", str(path), "--epsilon", "4", "--mechanism", "piecewise", *arguments]


def test_the_private_estimate_of_a_column(people, capsys, tmp_path):
    out = tmp_path / "answers.csv"
    settings = ["--column", "income", "--expect", "0", "10000", "--width", "2000", "--particles", "500"]
    assert main(collect(people, *settings, "--out", str(out))) == 0
    told = capsys.readouterr()
    assert "Commas were read as decimal commas." in told.out
    assert "1 empty cells were left out." in told.out
    assert "A 95 % interval of mu of width 2000 took " in told.out
    assert "Without privacy" not in told.out
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 500
    last = rows[-1]
    assert float(last["mu_2.5%"]) - 100 < 5000 < float(last["mu_97.5%"]) + 100
    everything = told.out + told.err + out.read_text()
    assert not [value for value in VALUES if f"{value:.9f}" in everything or repr(float(value)) in everything]


def test_json_and_public_data(people, capsys):
    settings = ["--column", "income", "--expect", "0", "10000", "--most", "100", "--public", "--json"]
    assert main(collect(people, *settings)) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["people"], found["rows"], found["missing"]) == (100, 500, 1)
    assert found["mu"]["0.025"] < found["mu"]["0.5"] < found["mu"]["0.975"]
    assert found["without_privacy"]["mu"] == pytest.approx(VALUES.mean())
    assert found["people_needed"] is None


def test_the_first_row_may_be_a_persons(tmp_path, capsys):
    path = tmp_path / "numbers.csv"
    path.write_text("50\n60\n70\n")
    for said, people in (("auto", 3), ("person", 3), ("names", 2)):
        assert main(collect(path, "--expect", "0", "100", "--first-row", said, "--json")) == 0
        assert json.loads(capsys.readouterr().out)["people"] == people


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--expect", "0", "1"], "--column must be one of 'name', 'income'"),
        (["--expect", "0", "1", "--column", "name"], "column 'name' has 501 cells (the first in row 1) that are not"),
        (["--expect", "0", "1", "--column", "wages"], "has no column 'wages'"),
        (["--expect", "1", "0", "--column", "income"], "low must be below high"),
        (["--expect", "0", "1", "--column", "income", "--most", "0"], "most must be a whole number of at least 1"),
        (["--expect", "0", "1", "--column", "income", "--out", "x.txt"], "--out must end in .csv"),
        (["--expect", "0", "1", "--column", "income", "--out", "no/where.csv"], "there is no such folder"),
        (["--expect", "0", "1", "--column", "income", "--epsilon", "-1"], "epsilon must be a finite number above 0"),
    ],
)
def test_a_mistake_is_one_line_and_nobody_is_asked(people, capsys, arguments, message):
    assert main(collect(people, *arguments)) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert message in told.err


def test_without_opendp_it_says_what_to_install(people, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    settings = ["--column", "income", "--expect", "0", "10000", "--mechanism", "laplace"]
    assert main(collect(people, *settings)) == 2
    assert "pip install 'explorer[opendp]'" in capsys.readouterr().err
