"""``explorer collect``: a file's people answer once, and what is printed and written holds nobody's value."""

import csv
import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from fuzz.command_line import ended

from explorer.cli import main
from explorer.commands.collect import _input
from explorer.io.answer_file import HEADER, AnswerFile

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


# Nothing that was answered is lost


SETTINGS = ["--column", "income", "--expect", "0", "10000", "--particles", "50"]


def rows_of(path) -> list[dict]:
    with path.open() as file:
        return list(csv.DictReader(file))


def started(people, out, *more, **options) -> subprocess.Popen:
    """``explorer collect`` in a process of its own, which hears SIGINT even if these tests run in the background."""
    command = [sys.executable, "-m", "explorer", *collect(people, *SETTINGS, "--out", str(out), *more)]
    options = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.default_int_handler)} | options
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def write_progress(out, people, **more) -> None:
    """As if the collection had been killed: the file that says how to go on is there."""
    settings = {"epsilon": 4.0, "mechanism": "piecewise", "delta": 1e-5, "family": "normal", "df": None, "score": "mu"}
    settings |= {"expect": [0.0, 10000.0], "rows": 500, "column": "income", "input": _input(people)} | more
    text = json.dumps({"format": "explorer collection 1", "settings": settings})
    out.with_name(f"{out.name}.progress").write_text(text)


def wait_for_answers(out, count: int) -> None:
    for _ in range(600):
        if out.exists() and out.read_text().count("\n") > count:
            return
        time.sleep(0.05)
    raise AssertionError("no answers")


@pytest.fixture
def many(tmp_path):
    """So many people that there is time to interrupt."""
    path = tmp_path / "many.csv"
    path.write_text("income\n" + "".join(f"{value:.9f}\n" for value in np.tile(VALUES, 16)))
    return path


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_what_was_answered_survives_a_signal_and_the_rest_is_asked_later(many, tmp_path, number):
    out = tmp_path / "answers.csv"
    process = started(many, out)
    wait_for_answers(out, 30)
    process.send_signal(number)
    told, complaints = process.communicate(timeout=30)
    before = rows_of(out)
    assert 30 <= len(before) < 8000
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert f"{len(before)} of 8000 people were asked" in told
        assert complaints == f"explorer collect: stopped by {number.name}; --resume goes on with {out}\n"
    again = started(many, out, "--resume")
    wait_for_answers(out, len(before) + 30)
    again.send_signal(signal.SIGTERM)
    again.communicate(timeout=30)
    after = rows_of(out)
    assert len(after) > len(before)
    complete = len(before) - (number == signal.SIGKILL)  # the last row may have been cut off after its answer
    assert [row["y"] for row in after[: len(before)]] == [row["y"] for row in before]
    assert after[:complete] == before[:complete]
    assert [int(row["t"]) for row in after] == list(range(1, len(after) + 1))


def test_those_who_answered_are_not_asked_again(people, tmp_path, monkeypatch, capsys):
    """Everybody is asked once, in all parts of a collection together."""
    from explorer.engine.mechanisms import Piecewise

    asked, release = [], Piecewise.release

    def watched(self, x, interval, rng):
        if float(x) != interval.midpoint:  # the trial of nobody's value
            asked.append(float(x))
        if len(asked) == 200 and not broken:
            broken.append(True)
            os.kill(os.getpid(), signal.SIGTERM)
        return release(self, x, interval, rng)

    broken = []
    monkeypatch.setattr(Piecewise, "release", watched)
    out = tmp_path / "answers.csv"
    assert main(collect(people, *SETTINGS, "--out", str(out))) == 143
    assert len(asked) == 200
    assert main(collect(people, *SETTINGS, "--out", str(out), "--resume")) == 0
    assert sorted(asked) == sorted(VALUES.tolist())
    assert len(rows_of(out)) == 500
    assert sorted(os.listdir(tmp_path)) == ["answers.csv", "people.csv"]  # nothing to go on with is left
    capsys.readouterr()
    assert main(collect(people, *SETTINGS, "--out", str(out), "--resume")) == 2
    assert "is complete: there is nobody left to ask" in capsys.readouterr().err


def test_a_full_disk_stops_the_questions_and_loses_no_answer(many, tmp_path):
    out = tmp_path / "answers.csv"
    limit = 20_000
    process = started(many, out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    told, complaints = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "cannot be written: File too large" in complaints
    assert complaints.count("\n") == 1
    asked = int(told.split(" of 8000 people were asked")[0].split()[-1])
    on_disk = len(rows_of(out))
    assert asked - 1 <= on_disk <= asked + 1
    assert "answer " not in complaints  # what is not in the file was shown to nobody


def test_a_disk_that_is_full_from_the_start_asks_nobody(many, tmp_path):
    out = tmp_path / "answers.csv"
    process = started(many, out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50)))
    told, complaints = process.communicate(timeout=60)
    assert process.returncode == 2
    assert told == ""
    assert "cannot be written: File too large" in complaints
    assert os.listdir(tmp_path) == ["many.csv"]


def test_files_beside_out_are_left_alone(people, tmp_path, capsys):
    out, beside = tmp_path / "answers.csv", tmp_path / "answers.csv.progress"
    beside.write_text("precious")
    assert main(collect(people, *SETTINGS, "--out", str(out))) == 2
    assert beside.read_text() == "precious"
    assert not out.exists()
    beside.write_bytes(people.read_bytes())
    assert main(collect(beside, *SETTINGS, "--out", str(out), "--force")) == 2
    assert "must not be the file that is read" in capsys.readouterr().err
    assert beside.read_bytes() == people.read_bytes()


@pytest.mark.parametrize("cut", [1, 5, 12, 30, 60, 100])
def test_a_file_that_was_cut_off_anywhere_is_continued(people, tmp_path, cut, capsys):
    out = tmp_path / "answers.csv"
    assert main(collect(people, *SETTINGS, "--most", "20", "--out", str(out))) == 0
    complete = out.read_text()
    whole = rows_of(out)
    write_progress(out, people, most=20, order=5)
    out.write_text(complete[:-cut])
    assert main(collect(people, *SETTINGS, "--most", "20", "--out", str(out), "--resume")) == 0
    again = rows_of(out)
    assert len(again) == 20
    assert [row["y"] for row in again[:19]] == [row["y"] for row in whole[:19]]
    capsys.readouterr()


def test_nothing_is_overwritten_unasked(people, tmp_path, capsys):
    out = tmp_path / "answers.csv"
    before = people.read_bytes()
    assert main(collect(people, *SETTINGS, "--out", str(people))) == 2
    assert main(collect(people, *SETTINGS, "--out", str(people), "--force")) == 2
    assert "--out must not be the file that is read" in capsys.readouterr().err
    (tmp_path / "link.csv").symlink_to(people)
    assert main(collect(people, *SETTINGS, "--out", str(tmp_path / "link.csv"), "--force")) == 2
    assert people.read_bytes() == before
    out.write_text("somebody's notes\n")
    for force in ([], ["--force"]):
        assert main(collect(people, *SETTINGS, "--out", str(out), *force)) == 2
        assert "exists" in capsys.readouterr().err
    assert out.read_text() == "somebody's notes\n"
    out.write_text(",".join(HEADER) + "\n1,2,3\n")
    assert main(collect(people, *SETTINGS, "--out", str(out), "--most", "5")) == 2
    assert main(collect(people, *SETTINGS, "--out", str(out), "--most", "5", "--force")) == 0
    assert len(rows_of(out)) == 5


@pytest.mark.parametrize("width", ["nan", "-1", "0", "inf"])
def test_a_width_is_a_positive_number(people, capsys, width):
    assert ended(collect(people, *SETTINGS, "--width", width)) == 2
    assert "must be a finite number" in capsys.readouterr().err


def test_resuming_with_other_settings_is_refused(people, tmp_path, capsys):
    out = tmp_path / "answers.csv"
    AnswerFile.create(out, {"epsilon": 1.0, "order": 3}).close(finished=False)
    assert main(collect(people, *SETTINGS, "--out", str(out), "--resume")) == 2
    assert "was begun with epsilon 1.0, not 4.0" in capsys.readouterr().err
    (tmp_path / "answers.csv.progress").write_text("[" * 10_000)
    assert main(collect(people, *SETTINGS, "--out", str(out), "--resume")) == 2
    assert "answers.csv.progress is damaged" in capsys.readouterr().err
    assert main(collect(people, *SETTINGS, "--resume")) == 2
    assert "--resume needs --out" in capsys.readouterr().err


@pytest.mark.parametrize("order", [{}, {"order": None}, {"order": "3"}, {"order": True}, {"order": -1}])
def test_without_the_order_nobody_is_asked(people, tmp_path, monkeypatch, capsys, order):
    """In another order, some would be asked twice."""
    from explorer.engine.mechanisms import Piecewise

    out = tmp_path / "answers.csv"
    asked = []
    assert main(collect(people, *SETTINGS, "--most", "3", "--out", str(out))) == 0
    write_progress(out, people, most=10_000, **order)
    monkeypatch.setattr(Piecewise, "release", lambda self, x, interval, rng: asked.append(x) or interval.midpoint)
    capsys.readouterr()
    assert main(collect(people, *SETTINGS, "--out", str(out), "--resume")) == 2
    assert "is damaged" in capsys.readouterr().err
    assert [x for x in asked if x in VALUES] == []


def test_a_terminal_that_is_gone_does_not_end_a_collection(people, tmp_path):
    out = tmp_path / "answers.csv"
    closed = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "explorer"]
    command = [*closed, *collect(people, *SETTINGS, "--most", "20", "--out", str(out))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 0
    assert f"Wrote {out}" in done.stdout
    assert len(rows_of(out)) == 20


def test_two_collections_do_not_go_on_with_one_file(people, tmp_path, capsys):
    out = tmp_path / "answers.csv"
    first = AnswerFile.create(out, {"order": 3})
    with pytest.raises(ValueError, match="is being written by another collection"):
        AnswerFile.resume(out, {})
    assert main(collect(people, *SETTINGS, "--out", str(out), "--force")) == 2
    assert "is being written by another collection" in capsys.readouterr().err
    first.close(finished=False)
    assert rows_of(out) == []


def test_an_out_that_cannot_be_written_is_told_before_anybody_is_asked(people, tmp_path, monkeypatch, capsys):
    from explorer.engine.mechanisms import Piecewise

    monkeypatch.setattr(Piecewise, "_quantile", None)
    (tmp_path / "folder.csv").mkdir()
    assert main(collect(people, *SETTINGS, "--out", str(tmp_path / "folder.csv"))) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "folder.csv cannot be written: it is a folder" in told.err


@pytest.mark.parametrize("first", ["73 913", "€73913", "73913k", "0x73913", "73.913,00", "~73913", "73913 EUR"])
@pytest.mark.parametrize("below", ["", "\n52000\n61000", "\n$52,000\n61 000"])
def test_a_first_value_is_not_taken_for_a_name(tmp_path, capsys, first, below):
    path = tmp_path / "numbers.csv"
    path.write_text(f'"{first}"{below}\n', encoding="utf-8")
    code = main(collect(path, "--expect", "0", "100000"))
    told = capsys.readouterr()
    assert code == 2
    assert first not in told.out + told.err
    assert "913" not in told.err
    if "--first-row" in told.err:
        assert main(collect(path, "--expect", "0", "100000", "--first-row", "names")) == (
            0 if "$" not in below and below else 2
        )


# What else may be where the files are


@pytest.fixture
def few(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("income\n" + "".join(f"{value:.9f}\n" for value in VALUES[:30]))
    return path


@pytest.fixture
def at_once():
    """Whoever waits for the other end of a pipe waits for ever."""

    def too_late(number, frame):
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def watch(monkeypatch, *stops: int) -> list[float]:
    """The values that are asked; when there are as many as one of ``stops``, SIGTERM comes."""
    from explorer.engine.mechanisms import Piecewise

    asked, release = [], Piecewise.release

    def watched(self, x, interval, rng):
        if float(x) in VALUES:  # and not the trial of nobody's value
            asked.append(float(x))
            if len(asked) in stops:
                os.kill(os.getpid(), signal.SIGTERM)
        return release(self, x, interval, rng)

    monkeypatch.setattr(Piecewise, "release", watched)
    return asked


def test_force_replaces_no_progress_of_others(few, tmp_path, monkeypatch, capsys):
    asked, out, beside = watch(monkeypatch), tmp_path / "out.csv", tmp_path / "out.csv.progress"
    beside.write_text("precious")
    assert main(collect(few, *SETTINGS, "--out", str(out), "--force")) == 2
    assert "out.csv.progress exists" in capsys.readouterr().err
    assert beside.read_text() == "precious"
    assert not out.exists()
    assert asked == []


def test_where_progress_is_a_folder_old_answers_are_kept(few, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.csv"
    assert main(collect(few, *SETTINGS, "--most", "3", "--out", str(out))) == 0
    before, asked = out.read_bytes(), watch(monkeypatch)
    (tmp_path / "out.csv.progress").mkdir()
    assert main(collect(few, *SETTINGS, "--out", str(out), "--force")) == 2
    assert "out.csv.progress exists" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert asked == []
    assert sorted(os.listdir(tmp_path)) == ["few.csv", "out.csv", "out.csv.progress"]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("how", ["--force", "--resume"])
def test_a_pipe_is_no_file_of_answers(few, tmp_path, monkeypatch, how):
    asked, out = watch(monkeypatch), tmp_path / "out.csv"
    os.mkfifo(out)
    assert main(collect(few, *SETTINGS, "--out", str(out), how)) == 2
    out.unlink()
    out.write_text(",".join(HEADER) + "\n")
    os.mkfifo(tmp_path / "out.csv.progress")
    assert main(collect(few, *SETTINGS, "--out", str(out), how)) == 2
    assert out.read_text() == ",".join(HEADER) + "\n"
    assert asked == []


def test_a_link_and_what_it_points_to_are_one_collection(few, tmp_path, monkeypatch):
    asked, out, link = watch(monkeypatch, 10, 25), tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(out)
    assert main(collect(few, *SETTINGS, "--out", str(out))) == 143
    assert main(collect(few, *SETTINGS, "--out", str(link), "--force")) == 143
    assert len(asked) == 25
    assert main(collect(few, *SETTINGS, "--out", str(out), "--resume")) == 0
    assert sorted(asked[10:]) == sorted(VALUES[:30])
    assert sorted(os.listdir(tmp_path)) == ["few.csv", "link.csv", "real.csv"]
    assert link.is_symlink()


def test_who_answered_cannot_be_told_in_a_file_that_was_sorted(few, tmp_path, monkeypatch, capsys):
    asked, out = watch(monkeypatch, 10), tmp_path / "out.csv"
    assert main(collect(few, *SETTINGS, "--out", str(out))) == 143
    before = out.read_bytes()
    name, *values = few.read_text().splitlines()
    few.write_text("\n".join([name, *sorted(values)]) + "\n")
    capsys.readouterr()
    assert main(collect(few, *SETTINGS, "--out", str(out), "--resume")) == 2
    assert "was begun with input of" in capsys.readouterr().err
    assert (len(asked), out.read_bytes()) == (10, before)


def test_a_disk_that_fails_at_the_very_end_leaves_a_collection_to_go_on_with(few, tmp_path, monkeypatch, capsys):
    asked, out, known, rows = watch(monkeypatch), tmp_path / "out.csv", AnswerFile.known, []

    def full(self, values):
        rows.append(values)
        if len(rows) == 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        known(self, values)

    with monkeypatch.context() as patch:
        patch.setattr(AnswerFile, "known", full)
        assert main(collect(few, *SETTINGS, "--most", "5", "--out", str(out))) == 1
    assert "No space left on device; --resume goes on" in capsys.readouterr().err
    assert (tmp_path / "out.csv.progress").exists()
    before = [row["y"] for row in rows_of(out)]
    assert main(collect(few, *SETTINGS, "--most", "5", "--out", str(out), "--resume")) == 0
    assert [row["y"] for row in rows_of(out)] == before
    assert all(row["mu_50%"] and row["sigma_97.5%"] for row in rows_of(out))
    assert len(asked) == len(before) == 5
    assert not (tmp_path / "out.csv.progress").exists()


@pytest.mark.parametrize("how", ["--resume", "--force"])
@pytest.mark.parametrize("length", [0, 7, len(",".join(HEADER))])
def test_what_was_killed_before_its_first_line_was_complete_is_begun_again(few, tmp_path, monkeypatch, length, how):
    asked, out = watch(monkeypatch, 1), tmp_path / "out.csv"
    assert main(collect(few, *SETTINGS, "--out", str(out))) == 143
    out.write_text(",".join(HEADER)[:length])
    assert main(collect(few, *SETTINGS, "--out", str(out))) == 2
    assert main(collect(few, *SETTINGS, "--out", str(out), how)) == 0
    assert sorted(asked[1:]) == sorted(VALUES[:30])
    assert [int(row["t"]) for row in rows_of(out)] == list(range(1, 31))


def test_a_signal_that_is_ignored_from_the_start_stops_nobody(many, tmp_path):
    """As in a script that nohup has started."""
    out = tmp_path / "answers.csv"
    process = started(many, out, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    wait_for_answers(out, 30)
    process.send_signal(signal.SIGINT)
    wait_for_answers(out, len(rows_of(out)) + 50)
    process.send_signal(signal.SIGTERM)
    _, complaints = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "stopped by SIGTERM" in complaints
