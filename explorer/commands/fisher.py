"""``explorer fisher``: the information of one private answer, and the interval where it is largest."""

import argparse
import csv
import io
from pathlib import Path

from explorer.commands.options import Listed, check_file, family_of, new_file, settle, settle_delta
from explorer.commands.terminal.printing import print_json, print_table

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


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


def add(commands) -> None:
    """The options."""
    fisher = commands.add_parser(
        "fisher",
        help="Fisher information of one private answer, and the interval where it is largest",
        description="The interval [a, b] with the largest score, and the information matrix there, "
        "for a population with mu = 0 and sigma = 1. For others: [mu + a sigma, mu + b sigma], divided by sigma^2.",
    )
    fisher.add_argument("--epsilon", type=float, nargs="+", default=EPSILONS, metavar="E", help="privacy levels")
    fisher.add_argument(
        "--mechanism",
        nargs="+",
        default=["laplace"],
        metavar="NAME",
        help=Listed("MECHANISMS", "laplace", "mechanisms, or 'all': "),
    )
    fisher.add_argument(
        "--family", default="normal", metavar="NAME", help=Listed("FAMILIES", "normal", "the population's family: ")
    )
    fisher.add_argument("--df", type=float, metavar="DF", help="degrees of freedom of student_t (default 5)")
    fisher.add_argument("--delta", type=float, metavar="D", help="delta of the gaussian mechanism (default 1e-5)")
    fisher.add_argument("--score", default="mu", metavar="NAME", help=Listed("SCORES", "mu", "what to maximise: "))
    fisher.add_argument(
        "--interval", type=float, nargs=2, metavar=("A", "B"), help="use this interval, not the best one"
    )
    fisher.add_argument("--symmetric", action="store_true", help="look at intervals around 0 alone")
    fisher.add_argument("--surface", metavar="FILE", help="write the score over (a, b) to FILE, .csv or .npz")
    fisher.add_argument("--force", action="store_true", help="replace the file of --surface if there is one")
    fisher.add_argument("--resolution", type=int, metavar="K", help="points along a and b (default 50)")
    fisher.add_argument("--limits", type=float, nargs=2, metavar=("LOW", "HIGH"), help="of a and b (default -3 3)")
    fisher.add_argument("--json", action="store_true", help="print exact numbers as JSON")
    fisher.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import explorer as ex

    names = list(ex.MECHANISMS) if options.mechanism == ["all"] else options.mechanism
    settle_delta(options, names)
    settle(options, options.interval is None, "has no effect with --interval", symmetric=False)
    settle(options, options.surface is not None, "needs --surface", force=False, resolution=50, limits=(-3, 3))
    family = family_of(options)
    mechanisms = [ex.mechanism(name, epsilon, options.delta) for epsilon in options.epsilon for name in names]
    if options.surface:
        return _write_surface(options, family, mechanisms)
    rows = [_row(options, family, mechanism) for mechanism in mechanisms]
    if all(row["score"] is None for row in rows):
        raise ValueError(f"score must differ from 0 for some interval, but {options.score} is 0 for all of them")
    if options.json:
        print_json(rows)
        return 0
    print(f"{family!r} population, score {options.score}, {'given' if options.interval else 'best'} interval [a, b]")
    for row in rows:  # the top is flat, so the place of a maximum is known to fewer digits than its height
        if row["a"] is not None and row["b"] - row["a"] > 0.01:
            row |= {end: round(row[end], 5) for end in ("a", "b")}
    print_table(list(_COLUMNS.values()), [[_short(row[key]) for key in _COLUMNS] for row in rows])
    classical = ex.classical_information(family)
    print(f"Without privacy: F[μ,μ] = {classical[0, 0]:.4f}, F[σ,σ] = {classical[1, 1]:.4f}.")
    for name in names:
        if not ex.MECHANISMS[name].pure:
            print(f"{name} is (ε, δ)-private with δ = {options.delta:g}: the best ε-LDP mechanism does not bound it.")
    return 0


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
        "best_ldp_mu_mu": ex.best_ldp(epsilon, family=family).value,
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
    if options.interval or options.symmetric:
        raise ValueError("--surface is over all intervals, and takes neither --interval nor --symmetric")
    check_file("--surface", options.surface, (".csv", ".npz"), options.force)
    surface = ex.score_surface(
        mechanism.epsilon,
        resolution=options.resolution,
        limits=options.limits,
        family=family,
        mechanism=mechanism,
        score=options.score,
    )
    with new_file("--surface", options.surface) as file:
        if Path(options.surface).suffix == ".npz":
            np.savez(file, **surface._asdict())
        else:
            file.write(_as_csv(surface).encode())
    count = np.count_nonzero(~np.isnan(surface.values))
    if options.json:
        print_json({"surface": options.surface, "intervals": count})
    else:
        print(f"Wrote {count} intervals to {options.surface}")
    return 0


def _as_csv(surface) -> str:
    import numpy as np

    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["a", "b", "score"])
    for i, j in np.argwhere(~np.isnan(surface.values)):
        writer.writerow([repr(float(x)) for x in (surface.a[i], surface.b[j], surface.values[i, j])])
    return text.getvalue()


def _short(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    value = 0.0 if abs(value) < 1e-12 else value
    readable = value == 0 or 1e-3 <= abs(value) < 1e6
    return f"{value:.6f}".rstrip("0").rstrip(".") if readable else f"{value:.3e}"
