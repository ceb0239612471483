"""The command line where UTF-8 is missing, as JSON, interrupted, without a reader, and with too much asked of it."""

import errno
import io
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from fuzz.command_line import ended, options_of, strict_json

import explorer as ex
from explorer.cli import main
from explorer.commands import limits
from explorer.commands.terminal import console, interruption, printing
from explorer.studies import reproduction

SMALL_STUDY = ["study", "--epsilon", "5", "--method", "adaptive", "-n", "20", "--particles", "20", "--workers", "1"]
SCRIPT = "import sys; from explorer.cli import main; print(end='started', flush=True); raise SystemExit(main())"
MODULE = "import runpy; print(end='started', flush=True); runpy.run_module('explorer', run_name='__main__')"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def people(folder):
    (folder / "people.csv").write_text("height\n" + "".join(f"{170 + k}.25\n" for k in range(9)), encoding="utf-8")
    return "people.csv"


# ---- where UTF-8 is missing

COMMANDS = {
    "fisher": ["fisher", "--epsilon", "1", "--mechanism", "gaussian", "randomized_response", "--score", "det"],
    "simulate": ["simulate", "-n", "3", "--particles", "20", "--seed", "1"],
    "study": [*SMALL_STUDY, "--replicates", "2"],
    "audit": ["audit", "--mechanism", "laplace", "--trials", "100", "--seed", "1"],
    "collect": ["collect", "--csv", "people.csv", "--epsilon", "5", "--expect", "150", "200", "--public"],
}
HELPS = [[name, "--help"] for name in ("fisher", "simulate", "study", "reproduce", "audit", "collect", "serve")]


@pytest.mark.parametrize(("encoding", "errors"), [("ascii", "strict"), ("cp1252", "strict"), ("latin-1", "replace")])
@pytest.mark.parametrize("arguments", [*COMMANDS.values(), ["--help"], *HELPS], ids=" ".join)
def test_every_command_can_print_without_utf_8(arguments, encoding, errors, people, monkeypatch):
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding, errors) for _ in range(2))
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", error)
    assert ended(arguments) == 0
    text = out.buffer.getvalue().decode(encoding)
    assert text
    assert "?" not in text.replace("app in the browser", "")
    assert "\\" not in text
    assert (out.errors, error.errors) == (errors, errors)  # whoever calls gets the streams back as they were


def test_symbols_are_spelled_out_and_columns_stay_straight(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["fisher", "--epsilon", "1", "--mechanism", "gaussian"]) == 0
    _, header, row, *told = out.buffer.getvalue().decode("ascii").splitlines()
    assert "F[mu,mu]  F[mu,sigma]  F[sigma,sigma]  of no privacy  of best epsilon-LDP" in header
    assert len(header) == len(row)
    assert told[1] == (
        "gaussian is (epsilon, delta)-private with delta = 1e-05: the best epsilon-LDP mechanism does not bound it."
    )


def test_the_table_of_the_reproduction_and_what_nobody_thought_of(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", out)
    with console.readable():
        printing.print_table(reproduction.HEADER, [["0.1 ± 0.2"] * len(reproduction.HEADER)])
        print("日本 ☆ \udcff")
        out.flush()
    header, row, rest = out.buffer.getvalue().decode("ascii").splitlines()
    assert header.split()[:5] == ["method", "epsilon", "RMSE", "mu", "sigma_mu"]
    assert "+-" in row
    assert rest == r"\u65e5\u672c \u2606 \udcff"


def test_a_file_name_that_is_not_unicode_can_be_printed(folder, monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["fisher", "--epsilon", "1", "--resolution", "3", "--surface", "\udcff.csv"]) == 0
    assert out.buffer.getvalue() == b"Wrote 3 intervals to \\udcff.csv\n"


def test_streams_of_text_take_the_symbols_as_they_are(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["fisher", "--epsilon", "1"]) == 0
    assert "F[μ,μ]" in out.getvalue()


def test_a_progress_bar_without_utf_8(monkeypatch):
    class Terminal(io.TextIOWrapper):
        def isatty(self):
            return True

    error = Terminal(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stderr", error)
    with console.readable(), printing.bar() as progress:
        progress({"method": "adaptive", "mechanism": "laplace", "epsilon": 1.0}, 1, 2)
        time.sleep(0.2)
        progress({"method": "adaptive", "mechanism": "laplace", "epsilon": 1.0}, 2, 2)
        error.flush()
    assert b"adaptive, laplace, epsilon = 1" in error.buffer.getvalue()


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C"},
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
def test_a_process_without_utf_8(environment):
    command = [sys.executable, "-m", "explorer", "simulate", "--help"]
    result = subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
    assert b"asks for mu" in result.stdout
    assert (b"mu +- 10" in result.stdout) == ("cp1252" not in environment.values())
    assert result.stderr == b""


# ---- JSON


@pytest.mark.parametrize(
    "arguments",
    [
        ["fisher", "--epsilon", "1", "--mechanism", "all", "--score", "det"],
        ["fisher", "--epsilon", "1", "--mechanism", "randomized_response", "--score", "det", "--interval", "-1", "1"],
        ["fisher", "--epsilon", "1", "--score", "mu|sigma", "--interval", "90", "91"],
        ["fisher", "--epsilon", "1", "--surface", "map.csv", "--resolution", "5"],
        ["simulate", "-n", "3", "--particles", "20", "--mu", "1e300", "--seed", "1"],
        ["simulate", "-n", "3", "--particles", "20", "--epsilon", "1e-300", "--seed", "1"],
        ["simulate", "-n", "3", "--particles", "1", "--sampler", "gradient", "--seed", "1"],
        [*SMALL_STUDY, "--replicates", "1"],
        [*SMALL_STUDY, "--replicates", "2", "--prior-draws"],
        [*SMALL_STUDY, "--replicates", "1", "--mechanism", "gaussian", "--family", "student_t", "normal"],
        ["audit", "--trials", "100", "--seed", "1"],
        ["audit", "--as-coded", "--trials", "100", "--seed", "1"],
        ["collect", "--csv", "people.csv", "--epsilon", "5", "--expect", "150", "200", "--public", "--width", "1e-300"],
    ],
    ids=" ".join,
)
def test_json_is_taken_by_strict_parsers(arguments, people, capsys):
    code = main([*arguments, "--json"])
    told = capsys.readouterr()
    assert code in (0, 1, 2)
    if code == 2:
        assert told.out == ""
        assert told.err.count("\n") == 1
    else:
        assert strict_json(told.out)


def test_numbers_without_a_value_and_infinite_ones(capsys):
    found = {"a": [float("nan"), np.float64("inf")], "b": (-np.inf, 0.1), "c": np.array([[1, 2]]), 3: np.int64(7)}
    printing.print_json(found | {"d": np.bool_(True), "e": None, "f": "ε"})
    assert strict_json(capsys.readouterr().out) == {
        "a": [None, "Infinity"],
        "b": ["-Infinity", 0.1],
        "c": [[1, 2]],
        "3": 7,
        "d": True,
        "e": None,
        "f": "ε",
    }


def test_the_numbers_of_a_study_are_exact(folder, capsys):
    assert main([*SMALL_STUDY, "--replicates", "2", "--json", "--out", "one"]) == 0
    (row,) = strict_json(capsys.readouterr().out)
    table = ex.study([5.0], ["adaptive"], 2, n=20, particles=20, workers=1)
    expected = ex.summary(table).iloc[0].to_dict()
    for name in ("mu_rmse", "mu_rmse_error", "sigma_rmse", "sigma_bias", "ess", "efficiency", "true_sigma"):
        assert row[name] == expected[name]
    assert row["df"] is None


def test_a_study_of_failures_is_json(folder, capsys, monkeypatch):
    from explorer.studies import replicate

    monkeypatch.setattr(replicate, "_estimates", lambda *arguments: 1 / 0)
    assert main([*SMALL_STUDY, "--replicates", "2", "--json"]) == 1
    told = capsys.readouterr()
    (row,) = strict_json(told.out)
    assert (row["failed"], row["mu_rmse"], row["efficiency"]) == (2, None, None)
    assert "2 of 2 replicates failed, the first: ZeroDivisionError" in told.err


# ---- interrupted


def interrupted(code: str, delay: float, number: int, *arguments: str) -> tuple[int, str]:
    """The exit code and standard error of a program that gets a signal so long after it has begun."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.read(len("started")) == "started"
    time.sleep(delay)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    return process.returncode, told


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
@pytest.mark.parametrize("delay", [0.05, 0.1, 0.2, 0.3, 0.5, 1.0])  # in its first millisecond Python is not ours
def test_an_interruption_leaves_no_traceback(delay):
    for code in (SCRIPT, MODULE):
        assert interrupted(code, delay, signal.SIGINT, "simulate", "-n", "200000") == (130, "")


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_a_command_that_is_to_end_ends():
    start = time.monotonic()
    assert interrupted(SCRIPT, 0.3, signal.SIGTERM, "simulate", "-n", "10000000") == (-signal.SIGTERM, "")
    assert time.monotonic() - start < 20


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_an_interruption_that_is_lost_in_a_destructor_comes_again():
    code = """
import os, signal, time
from explorer.commands.terminal import interruption
interruption.watch()
interruption.begin()
class Last:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
print(end="started", flush=True)
try:
    Last()
    time.sleep(30)
except KeyboardInterrupt:
    raise SystemExit(interruption.CODE)
"""
    start = time.monotonic()
    assert interrupted(code, 0, 0) == (130, "")
    assert time.monotonic() - start < 25


def test_what_an_interruption_turned_into_is_one(monkeypatch):
    def fail(options):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("a function returned a result with an exception set") from error

    monkeypatch.setattr("explorer.commands.fisher.run", fail)
    assert main(["fisher"]) == 130
    assert not interruption.caused(ValueError("nothing of the kind"))


def test_a_program_that_calls_keeps_its_handler(capsys):
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    assert main(["fisher", "--epsilon", "1"]) == 0
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


# ---- nobody who reads


@pytest.mark.parametrize("arguments", [["--help"], ["simulate", "--help"], ["fisher", "--epsilon", "1"], []], ids=str)
def test_a_reader_that_leaves_is_no_error(arguments):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "explorer", *arguments]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert result.stderr == ""
    assert result.returncode in (0, 2)


@pytest.mark.skipif(os.name == "nt", reason="descriptors are those of POSIX")
@pytest.mark.parametrize(
    ("name", "closed"),
    [("simulate", "<&-"), ("simulate", ">&-"), *((name, "<&- 2>&-") for name in ("simulate", "study", "collect"))],
)
def test_standard_streams_that_are_closed_are_no_error(name, closed, people, folder):
    """Nor does a file get their number, into which a library would then write."""
    held = "import os, sys; descriptor = os.open('people.csv', 0); raise SystemExit(9 * (descriptor < 3))"
    assert subprocess.run(["sh", "-c", f'"$0" -c "{held}" {closed}', sys.executable]).returncode == 9
    script = f"from explorer.cli import main; code = main(); {held.replace('9', 'code or 9')}"
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-c", script, *COMMANDS[name]]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert bool(done.stdout) == (">&-" not in closed.split())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_told(unbuffered):
    command = [sys.executable, "-m", "explorer", "simulate", "--help"]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    assert result.returncode == 2
    assert "No space left on device" in result.stderr
    assert result.stderr.count("\n") == 1


# ---- too much, and nonsense


def told(capsys, arguments) -> str:
    """The one line that goes with code 2."""
    assert ended(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err
    return output.err


NO_NUMBERS = ["1e400", "nan", "-inf", "٣", "1,5", "0x10", "--", "½"]
COLLECT = ["collect", "--csv", "people.csv", "--epsilon", "1", "--expect", "0", "300"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate", "-n", f"{10**12}"], "--n must be at most 10000000, got 1000000000000"),
        (["simulate", "--n", "99999999999999999999"], "--n must be at most 10000000"),
        (["simulate", "--particles", f"{10**10}"], "--particles must be at most 1000000"),
        (["simulate", "--keep", f"{10**20}"], "--keep must be at most 10000000"),
        (["simulate", "-n", "9" * 5000], "invalid int value"),
        (["simulate", "--sampler", "resample_move", "-n", "1000000", "--particles", "10000"], "the limit is 1e+09"),
        (["simulate", "-n", "1000000", "--keep", "1", "--out", "x.npz"], "the limit is 1e+09"),
        (["fisher", "--epsilon", "1", "--surface", "x.csv", "--resolution", f"{10**6}"], "must be at most 2000"),
        (["study", "-n", "10", f"{10**12}"], "--n must be at most 10000000, got 1000000000000"),
        (["study", "--replicates", f"{10**9}"], "--replicates must be at most 100000"),
        (["study", "--replicates", "100000", "--epsilon", *"123456"], "at most 1000000 runs"),
        (["study", "--method", "mcmc", "--iterations", f"{10**12}"], "--iterations must be at most 10000000"),
        (["study", "--workers", f"{10**6}"], "--workers must be at most 500"),
        (["reproduce", "--replicates", f"{10**9}"], "--replicates must be at most 100000"),
        (["reproduce", "--workers", f"{10**9}"], "--workers must be at most 500"),
        (["audit", "--trials", f"{10**12}"], "--trials must be at most 10000000"),
        ([*COLLECT, "--most", f"{10**12}"], "--most must be at most 10000000"),
        (["serve", "--num-procs", "100000"], "--num-procs must be at most 100, got 100000"),
        (["serve", "--port", "99999999"], "port must lie between 0 and 65535"),
        (["serve", "--port", "-5"], "port must lie between 0 and 65535"),
        (["serve", "--address", "no..host"], "port 5006 on no..host cannot be used"),
        (["serve", "--address", "300.1.1.1.1"], "port 5006 on 300.1.1.1.1 cannot be used"),
        (["serve", "--basic-auth", "users.json"], "--basic-auth users.json cannot be read: No such file"),
        (["serve", "--basic-auth", "people.csv"], "--basic-auth people.csv is not a JSON file"),
        (["serve", "--notebooks", "nowhere"], "--notebooks nowhere: there is no such folder"),
        (["serve", "--notebooks", "."], "--notebooks .: there are no notebooks in it"),
        (["fisher", "--surprise\nline\x1b[31m"], r"unrecognized arguments: --surprise line\x1b[31m"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else "",
)
def test_too_much_is_refused_at_once(arguments, message, people, capsys):
    start = time.monotonic()
    assert message in told(capsys, arguments)
    assert time.monotonic() - start < 20


def test_a_file_of_users_must_hold_some(folder, capsys):
    for text in ("[]", "{}", '{"me": 1}', '{"me": ""}'):
        (folder / "users.json").write_text(text)
        message = told(capsys, ["serve", "--basic-auth", "users.json"])
        assert "must hold a JSON object of users and their passwords" in message


@pytest.mark.parametrize("command", ["fisher", "simulate", "study", "reproduce", "audit", "collect", "serve"])
def test_what_is_no_number_or_nothing_is_told_for_every_option(command, people, capsys):
    first = COLLECT if command == "collect" else [command]
    for action in options_of(command).values():
        if action.nargs == 0:  # on or off
            continue
        option, count = action.option_strings[-1], action.nargs if isinstance(action.nargs, int) else 1
        for value in ["", *(NO_NUMBERS if action.type in (int, float) else [])]:
            assert f"argument {'/'.join(action.option_strings)}: " in told(capsys, [*first, option, *[value] * count])


def test_a_lack_of_memory_is_told(capsys, monkeypatch):
    monkeypatch.setitem(limits.LARGEST, "n", 10**30)
    assert "not enough memory" in told(capsys, ["simulate", "-n", f"{10**16}"])
    assert main(["simulate", "-n", f"{10**29}"]) == 2


# ---- files


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["simulate", "-n", "3", "--particles", "20", "--out"], "there.npz"),
        (["fisher", "--epsilon", "1", "--resolution", "3", "--surface"], "there.csv"),
        (["fisher", "--epsilon", "1", "--resolution", "3", "--surface"], "there.npz"),
    ],
)
def test_no_file_is_replaced_unasked(arguments, name, folder, capsys, monkeypatch):
    file = folder / name
    file.write_text("years of work")
    assert "exists already: take another name, or add --force to replace it" in told(capsys, [*arguments, name])
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", lambda *paths: full_disk())
        assert "cannot be written: No space left on device" in told(capsys, [*arguments, name, "--force"])
    assert file.read_text() == "years of work"
    assert main([*arguments, name, "--force"]) == 0
    assert file.read_bytes() != b"years of work"
    assert [path.name for path in folder.iterdir()] == [name]


def full_disk():
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("folder.npz", "it is a folder"),
        ("nowhere/x.npz", "there is no such folder"),
        ("file/x.npz", "there is no such folder"),
        ("x" * 250 + ".npz", "File name too long"),
        ("x\0y.npz", "embedded null"),
    ],
    ids=lambda text: ascii(text)[:20],
)
def test_what_cannot_be_written_is_told_before_the_work(path, message, folder, capsys, monkeypatch):
    (folder / "folder.npz").mkdir()
    (folder / "file").touch()
    monkeypatch.setattr("explorer.engine.run.simulation.iter_simulation", lambda *a, **k: pytest.fail("it has begun"))
    assert message in told(capsys, ["simulate", "--out", path])
    assert message in told(capsys, ["fisher", "--epsilon", "1", "--surface", path])
    assert {file.name for file in folder.iterdir()} == {"folder.npz", "file"}


@pytest.mark.parametrize("command", ["study", "reproduce"])
def test_a_file_is_no_folder_for_results(command, folder, capsys):
    (folder / "file").write_text("years of work")
    assert "the folder file cannot be written: Not a directory" in told(capsys, [command, "--out", "file"])
    assert (folder / "file").read_text() == "years of work"
