"""``explorer collect``: a private collection from a column of a file."""

import argparse
import csv
import json
import sys
from pathlib import Path

from explorer.commands.options import check_out, family_of
from explorer.commands.printing import SHOWN, print_table


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
        help="of a CSV file: names of columns, or a person's already (auto: as it looks)",
    )
    add("--epsilon", type=float, required=True, metavar="E", help="privacy level of each answer")
    add("--mechanism", default="laplace", metavar="NAME", help="laplace, gaussian, randomized_response, piecewise")
    add("--delta", type=float, default=1e-5, metavar="D", help="delta of the gaussian mechanism (1e-5)")
    add("--family", default="normal", metavar="NAME", help="the population's family (normal)")
    add("--df", type=float, metavar="DF", help="degrees of freedom of student_t (default 5)")
    add(
        "--expect",
        type=float,
        nargs=2,
        required=True,
        metavar=("LOW", "HIGH"),
        help="a rough guess, made without the data: most values lie between these",
    )
    add("--most", type=int, default=10_000, metavar="K", help="ask so many people at most, drawn at random (10000)")
    add("--particles", type=int, default=1000, metavar="N", help="particles of the sampler (1000)")
    add("--score", default="mu", metavar="NAME", help="what intervals maximise (mu)")
    add("--width", type=float, metavar="W", help="say how many people a 95 percent interval of mu this narrow took")
    add("--public", action="store_true", help="the data are public: also print the estimate without privacy")
    add("--out", metavar="FILE", help="write the answers, their intervals and the estimates to FILE, .csv")
    add("--json", action="store_true", help="print exact numbers as JSON")
    collect.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import explorer as ex
    from explorer.engine.collection import LEVELS, people_needed

    check_out(options.out, ".csv")  # nobody can be asked again
    mechanism = ex.mechanism(options.mechanism, options.epsilon, options.delta)
    prior = ex.SemiConjugatePrior.expecting(*options.expect)
    estimator = ex.OnlineEstimator(
        mechanism=mechanism,
        epsilon=options.epsilon,
        family=family_of(options),
        particles=options.particles,
        score=options.score,
        prior=prior,
    )
    file = ex.DataFile(options.file, header={"names": True, "person": False}.get(options.first_row))
    if options.column is None and len(file.columns) > 1:
        raise ValueError(f"--column must be one of {', '.join(map(repr, file.columns))}")
    column = file.read(options.column or file.columns[0])
    opened = ex.open_estimate(column.values, estimator.family)._asdict() if options.public else None
    rows = _asked(ex.Collection(column.values, estimator, options.most), LEVELS)
    if options.out:
        _write_answers(options.out, rows)
    widths = [row[8] - row[4] for row in rows]
    found = {
        "people": len(rows),
        "rows": column.values.size,
        "missing": column.missing,
        "epsilon": mechanism.epsilon,
        "delta": mechanism.delta,
        "mu": dict(zip(map(str, LEVELS), rows[-1][4::2], strict=True)),
        "sigma": dict(zip(map(str, LEVELS), rows[-1][5::2], strict=True)),
        "width": options.width,
        "people_needed": None if options.width is None else people_needed(widths, options.width),
        "without_privacy": opened,
    }
    if options.json:
        print(json.dumps(found, indent=2))
        return 0
    print(f"{mechanism!r}, {estimator.family!r} population, column {column.name!r}")
    print(*(f"{note}." for note in file.notes), sep="\n", end="\n" if file.notes else "")
    _print_found(found, rows)
    if options.out:
        print(f"Wrote {options.out}: answers and estimates, nobody's value")
    return 0


def _asked(collection, levels: tuple[float, ...]) -> list[tuple]:
    """Let them answer; interrupted, those who have answered still count, as they cannot be asked again."""
    from tqdm import tqdm

    rows = []
    steps = tqdm(collection, total=collection.people, delay=1, disable=not sys.stderr.isatty(), leave=False)
    try:
        for step in steps:
            rows.append((step.t, *step.interval, step.y, *step.posterior.quantiles(levels).ravel().tolist()))
    except ImportError as error:
        raise ValueError(str(error)) from None
    except KeyboardInterrupt:
        if not rows:
            raise
        print(f"Interrupted after {len(rows)} of {collection.people} people", file=sys.stderr)
    return rows


def _print_found(found: dict, rows: list[tuple]) -> None:
    if found["missing"]:
        print(f"{found['missing']} empty cells were left out.")
    if found["people"] < found["rows"]:
        print(f"{found['people']} of {found['rows']} people were asked, drawn at random.")
    print("After t answers: posterior medians and 95 % intervals")
    shown = [row for row in rows if row[0] in SHOWN or row is rows[-1]]
    cells = ([f"{row[0]}", *(f"{row[k]:.5g}" for k in (6, 4, 8, 7, 5, 9))] for row in shown)
    print_table(["t", "mu", "from", "to", "sigma", "from", "to"], cells)
    if found["width"] is not None:
        needed, last = found["people_needed"], rows[-1][8] - rows[-1][4]
        told = "was not reached" if needed is None else f"took {needed} people"
        print(f"A 95 % interval of mu of width {found['width']:g} {told}; the last is {last:.3g} wide.")
    if found["without_privacy"]:
        told = "mu = {mu:.6g} ± {standard_error:.2g}, sigma = {sigma:.5g}".format(**found["without_privacy"])
        print(f"Without privacy, from public data: {told}")


def _write_answers(path: str, rows: list[tuple]) -> None:
    names = [f"{side}_{level}" for level in ("2.5%", "50%", "97.5%") for side in ("mu", "sigma")]
    try:
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["t", "left", "right", "y", *names])
            writer.writerows([row[0], *map(repr, row[1:])] for row in rows)
    except OSError as error:
        raise ValueError(f"--out {path} cannot be written: {error.strerror}") from None
