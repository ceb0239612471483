"""The ``explorer`` command. Every subcommand prints a readable table, or exact JSON with ``--json``.

A wrong value gets one clear line on standard error and exit code 2, never a traceback.
"""

import argparse
import csv
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, and takes -1e-3 and -inf for numbers and not for options."""

    def __init__(self, **options):
        super().__init__(**options, allow_abbrev=False)
        self._negative_number_matcher = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^-inf$|^-nan$")

    def error(self, message: str):
        self.exit(2, f"{self.prog}: {message} (try {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _build_parser()
    options = parser.parse_args(arguments)
    if options.run is None:
        parser.print_help()
        return 2
    try:
        return options.run(options)
    except ValueError as error:
        print(f"explorer {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="explorer", description="Adaptive, differentially private online estimation: see it, use it, teach it."
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(dest="command", parser_class=_Parser, metavar="command")

    fisher = commands.add_parser(
        "fisher",
        help="Fisher information of one private answer, and the interval where it is largest",
        description="The interval [a, b] with the largest score, and the information matrix there, "
        "for a population with mu = 0 and sigma = 1. For others: [mu + a sigma, mu + b sigma], divided by sigma^2.",
    )
    fisher.add_argument("--epsilon", type=float, nargs="+", default=EPSILONS, metavar="E", help="privacy levels")
    fisher.add_argument("--mechanism", nargs="+", default=["laplace"], metavar="NAME", help="mechanisms, or 'all'")
    fisher.add_argument("--family", default="normal", metavar="NAME", help="the population's family")
    fisher.add_argument("--df", type=float, metavar="DF", help="degrees of freedom of student_t (default 5)")
    fisher.add_argument("--delta", type=float, default=1e-5, metavar="D", help="delta of the gaussian mechanism")
    fisher.add_argument(
        "--score", default="mu", metavar="NAME", help="what to maximise: mu, sigma, trace, det, mu|sigma"
    )
    fisher.add_argument(
        "--interval", type=float, nargs=2, metavar=("A", "B"), help="use this interval, not the best one"
    )
    fisher.add_argument("--symmetric", action="store_true", help="look at intervals around 0 alone")
    fisher.add_argument("--surface", metavar="FILE", help="write the score over (a, b) to FILE, .csv or .npz")
    fisher.add_argument("--resolution", type=int, default=50, metavar="K", help="points along a and b (default 50)")
    fisher.add_argument(
        "--limits", type=float, nargs=2, default=(-3, 3), metavar=("LOW", "HIGH"), help="of a and b (default -3 3)"
    )
    fisher.add_argument("--json", action="store_true", help="print exact numbers as JSON")
    fisher.set_defaults(run=_fisher)

    serve = commands.add_parser("serve", help="start the app in the browser", description="Start the app.")
    serve.add_argument("--port", type=int, default=5006, metavar="P", help="port (0: any free one)")
    serve.add_argument("--address", default="127.0.0.1", metavar="A", help="address to listen on")
    serve.add_argument("--no-browser", action="store_true", help="do not open a browser")
    serve.set_defaults(run=_serve)
    return parser


def _fisher(options: argparse.Namespace) -> int:
    import explorer as ex

    names = list(ex.MECHANISMS) if options.mechanism == ["all"] else options.mechanism
    family = ex.family(options.family, **({} if options.df is None else {"df": options.df}))
    mechanisms = [ex.mechanism(name, epsilon, options.delta) for epsilon in options.epsilon for name in names]
    if options.surface:
        return _write_surface(options, family, mechanisms)
    rows = [_row(options, family, mechanism) for mechanism in mechanisms]
    if all(row["score"] is None for row in rows):
        raise ValueError(f"score must differ from 0 for some interval, but {options.score} is 0 for all of them")
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{family!r} population, score {options.score}, {'given' if options.interval else 'best'} interval [a, b]")
    _print_table(list(_COLUMNS.values()), [[_short(row[key]) for key in _COLUMNS] for row in rows])
    classical = ex.classical_information(family)
    print(f"Without privacy: F[μ,μ] = {classical[0, 0]:.4f}, F[σ,σ] = {classical[1, 1]:.4f}.")
    if "gaussian" in names:
        print(f"gaussian is (ε, δ)-private with δ = {options.delta:g}: the best ε-LDP mechanism does not bound it.")
    return 0


_COLUMNS = {
    "epsilon": "epsilon",
    "mechanism": "mechanism",
    "a": "a",
    "b": "b",
    "score": "score",
    "mu_mu": "F[μ,μ]",
    "mu_sigma": "F[μ,σ]",
    "sigma_sigma": "F[σ,σ]",
    "of_no_privacy": "of no privacy",
    "of_best_ldp": "of best ε-LDP",
}


def _row(options: argparse.Namespace, family, mechanism) -> dict:
    """One line of the table; the score is set against that without privacy, F[mu,mu] against the best ε-LDP one."""
    import explorer as ex

    epsilon, shared = mechanism.epsilon, {"family": family, "mechanism": mechanism}
    score = ex.score_function(options.score)
    row = {
        "family": repr(family),
        "mechanism": mechanism.name,
        "epsilon": epsilon,
        "delta": mechanism.delta,
        "score_name": options.score,
        "best_ldp_mu_mu": ex.best_ldp(epsilon, family).value,
    }
    try:
        interval = options.interval or ex.best_interval(
            epsilon, score=options.score, symmetric=options.symmetric, **shared
        )
    except ex.NoBestIntervalError:
        return row | dict.fromkeys(set(_COLUMNS) - set(row))
    a, b = interval[:2]
    matrix = ex.fisher_information(a, b, epsilon, **shared)
    value = float(score(matrix))
    return row | {
        "a": a,
        "b": b,
        "score": value,
        "mu_mu": float(matrix[0, 0]),
        "mu_sigma": float(matrix[0, 1]),
        "sigma_sigma": float(matrix[1, 1]),
        "of_no_privacy": value / float(score(ex.classical_information(family))),
        "of_best_ldp": float(matrix[0, 0]) / row["best_ldp_mu_mu"],
    }


def _write_surface(options: argparse.Namespace, family, mechanisms: list) -> int:
    import numpy as np

    import explorer as ex

    if len(mechanisms) != 1:
        raise ValueError(f"--surface takes one epsilon and one mechanism, got {len(mechanisms)} combinations of them")
    (mechanism,) = mechanisms
    path = Path(options.surface)
    if path.suffix not in (".csv", ".npz"):
        raise ValueError(f"--surface must end in .csv or .npz, got {options.surface!r}")
    surface = ex.score_surface(
        mechanism.epsilon,
        resolution=options.resolution,
        limits=options.limits,
        family=family,
        mechanism=mechanism,
        score=options.score,
    )
    try:
        if path.suffix == ".npz":
            np.savez(path, **surface._asdict())
        else:
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow(["a", "b", "score"])
                for i, j in np.argwhere(~np.isnan(surface.values)):
                    writer.writerow([repr(float(x)) for x in (surface.a[i], surface.b[j], surface.values[i, j])])
    except OSError as error:
        raise ValueError(f"--surface {options.surface} cannot be written: {error.strerror}") from None
    print(f"Wrote {np.count_nonzero(~np.isnan(surface.values))} intervals to {path}")
    return 0


def _short(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    value = 0.0 if abs(value) < 1e-12 else value
    readable = value == 0 or 1e-3 <= abs(value) < 1e6
    return f"{value:.6f}".rstrip("0").rstrip(".") if readable else f"{value:.3e}"


def _print_table(header: list[str], rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _serve(options: argparse.Namespace) -> int:
    from explorer.server import serve

    return serve(port=options.port, address=options.address, browser=not options.no_browser)
