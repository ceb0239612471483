"""Random command lines: whatever is asked, the command ends in time, with a code, and with one line if it is wrong.

A case is a command with some of its options, each with a value that is right, wrong, huge or odd. Those that are right
are cheap. ``serve`` and ``reproduce`` never get to work. Each case runs in this process, in a folder of its own.
"""

import contextlib
import io
import json
import random
import signal
import tempfile
import threading
import time
import warnings
from collections import Counter
from pathlib import Path

from explorer.cli import main
from explorer.commands.parser import build_parser

#: Seconds that a case may take once everything is compiled, and after which it is stopped.
PATIENCE, STOP = 10, 60

NUMBERS = ("1", "2", "0.5", "3.75", "-1", "10", "1e-3", "1e3", "0", "-0.0")
EXTREME = (
    "5e-324",
    "1e-300",
    "1e-12",
    "700",
    "1e5",
    "1e12",
    "1e154",
    "1e300",
    "-1e300",
    "1.7976931348623157e308",
    "-1e-320",
)
NO_NUMBERS = ("nan", "inf", "-inf", "-nan", "1e400", "-1e400", "٣", "½", "1,5", "0x10", "one", "1e", "[1]", "None")
HUGE = ("10" + "0" * 9, "9" * 20, "9" * 400, "9" * 5000, "-" + "9" * 30, str(2**63), str(-(2**63)))
ODD = ("", " ", "-", "--", "ε", "\ud800", "\0", "a\nb", "\x1b[31m", "%s%n", "{}", "../..", "'", "x" * 3000, "all", "-7")
MECHANISMS = ("laplace", "gaussian", "randomized_response", "piecewise", "all")
FAMILIES = ("normal", "student_t", "logistic", "laplace", "gumbel")
SCORES = ("mu", "sigma", "trace", "det", "mu|sigma")
METHODS = ("adaptive", "fixed", "mcmc", "oracle", "gradient", "grid/plug_in", "resample_move/fixed", "metropolis/fixed")

#: Values that are right, by the names of options, and cheap.
RIGHT = {
    "epsilon": ("1", "5", "0.3", "20"),
    "mechanism": MECHANISMS,
    "family": FAMILIES,
    "score": SCORES,
    "df": ("5", "3", "30", "1.5"),
    "delta": ("1e-5", "0.1"),
    "sampler": ("marginal", "resample_move", "grid", "gradient"),
    "policy": ("thompson", "plug_in", "pseudo_bayesian", "fixed", "oracle"),
    "method": METHODS,
    "resampling": ("multinomial", "systematic", "stratified", "residual"),
    "n": ("1", "2", "8"),
    "most": ("1", "5", "1000"),
    "particles": ("1", "2", "30"),
    "subset": ("1", "5"),
    "resolution": ("1", "2", "7"),
    "replicates": ("1", "2"),
    "iterations": ("1", "30"),
    "trials": ("20", "200"),
    "confidence": ("0.9", "0.999"),
    "workers": ("1",),
    "keep": ("1", "3"),
    "seed": ("0", "1", "7" * 30),
    "out": ("out.npz", "out.csv", "out", "there.npz", "there.csv", "nowhere/x.npz"),
    "surface": ("map.csv", "map.npz", "map.txt", "there.csv", "folder.csv"),
    "file": ("people.csv", "two.csv", "empty.csv", "noise.csv", "folder.csv", "missing.csv"),
    "column": ("height", "who", "nobody"),
    "first_row": ("auto", "names", "person"),
}
#: What keeps a command cheap, and goes first: a later option replaces it.
CHEAP = {
    "fisher": ["--epsilon", "1"],
    "simulate": ["-n", "8"],
    "study": ["--epsilon", "5", "--replicates", "1", "-n", "8", "--workers", "1"],
    "audit": ["--trials", "200", "--mechanism", "laplace"],
    "collect": ["--csv", "people.csv", "--epsilon", "5", "--expect", "100", "200", "--particles", "30"],
}
#: What ends before any work.
IN_VAIN = {
    "serve": (["--port", "99999999"], ["--num-procs", "0"], ["--notebooks", "nowhere"], ["--basic-auth", "no.json"]),
    "reproduce": (["--replicates", "0"], ["--workers", "0"], ["--sampler", "none"], ["--out", "people.csv"]),
}
#: Nobody's may be told. The digits are such that no other number has them by chance.
PEOPLE = {f"Zyx{k}q": f"{140 + 7 * k}.{(k + 3) * 70_123_457 % 10**9:09d}" for k in range(12)}


class TooLong(BaseException):
    """Not an Exception, so that nothing in between takes it for its own."""


def options_of(command: str) -> dict:
    """The options of a command, as argparse has them, by their names."""
    (commands,) = (action for action in build_parser()._actions if isinstance(action.choices, dict))
    return {action.dest: action for action in commands.choices[command]._actions if action.dest != "help"}


def ended(arguments: list[str]) -> int:
    """The exit code, whichever way it takes."""
    try:
        return main(arguments)
    except SystemExit as exit_:  # argparse's
        return exit_.code


def strict_json(text: str):
    """What standard JSON says; NaN and Infinity are not in it."""

    def fail(token):
        raise ValueError(f"{token} is not JSON")

    return json.loads(text, parse_constant=fail)


def command_line(chance: random.Random) -> list[str]:
    """One random case."""
    kind = chance.random()
    if kind < 0.05:
        return chance.choices(["", "--help", "nonsense", "-h", "--json", "fisher\n"], k=chance.randrange(3))
    if kind < 0.15:
        command = chance.choice(list(IN_VAIN))
        return [command, *chance.choice([["--help"], ["--no-such-option"], *IN_VAIN[command]])]
    command = chance.choice(list(CHEAP))
    options = options_of(command)
    line = [command, *CHEAP[command]]
    share = chance.choice([1, 1, 0.8, 0.3])  # of values that are right
    for name in chance.choices(list(options), k=chance.randrange(1, 5)):
        line += _option(chance, options[name], share)
    if "json" in options and chance.random() < 0.5:
        line.append("--json")
    if chance.random() < 0.03:
        line.insert(chance.randrange(len(line) + 1), chance.choice(ODD))
    return line


def _option(chance: random.Random, action, share: float) -> list[str]:
    """An option and its values, mostly as many as it takes."""
    if action.nargs == 0:
        return [action.option_strings[-1]]
    count = action.nargs if isinstance(action.nargs, int) else 1
    if action.nargs == "+":
        count = chance.randrange(1, 3)
    if chance.random() < 0.1 * (1 - share):
        count = chance.randrange(3)
    return [action.option_strings[-1], *(_value(chance, action, share) for _ in range(count))]


def _value(chance: random.Random, action, share: float) -> str:
    right = RIGHT.get(action.dest, NUMBERS if action.type is float else ())
    wrong = [NO_NUMBERS, HUGE, ODD]
    if action.type is float:
        wrong.append(EXTREME)
    return chance.choice(right if right and chance.random() < share else chance.choice(wrong))


@contextlib.contextmanager
def _folder():
    """A folder with files to read and files that must not be replaced; what is two folders up belongs to it too."""
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top, "a", "b", "c")
        folder.mkdir(parents=True)
        rows = [f"{who},{height}\n" for who, height in PEOPLE.items()]
        (folder / "people.csv").write_text("height\n" + "".join(f"{height}\n" for height in PEOPLE.values()))
        (folder / "two.csv").write_text("who,height\n" + "".join(rows))
        (folder / "empty.csv").touch()
        (folder / "noise.csv").write_bytes(random.Random(1).randbytes(2000))
        (folder / "folder.csv").mkdir()
        for name in ("there.npz", "there.csv"):
            (folder / name).write_text("years of work")
        with contextlib.chdir(folder):
            yield folder


@contextlib.contextmanager
def _stopped_after(seconds: float):
    """Raise ``TooLong`` in what takes longer, where that is possible."""

    def stop(number, frame):
        raise TooLong

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def attempt(line: list[str], encoding: str = "utf-8") -> tuple[object, str, str, float]:
    """The exit code, or what escaped; standard output and error; the seconds."""
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2))
    start = time.perf_counter()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        warnings.simplefilter("always")
        try:
            with _stopped_after(STOP):
                code = ended(line)
        except (Exception, TooLong, KeyboardInterrupt) as escaped:
            code = escaped
    seconds = time.perf_counter() - start
    return code, *(stream.buffer.getvalue().decode(encoding) for stream in (out, error)), seconds


def faults(line: list[str], encoding: str = "utf-8") -> tuple[object, list[str]]:
    """The exit code of a case, and what is wrong with how it went."""
    with _folder() as folder:
        code, out, error, seconds = attempt(line, encoding)
        new = [path for path in folder.iterdir() if path.is_file() and path.name not in ("people.csv", "two.csv")]
        written = "".join(path.read_bytes().decode("latin-1") for path in new)
        kept = [(folder / name).read_text(errors="replace") for name in ("there.npz", "there.csv")]
    if seconds > PATIENCE and not isinstance(code, BaseException):  # a kernel may have been compiled
        with _folder():
            code, out, error, seconds = attempt(line, encoding)
    wrong = []
    if isinstance(code, BaseException):
        wrong.append(f"escaped: {type(code).__name__}: {code}")
    elif code not in (0, 1, 2):
        wrong.append(f"ended with {code!r}")
    if code == 2 and error.count("\n") != 1 and line:
        wrong.append(f"{error.count(chr(10))} lines for a mistake")
    if seconds > PATIENCE:
        wrong.append("too long")
    if "Traceback" in error or "Warning" in error:
        wrong.append("a traceback or warning is shown")
    if code in (0, 1) and "--json" in line and not {"-h", "--help"} & set(line):
        try:
            strict_json(out)
        except ValueError as mistake:
            wrong.append(f"not JSON: {mistake}")
    if "--force" not in line and line[:1] != ["collect"] and kept != ["years of work"] * 2:
        wrong.append("a file was replaced")
    if any(secret in out + error + written for pair in PEOPLE.items() for secret in pair):
        wrong.append("a person's value is told")
    return code, wrong


def run(count: int, seed: int) -> dict:
    """Try so many random command lines; returns how they ended, and ``failures``: each with what is wrong."""
    chance = random.Random(seed)
    counts, failures = Counter(), []
    for _ in range(count):
        line, encoding = command_line(chance), chance.choice(["utf-8", "utf-8", "ascii", "cp1252"])
        code, wrong = faults(line, encoding)
        counts[f"code {code}" if isinstance(code, int) else "escaped"] += 1
        if wrong:
            failures.append((line, encoding, wrong))
    return {"cases": count, **dict(sorted(counts.items())), "failures": failures}
