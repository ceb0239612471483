"""The ``explorer`` command. Every subcommand prints a readable table, or exact JSON with ``--json``.

A wrong value gets one clear line on standard error and exit code 2, never a traceback.
"""

import argparse
import csv
import json
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
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
    except SystemError as error:  # an interruption that fell between two kernels
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            return 130
        raise


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

    simulate = commands.add_parser(
        "simulate",
        help="simulate a run: individuals answer one by one, the posterior and the interval follow",
        description="One simulated run of the whole method, and what is known about mu and sigma at some of its steps. "
        "The policy 'fixed' asks for mu ± 10 sigma, or for --first-interval, always.",
    )
    add = simulate.add_argument
    add("--mu", type=float, default=50.0, metavar="M", help="the population's location (default 50)")
    add("--sigma", type=float, default=10**0.5, metavar="S", help="the population's scale (default sqrt 10)")
    add("-n", "--n", type=int, default=1000, metavar="N", help="individuals (default 1000)")
    add("--epsilon", type=float, default=1.0, metavar="E", help="privacy level (default 1)")
    add(
        "--mechanism",
        default="laplace",
        metavar="NAME",
        help="laplace (default), gaussian, randomized_response, piecewise",
    )
    add("--delta", type=float, default=1e-5, metavar="D", help="delta of the gaussian mechanism (default 1e-5)")
    add("--family", default="normal", metavar="NAME", help="normal (default), student_t, logistic, laplace, gumbel")
    add("--df", type=float, metavar="DF", help="degrees of freedom of student_t (default 5)")
    add("--sampler", default="marginal", metavar="NAME", help="marginal (default), resample_move, grid, gradient")
    add("--particles", type=int, default=1000, metavar="N", help="particles of the sampler (default 1000)")
    add("--resampling", metavar="NAME", help="of resample_move: multinomial, systematic, stratified, residual")
    add("--subset", type=int, metavar="K", help="of resample_move: move only so many latent values in a step")
    add(
        "--policy",
        default="thompson",
        metavar="NAME",
        help="thompson (default), plug_in, pseudo_bayesian, fixed, oracle",
    )
    add(
        "--score",
        default="mu",
        metavar="NAME",
        help="what intervals maximise: mu (default), sigma, trace, det, mu|sigma",
    )
    add(
        "--first-interval", type=float, nargs=2, metavar=("L", "R"), help="the first interval (default: from the prior)"
    )
    add(
        "--prior",
        type=float,
        nargs=4,
        default=(0, 1e4, 1, 1),
        metavar=("MEAN", "VAR", "SHAPE", "SCALE"),
        help="mu ~ N(MEAN, VAR), sigma^2 ~ IG(SHAPE, SCALE) (default 0 1e4 1 1)",
    )
    add("--seed", type=int, metavar="K", help="of all random numbers: the same seed gives the same run")
    add("--keep", type=int, default=20, metavar="K", help="keep the particles of every K-th step in --out (default 20)")
    add("--out", metavar="FILE", help="write the whole trace to FILE, .npz")
    add("--json", action="store_true", help="print exact numbers as JSON")
    simulate.set_defaults(run=_simulate)

    study = commands.add_parser(
        "study",
        help="compare methods, mechanisms, families and privacy levels, each many times",
        description="Simulate every combination many times, and say how well each did: errors, coverage of the 95 "
        "percent intervals, time. Each finished replicate is kept in --out at once: start the same study again, and it "
        "goes on where it stopped. A method is adaptive, fixed, mcmc, oracle, gradient, or any sampler/policy, such as "
        "resample_move/thompson.",
    )
    add = study.add_argument
    add("--epsilon", type=float, nargs="+", default=(1, 2, 5, 10), metavar="E", help="privacy levels (1 2 5 10)")
    add("--method", nargs="+", default=["adaptive", "fixed"], metavar="NAME", help="methods (adaptive fixed)")
    add("--mechanism", nargs="+", default=["laplace"], metavar="NAME", help="mechanisms (laplace)")
    add("--family", nargs="+", default=["normal"], metavar="NAME", help="families of the population (normal)")
    add("-n", "--n", type=int, nargs="+", default=[1000], metavar="N", help="individuals (1000)")
    add("--particles", type=int, nargs="+", default=[1000], metavar="N", help="particles of the samplers (1000)")
    add("--replicates", type=int, default=30, metavar="K", help="of each combination (30)")
    add("--mu", type=float, default=50.0, metavar="M", help="the population's location (50)")
    add("--sigma", type=float, default=10**0.5, metavar="S", help="the population's scale (sqrt 10)")
    add("--prior-draws", action="store_true", help="draw mu and sigma from the prior, anew for each replicate")
    add("--score", default="mu", metavar="NAME", help="what intervals maximise (mu)")
    add("--delta", type=float, default=1e-5, metavar="D", help="delta of the gaussian mechanism (1e-5)")
    add("--iterations", type=int, metavar="K", help="of the batch methods, mhaar and metropolis (10000)")
    add("--out", default="study", metavar="FOLDER", help="keeps the replicates, and gets the tables (study)")
    add("--json", action="store_true", help="print exact numbers as JSON")
    _add_work(study)
    study.set_defaults(run=_study)

    reproduce = commands.add_parser(
        "reproduce",
        help="the paper's experiments: its Figures 2 and 3, and the table behind them",
        description="Run the paper's comparison and write its figures (PNG and HTML), the table behind them, and a "
        "page, index.html, that sets its statements beside what was found. Interrupted, it goes on where it stopped.",
    )
    add = reproduce.add_argument
    add("--quick", action="store_true", help="8 replicates and short chains: a first look, within two minutes")
    add(
        "--as-coded",
        action="store_true",
        help="the setting of the author's code, whose answers are sqrt 2 less private",
    )
    add("--sampler", default="marginal", metavar="NAME", help="of the online methods (marginal); resample_move is slow")
    add("--replicates", type=int, metavar="K", help="of each combination (30)")
    add("--out", metavar="FOLDER", help="gets everything (reproduction, or reproduction-as-coded)")
    _add_work(reproduce)
    reproduce.set_defaults(run=_reproduce)

    audit = commands.add_parser(
        "audit",
        help="check whether a mechanism keeps its epsilon",
        description="The largest log-ratio of an answer's densities under two values, exactly, and a lower bound of "
        "the real epsilon measured from answers alone. Ends with code 1 if the claim is refuted.",
    )
    add = audit.add_argument
    add("--mechanism", nargs="+", default=["all"], metavar="NAME", help="mechanisms, or 'all' (the default)")
    add("--epsilon", type=float, default=1.0, metavar="E", help="privacy level (1)")
    add("--delta", type=float, default=1e-5, metavar="D", help="delta of the gaussian mechanism (1e-5)")
    add("--interval", type=float, nargs=2, default=(-1, 1), metavar=("L", "R"), help="what is asked for (-1 1)")
    add("--trials", type=int, default=20_000, metavar="K", help="answers for each value (20000)")
    add("--confidence", type=float, default=0.999, metavar="C", help="of the lower bound (0.999)")
    add("--as-coded", action="store_true", help="the noise of the author's code: a scale taken for a deviation")
    add("--seed", type=int, metavar="K", help="of all random numbers")
    add("--json", action="store_true", help="print exact numbers as JSON")
    audit.set_defaults(run=_audit)

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
    collect.set_defaults(run=_collect)

    serve = commands.add_parser("serve", help="start the app in the browser", description="Start the app.")
    serve.add_argument("--port", type=int, default=5006, metavar="P", help="port (0: any free one)")
    serve.add_argument("--address", default="127.0.0.1", metavar="A", help="address to listen on")
    serve.add_argument(
        "--allow-origin",
        nargs="+",
        metavar="HOST",
        help="also accept pages opened under these names (host or host:port)",
    )
    serve.add_argument(
        "--basic-auth", metavar="P", help="ask visitors for this password, or for those in this JSON file of users"
    )
    serve.add_argument(
        "--num-procs", type=int, default=1, metavar="K", help="processes that share the port (default 1)"
    )
    serve.add_argument(
        "--computations", type=int, metavar="K", help="so many run at once, others wait (default: cores + 4)"
    )
    serve.add_argument("--max-upload", type=int, metavar="MB", help="largest file of Your data (default 20)")
    serve.add_argument("--no-browser", action="store_true", help="do not open a browser")
    serve.set_defaults(run=_serve)
    return parser


def _add_work(parser: argparse.ArgumentParser) -> None:
    """What all that takes long has in common."""
    parser.add_argument("--seed", type=int, default=1, metavar="K", help="of all random numbers (1)")
    parser.add_argument("--workers", type=int, metavar="K", help="processes (as many as cores)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster to work on, such as tcp://10.0.0.1:8786"
    )


def _fisher(options: argparse.Namespace) -> int:
    import explorer as ex

    names = list(ex.MECHANISMS) if options.mechanism == ["all"] else options.mechanism
    family = _family(options)
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
    for row in rows:  # the top is flat, so the place of a maximum is known to fewer digits than its height
        if row["a"] is not None and row["b"] - row["a"] > 0.01:
            row |= {end: round(row[end], 5) for end in ("a", "b")}
    _print_table(list(_COLUMNS.values()), [[_short(row[key]) for key in _COLUMNS] for row in rows])
    classical = ex.classical_information(family)
    print(f"Without privacy: F[μ,μ] = {classical[0, 0]:.4f}, F[σ,σ] = {classical[1, 1]:.4f}.")
    if "gaussian" in names:
        print(f"gaussian is (ε, δ)-private with δ = {options.delta:g}: the best ε-LDP mechanism does not bound it.")
    return 0


def _family(options: argparse.Namespace):
    import explorer as ex

    return ex.family(options.family, **({} if options.df is None else {"df": options.df}))


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


#: The steps of a run that its table shows, beside the last.
_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def _simulate(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    import explorer as ex

    if options.out and Path(options.out).suffix != ".npz":
        raise ValueError(f"--out must end in .npz, got {options.out!r}")
    if options.out and not Path(options.out).parent.is_dir():  # told now, not after a long run
        raise ValueError(f"--out {options.out} cannot be written: there is no such folder")
    elsewhere = {"run", "command", "family", "df", "prior", "resampling", "subset", "out", "json"}
    settings = {name: value for name, value in vars(options).items() if name not in elsewhere}
    settings["family"] = _family(options)
    settings["prior"] = ex.SemiConjugatePrior(*options.prior)
    settings["sampler_options"] = {
        name: getattr(options, name) for name in ("resampling", "subset") if getattr(options, name) is not None
    }
    # Nobody needs a bar for what takes less than a second.
    with tqdm(total=options.n, unit=" answers", delay=1, disable=not sys.stderr.isatty(), leave=False) as bar:
        trace = ex.simulate(**settings, progress=lambda t: bar.update())
    if options.out:
        try:
            trace.save(options.out)
        except OSError as error:
            raise ValueError(f"--out {options.out} cannot be written: {error.strerror}") from None
    shown = [t for t in _SHOWN if t < len(trace)] + [len(trace)]
    rows = [_trace_row(trace, t) for t in shown]
    if options.json:
        print(json.dumps({"settings": trace.settings, "seconds": float(trace.seconds.sum()), "steps": rows}, indent=2))
        return 0
    mechanism = ex.mechanism(options.mechanism, options.epsilon, options.delta)
    print(f"{settings['family']!r} population, mu = {options.mu:g}, sigma = {options.sigma:g}; {mechanism!r}")
    # Quantiles, because under the paper's prior sigma has no posterior variance.
    print("After t answers, the last of them y to [l, r]: posterior medians and 95 % intervals")
    _print_table(["t", "l", "r", "y", "mu", "from", "to", "sigma", "from", "to", "ess"], map(_step_cells, rows))
    if options.out:
        print(f"Wrote {options.out}")
    print(f"{len(trace)} answers in {trace.seconds.sum():.2f} s, --seed {trace.settings['seed']}", file=sys.stderr)
    return 0


def _trace_row(trace, t: int) -> dict:
    """What was asked and answered at step t, and what is known after it."""
    at = t - 1
    return {
        "t": t,
        "left": float(trace.left[at]),
        "right": float(trace.right[at]),
        "y": float(trace.y[at]),
        "mu": float(trace.mean[at, 0]),
        "mu_sd": float(trace.sd[at, 0]),
        "sigma": float(trace.mean[at, 1]),
        "sigma_sd": float(trace.sd[at, 1]),
        "quantiles": {f"{level:g}": trace.quantiles[at, k].tolist() for k, level in enumerate(trace.levels)},
        "ess": float(trace.ess[at]),
        "log_evidence": float(trace.log_evidence[at]),
    }


def _step_cells(row: dict) -> list[str]:
    low, middle, high = row["quantiles"].values()
    cells = [row["left"], row["right"], row["y"]]
    cells += [value for column in (0, 1) for value in (middle[column], low[column], high[column])]
    return [f"{row['t']}", *[f"{cell:.3f}" for cell in cells], f"{row['ess']:.0f}"]


def _short(value: float | str | None) -> str:
    if value is None or isinstance(value, str):
        return value or "–"
    value = 0.0 if abs(value) < 1e-12 else value
    readable = value == 0 or 1e-3 <= abs(value) < 1e6
    return f"{value:.6f}".rstrip("0").rstrip(".") if readable else f"{value:.3e}"


def _print_table(header: list[str], rows: Iterable[list[str]]) -> None:
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _audit(options: argparse.Namespace) -> int:
    from dataclasses import asdict

    import explorer as ex
    from explorer.engine.audit import as_coded

    settings = {name: getattr(options, name) for name in ("trials", "confidence", "seed")}
    if options.as_coded:
        release = as_coded(options.epsilon)
        reports = [ex.audit(release, options.interval, epsilon=options.epsilon, **settings)]
    else:
        names = list(ex.MECHANISMS) if options.mechanism == ["all"] else options.mechanism
        mechanisms = [ex.mechanism(name, options.epsilon, options.delta) for name in names]
        reports = [ex.audit(mechanism, options.interval, **settings) for mechanism in mechanisms]
    if options.json:
        rows = [asdict(report) | {"violation": report.violation} for report in reports]
        for row in rows:
            row |= {name: row[name] and row[name]._asdict() for name in ("event", "analytic")}
        print(json.dumps(rows, indent=2))
    else:
        print(*reports, sep="\n")
    return int(any(report.violation for report in reports))


def _collect(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    import explorer as ex
    from explorer.engine.collection import LEVELS, people_needed

    if options.out and Path(options.out).suffix != ".csv":
        raise ValueError(f"--out must end in .csv, got {options.out!r}")
    if options.out and not Path(options.out).parent.is_dir():  # told now: nobody can be asked again
        raise ValueError(f"--out {options.out} cannot be written: there is no such folder")
    mechanism = ex.mechanism(options.mechanism, options.epsilon, options.delta)
    prior = ex.SemiConjugatePrior.expecting(*options.expect)
    estimator = ex.OnlineEstimator(
        mechanism=mechanism,
        epsilon=options.epsilon,
        family=_family(options),
        particles=options.particles,
        score=options.score,
        prior=prior,
    )
    file = ex.DataFile(options.file)
    if options.column is None and len(file.columns) > 1:
        raise ValueError(f"--column must be one of {', '.join(map(repr, file.columns))}")
    column = file.read(options.column or file.columns[0])
    opened = ex.open_estimate(column.values, estimator.family)._asdict() if options.public else None
    collection = ex.Collection(column.values, estimator, options.most)
    rows = []
    try:
        for step in tqdm(collection, total=collection.people, delay=1, disable=not sys.stderr.isatty(), leave=False):
            rows.append((step.t, *step.interval, step.y, *step.posterior.quantiles(LEVELS).ravel().tolist()))
    except ImportError as error:
        raise ValueError(str(error)) from None
    if options.out:
        _write_answers(options.out, rows)
    widths = [row[8] - row[4] for row in rows]
    needed = None if options.width is None else people_needed(widths, options.width)
    if options.json:
        found = {
            "people": len(rows),
            "rows": column.values.size,
            "missing": column.missing,
            "epsilon": mechanism.epsilon,
            "delta": mechanism.delta,
            "mu": dict(zip(map(str, LEVELS), rows[-1][4::2], strict=True)),
            "sigma": dict(zip(map(str, LEVELS), rows[-1][5::2], strict=True)),
            "width": options.width,
            "people_needed": needed,
            "without_privacy": opened,
        }
        print(json.dumps(found, indent=2))
        return 0
    print(f"{mechanism!r}, {estimator.family!r} population, column {column.name!r}")
    for note in file.notes:
        print(f"{note}.")
    if column.missing:
        print(f"{column.missing} empty cells were left out.")
    if len(rows) < column.values.size:
        print(f"{len(rows)} of {column.values.size} people were asked, drawn at random.")
    print("After t answers: posterior medians and 95 % intervals")
    shown = [row for row in rows if row[0] in _SHOWN or row is rows[-1]]
    cells = ([f"{row[0]}", *(f"{row[k]:.5g}" for k in (6, 4, 8, 7, 5, 9))] for row in shown)
    _print_table(["t", "mu", "from", "to", "sigma", "from", "to"], cells)
    if options.width is not None:
        told = "was not reached" if needed is None else f"took {needed} people"
        print(f"A 95 % interval of mu of width {options.width:g} {told}; the last is {widths[-1]:.3g} wide.")
    if opened:
        print(
            "Without privacy, from public data: mu = {mu:.6g} ± {standard_error:.2g}, sigma = {sigma:.5g}".format(
                **opened
            )
        )
    if options.out:
        print(f"Wrote {options.out}: answers and estimates, nobody's value")
    return 0


def _write_answers(path: str, rows: list[tuple]) -> None:
    names = [f"{side}_{level}" for level in ("2.5%", "50%", "97.5%") for side in ("mu", "sigma")]
    try:
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["t", "left", "right", "y", *names])
            writer.writerows([row[0], *map(repr, row[1:])] for row in rows)
    except OSError as error:
        raise ValueError(f"--out {path} cannot be written: {error.strerror}") from None


def _study(options: argparse.Namespace) -> int:
    from explorer.engine.replicate import parts
    from explorer.engine.samplers import BATCH_SAMPLERS
    from explorer.engine.study import study, write_tables
    from explorer.engine.summary import summary

    batch = {parts(method)[0] for method in options.method} & set(BATCH_SAMPLERS)
    if options.iterations is not None and not batch:
        raise ValueError("--iterations is for batch methods, such as mcmc, and there is none")
    settings = {name: getattr(options, name) for name in ("replicates", "n", "particles", "score", "seed", "delta")}
    if options.prior_draws:
        settings |= {"mu": None, "sigma": None}
    else:
        settings |= {"mu": options.mu, "sigma": options.sigma}
    if options.iterations is not None:
        settings["options"] = {name: {"iterations": options.iterations} for name in batch}
    settings |= {"mechanisms": options.mechanism, "families": options.family, "out": options.out}
    with _bar() as progress:
        table = study(
            options.epsilon,
            options.method,
            workers=options.workers,
            scheduler=options.scheduler,
            progress=progress,
            **settings,
        )
    found = summary(table)
    folder = Path(options.out)
    write_tables(folder, table, found)
    if options.json:
        print(found.to_json(orient="records", indent=2))
    else:
        _print_table(
            list(_STUDY_COLUMNS), ([show(row) for show in _STUDY_COLUMNS.values()] for row in found.itertuples())
        )
        print(f"± is the Monte Carlo standard error of an RMSE. Wrote {folder / 'table.csv'} and replicates.parquet.")
    return _told_failures(table)


_STUDY_COLUMNS = {
    "method": lambda row: row.method,
    "mechanism": lambda row: row.mechanism,
    "family": lambda row: row.family,
    "n": lambda row: f"{row.n}",
    "particles": lambda row: f"{row.particles}",
    "epsilon": lambda row: f"{row.epsilon:g}",
    "RMSE mu": lambda row: f"{row.mu_rmse:.3f} ± {row.mu_rmse_error:.3f}",
    "RMSE sigma": lambda row: f"{row.sigma_rmse:.3f} ± {row.sigma_rmse_error:.3f}",
    "cover mu": lambda row: f"{row.mu_coverage:.0%}",
    "cover sigma": lambda row: f"{row.sigma_coverage:.0%}",
    "efficiency": lambda row: f"{row.efficiency:.2f}",
    "draws": lambda row: f"{row.ess:.0f}",
    "s a run": lambda row: f"{row.seconds:.2f}",
    "runs": lambda row: f"{row.replicates}",
    "failed": lambda row: f"{row.failed}",
}


def _reproduce(options: argparse.Namespace) -> int:
    from explorer.reproduction import HEADER, cells, reproduce

    out = Path(options.out or ("reproduction-as-coded" if options.as_coded else "reproduction"))
    names = ("quick", "as_coded", "sampler", "replicates", "seed", "workers", "scheduler")
    with _bar() as progress:
        found, table = reproduce(out, progress=progress, **{name: getattr(options, name) for name in names})
    _print_table(HEADER, map(cells, found.itertuples()))
    print(f"Open {out / 'index.html'}")
    return _told_failures(table)


@contextmanager
def _bar():
    """One progress bar, on a terminal; what it yields is the ``progress`` of a study."""
    from tqdm import tqdm

    with tqdm(unit=" runs", disable=not sys.stderr.isatty(), leave=False, smoothing=0.05) as bar:

        def progress(row: dict, done: int, total: int) -> None:
            bar.total = total
            bar.set_description(f"{row['method']}, {row['mechanism']}, ε = {row['epsilon']:g}", refresh=False)
            bar.update(done - bar.n)

        yield progress


def _told_failures(table) -> int:
    failed = table[table["error"].notna()]
    if failed.empty:
        return 0
    print(f"{len(failed)} of {len(table)} replicates failed, the first: {failed['error'].iloc[0]}", file=sys.stderr)
    return 1


def _serve(options: argparse.Namespace) -> int:
    from explorer.server import serve

    return serve(
        port=options.port,
        address=options.address,
        browser=not options.no_browser,
        allow_origin=options.allow_origin,
        basic_auth=options.basic_auth,
        num_procs=options.num_procs,
        computations=options.computations,
        max_upload=options.max_upload,
    )
