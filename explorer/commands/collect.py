"""``explorer collect``: a private collection from a column of a file."""

import argparse
import os
import secrets
import signal
import stat
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from explorer.commands.options import Listed, check_out, family_of, settle, settle_delta
from explorer.commands.terminal.printing import SHOWN, print_json, print_table
from explorer.io.answer_file import LEVELS, AnswerFile, Row

#: What must not change when a collection is resumed.
_KEPT = ("epsilon", "mechanism", "delta", "family", "df", "expect", "most", "score")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def add(commands) -> None:
    """The options."""
    collect = commands.add_parser(
        "collect",
        help="a private collection from a column of a file: clip, secure noise, estimate",
        description="Stream a column of a CSV or Parquet file, each value once and in random order, through the "
        "individuals' side (clip, noise from the operating system) into the estimator. Values are held in memory "
        "alone: what is printed and written comes from the answers. Asking the same people again costs their privacy "
        "again.",
    )
    add = collect.add_argument
    add(
        "--csv", "--parquet", dest="file", required=True, metavar="FILE", help="the file; its first bytes tell the kind"
    )
    add("--column", metavar="NAME", help="one number for each person (default: the only column)")
    add(
        "--first-row",
        default="auto",
        choices=("auto", "names", "person"),
        help="whether the first row of a CSV file holds column names or a person's data (auto: detect)",
    )
    add("--epsilon", type=float, required=True, metavar="E", help="privacy level of each answer")
    add("--mechanism", default="laplace", metavar="NAME", help=Listed("MECHANISMS", "laplace"))
    add("--delta", type=float, metavar="D", help="delta of the gaussian mechanism (1e-5)")
    add("--family", default="normal", metavar="NAME", help=Listed("FAMILIES", "normal", "the population's family: "))
    add("--df", type=float, metavar="DF", help="degrees of freedom of student_t (default 5)")
    add(
        "--expect",
        type=float,
        nargs=2,
        required=True,
        metavar=("LOW", "HIGH"),
        help="a rough guess, made without the data: most values lie between these",
    )
    add(
        "--most",
        type=int,
        default=10_000,
        metavar="K",
        help="maximum number of people to ask, drawn at random (default 10000)",
    )
    add("--particles", type=int, default=1000, metavar="N", help="particles of the sampler (1000)")
    add("--score", default="mu", metavar="NAME", help=Listed("SCORES", "mu", "what intervals maximise: "))
    add("--width", type=float, metavar="W", help="say how many people a 95 percent interval of mu this narrow took")
    add("--public", action="store_true", help="the data are public: also print the estimate without privacy")
    add(
        "--out",
        metavar="FILE",
        help="write each answer, its interval and the estimates to FILE, .csv, before the next person is asked",
    )
    add("--resume", action="store_true", help="go on with --out where it stopped: who has answered is not asked again")
    add("--force", action="store_true", help="replace --out if it is an earlier file of answers")
    add("--json", action="store_true", help="print exact numbers as JSON")
    collect.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import explorer as ex
    from explorer.engine.compute.arguments import positive

    check_out(options.out, ".csv")  # nobody can be asked again
    settle(options, options.out is not None, "needs --out, the file of answers to go on with", resume=False)
    settle(options, options.out is not None, "needs --out", force=False)
    settle_delta(options, [options.mechanism])
    if options.resume and options.force:
        raise ValueError("--resume goes on with a file and --force replaces it: give one of them")
    for written in (options.out, f"{options.out}.progress") if options.out else ():
        if Path(written).exists() and os.path.samefile(written, options.file):
            raise ValueError("--out must not be the file that is read")
    if options.width is not None:
        positive("width", options.width)
    estimator = ex.OnlineEstimator(
        mechanism=ex.mechanism(options.mechanism, options.epsilon, options.delta),
        epsilon=options.epsilon,
        family=family_of(options),
        particles=options.particles,
        score=options.score,
        prior=ex.SemiConjugatePrior.expecting(*options.expect),
    )
    file = _opened(options)
    if options.column is None and len(file.columns) > 1:
        raise ValueError(f"--column must be one of {', '.join(map(repr, file.columns))}")
    column = file.read(options.column or file.columns[0])
    notes, counts = file.notes, {"rows": column.values.size, "missing": column.missing}
    opened = ex.open_estimate(column.values, estimator.family)._asdict() if options.public else None
    collection, name = _collection(options, column, estimator), column.name
    del file, column  # from here on there are only people who wait to be asked
    why = _go_on(collection)
    rows = collection.rows
    if not rows:
        return _stopped(why, options)
    found = counts | _found(options, estimator, rows) | {"without_privacy": opened}
    if options.json:
        print_json(found)
    else:
        print(f"{estimator.mechanism!r}, {estimator.family!r} population, column {name!r}")
        print(*(f"{note}." for note in notes), sep="\n", end="\n" if notes else "")
        _print_found(found, rows)
        if found["lost"]:
            print("These estimates cannot be trusted: other parameters explain the answers far better.")
        if options.out:
            print(f"Wrote {options.out}: answers and estimates, nobody's value")
    return _stopped(why, options)


def _opened(options: argparse.Namespace):
    import explorer as ex
    from explorer.io.data_file import UnclearFirstRowError

    try:
        return ex.DataFile(options.file, header={"names": True, "person": False}.get(options.first_row))
    except UnclearFirstRowError as error:
        raise ValueError(f"{error}, --first-row names or --first-row person") from None


def _collection(options: argparse.Namespace, column, estimator):
    """The collection, whose file is open; nobody has been asked yet."""
    from explorer.engine.run.recorded_collection import RecordedCollection, try_release

    try:
        try_release(estimator)
    except ImportError as error:
        raise ValueError(str(error)) from None
    settings = {name: getattr(options, name) for name in _KEPT} | {"rows": column.values.size, "column": column.name}
    settings["input"] = _input(options.file)
    if options.resume:
        out, rows, kept = AnswerFile.resume(options.out, settings)
    else:
        kept = settings | {"order": secrets.randbits(128)}
        out, rows = AnswerFile.create(options.out, kept, options.force) if options.out else None, []
    return RecordedCollection(column.values, estimator, options.most, out=out, rows=rows, order=kept["order"])


def _input(file: str) -> str | None:
    """Size and time of change of the input; None if it is no file, but a pipe, say.

    In a file that was sorted anew, those who answered could not be told from those who did not.
    """
    about = os.stat(file)
    if not stat.S_ISREG(about.st_mode):
        return None
    changed = datetime.fromtimestamp(about.st_mtime_ns // 10**9, UTC).isoformat()
    return f"of {about.st_size} bytes, changed {changed} + {about.st_mtime_ns % 10**9} ns"


def _go_on(collection) -> int | str | None:
    """Ask until everybody has answered or something ends it, a signal or a sentence, which is returned."""
    from tqdm import tqdm

    out, people = collection.out, collection.people
    begun = {"total": people, "initial": len(collection.rows)}
    with _signals() as seen, tqdm(**begun, delay=1, disable=not sys.stderr.isatty(), leave=False) as bar:
        why = None
        while len(collection.rows) < people and not (seen or why):
            try:
                next(collection)
                bar.update()
            except OSError as error:
                # An answer that is not in the file was shown to nobody: who gave it has given nothing away yet.
                why = f"{out.path} cannot be written: {error.strerror}"
            except ValueError as error:
                why = str(error)
    if out is not None:
        # A sentence is an error: what is known after the last answer may not be in the file.
        out.close(finished=len(collection.rows) == people and why is None)
    return why or (seen[0] if seen else None)


@contextmanager
def _signals():
    """Within, Ctrl-C and SIGTERM are noted: who is being asked can finish, and what was answered is told."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return
    # Who has said that a signal is to be ignored, as nohup does, has said it for this as well.
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, lambda number, _: seen.append(number)) for number in heard}
    try:
        yield seen
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stopped(why: int | str | None, options: argparse.Namespace) -> int:
    """Say what ended the collection early; the exit code."""
    if why is None:
        return 0
    told = f"stopped by {signal.Signals(why).name}" if isinstance(why, int) else why
    later = f"; --resume goes on with {options.out}" if options.out else ""
    print(f"explorer collect: {told}{later}", file=sys.stderr)
    return 128 + why if isinstance(why, int) else 1


def _found(options: argparse.Namespace, estimator, rows: list[Row]) -> dict:
    from explorer.engine.run.collection import people_needed

    mechanism, last = estimator.mechanism, rows[-1].known
    widths = [row.known[4] - row.known[0] for row in rows]
    return {
        "people": len(rows),
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta,
        "mu": dict(zip(map(str, LEVELS), last[::2], strict=True)),
        "sigma": dict(zip(map(str, LEVELS), last[1::2], strict=True)),
        "width": options.width,
        "people_needed": None if options.width is None else people_needed(widths, options.width),
        "lost": estimator.posterior.lost,
    }


def _print_found(found: dict, rows: list[Row]) -> None:
    if found["missing"]:
        print(f"{found['missing']} empty cells were left out.")
    if found["people"] < found["rows"]:
        print(f"{found['people']} of {found['rows']} people were asked, drawn at random.")
    print("After t answers: posterior medians and 95 % intervals")
    shown = [row for row in rows if row.t in SHOWN or row is rows[-1]]
    cells = ([f"{row.t}", *(f"{row.known[k]:.5g}" for k in (2, 0, 4, 3, 1, 5))] for row in shown)
    print_table(["t", "mu", "from", "to", "sigma", "from", "to"], cells)
    if found["width"] is not None:
        needed, last = found["people_needed"], rows[-1].known[4] - rows[-1].known[0]
        told = "was not reached" if needed is None else f"took {needed} people"
        print(f"A 95 % interval of mu of width {found['width']:g} {told}; the last is {last:.3g} wide.")
    if found["without_privacy"]:
        told = "mu = {mu:.6g} ± {standard_error:.2g}, sigma = {sigma:.5g}".format(**found["without_privacy"])
        print(f"Without privacy, from public data: {told}")
