"""``explorer study``: methods, mechanisms, families and privacy levels, each many times."""

import argparse
import math
from pathlib import Path

from explorer.commands.limits import RUNS, check_held, check_population
from explorer.commands.options import Listed, add_work, settle, settle_delta, settle_work
from explorer.commands.terminal.printing import bar, print_json, print_table, told_failures

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


def add(commands) -> None:
    """The options."""
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
    add(
        "--mechanism",
        nargs="+",
        default=["laplace"],
        metavar="NAME",
        help=Listed("MECHANISMS", "laplace", "mechanisms: "),
    )
    add(
        "--family",
        nargs="+",
        default=["normal"],
        metavar="NAME",
        help=Listed("FAMILIES", "normal", "families of the population: "),
    )
    add("-n", "--n", type=int, nargs="+", default=[1000], metavar="N", help="individuals (1000)")
    add("--particles", type=int, nargs="+", metavar="N", help="particles of the samplers (1000)")
    add("--replicates", type=int, default=30, metavar="K", help="of each combination (30)")
    add("--mu", type=float, metavar="M", help="the population's location (50)")
    add("--sigma", type=float, metavar="S", help="the population's scale (sqrt 10)")
    add("--prior-draws", action="store_true", help="draw mu and sigma from the prior, anew for each replicate")
    add("--score", default="mu", metavar="NAME", help=Listed("SCORES", "mu", "what intervals maximise: "))
    add("--delta", type=float, metavar="D", help="delta of the gaussian mechanism (1e-5)")
    add("--iterations", type=int, metavar="K", help="of the batch methods, mhaar and metropolis (10000)")
    add("--out", default="study", metavar="FOLDER", help="keeps the replicates, and gets the tables (study)")
    add("--json", action="store_true", help="print exact numbers as JSON")
    add_work(study)
    study.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from explorer.engine.inference.samplers import BATCH_SAMPLERS
    from explorer.studies.folder import write_tables
    from explorer.studies.replicate import parts
    from explorer.studies.study import study
    from explorer.studies.summary import summary

    samplers = {parts(method)[0] for method in options.method}
    batch = samplers & set(BATCH_SAMPLERS)
    _settle(options, batch, samplers - batch)
    _check_sizes(options, samplers)
    check_population(options.mu, options.sigma)
    settings = {name: getattr(options, name) for name in ("replicates", "n", "particles", "score", "seed", "delta")}
    if options.prior_draws:
        settings |= {"mu": None, "sigma": None}
    else:
        settings |= {"mu": options.mu, "sigma": options.sigma}
    if options.iterations is not None:
        settings["options"] = {name: {"iterations": options.iterations} for name in batch}
    settings |= {"mechanisms": options.mechanism, "families": options.family, "out": options.out}
    with bar() as progress:
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
        print_json(found.to_dict(orient="records"))
    else:
        print_table(
            list(_STUDY_COLUMNS), ([show(row) for show in _STUDY_COLUMNS.values()] for row in found.itertuples())
        )
        print(f"± is the Monte Carlo standard error of an RMSE. Wrote {folder / 'table.csv'} and replicates.parquet.")
    return told_failures(table)


def _settle(options: argparse.Namespace, batch: set[str], online: set[str]) -> None:
    settle_work(options)
    settle_delta(options, options.mechanism)
    settle(options, not options.prior_draws, "has no effect with --prior-draws", mu=50.0, sigma=10**0.5)
    settle(options, bool(online - {"grid"}), "has no effect on any of these methods", particles=[1000])
    settle(options, bool(batch), "is for batch methods, such as mcmc, and there is none", iterations=None)


def _check_sizes(options: argparse.Namespace, samplers: set[str]) -> None:
    several = (options.epsilon, options.method, options.mechanism, options.family, options.n, options.particles)
    runs = math.prod(map(len, several)) * options.replicates
    if runs > RUNS:
        raise ValueError(f"a study must have at most {RUNS} runs, and these combinations and --replicates make {runs}")
    if "resample_move" in samplers:
        check_held(max(options.particles) * max(options.n), "a latent value of each individual for each particle")
