"""``explorer simulate``: a simulated run, and what is known at some of its steps."""

import argparse
import sys

from explorer.commands.limits import check_held, check_population
from explorer.commands.options import Listed, check_file, family_of, not_written, settle, settle_delta
from explorer.commands.terminal.printing import SHOWN, print_json, print_table

#: Options that ``explorer.simulate`` takes as they are.
_AS_GIVEN = ("mu", "sigma", "n", "epsilon", "mechanism", "delta", "sampler", "particles", "policy", "score")
_AS_GIVEN += ("first_interval", "seed", "keep")


def add(commands) -> None:
    """The options."""
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
        help=Listed("MECHANISMS", "laplace"),
    )
    add("--delta", type=float, metavar="D", help="delta of the gaussian mechanism (default 1e-5)")
    add("--family", default="normal", metavar="NAME", help=Listed("FAMILIES", "normal"))
    add("--df", type=float, metavar="DF", help="degrees of freedom of student_t (default 5)")
    add("--sampler", default="marginal", metavar="NAME", help=Listed("SAMPLERS", "marginal"))
    add("--particles", type=int, metavar="N", help="particles of the sampler (default 1000)")
    add("--resampling", metavar="NAME", help="of resample_move: multinomial, systematic, stratified, residual")
    add("--subset", type=int, metavar="K", help="of resample_move: move only so many latent values in a step")
    add(
        "--policy",
        default="thompson",
        metavar="NAME",
        help=Listed("POLICIES", "thompson"),
    )
    add(
        "--score",
        default="mu",
        metavar="NAME",
        help=Listed("SCORES", "mu", "what intervals maximise: "),
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
    add("--seed", type=int, metavar="K", help="random seed: the same seed gives the same run")
    add("--keep", type=int, metavar="K", help="keep the particles of every K-th step in --out (default 20)")
    add("--out", metavar="FILE", help="write the whole trace to FILE, .npz")
    add("--force", action="store_true", help="replace the file of --out if there is one")
    add("--json", action="store_true", help="print exact numbers as JSON")
    simulate.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    import explorer as ex

    settle_delta(options, [options.mechanism])
    settle(options, options.sampler != "grid", "has no effect on the sampler grid", particles=1000)
    settle(options, options.out is not None, "needs --out", keep=20, force=False)
    _check_sizes(options)
    check_population(options.mu, options.sigma)
    if options.out is not None:
        check_file("--out", options.out, (".npz",), options.force)
    settings = {name: getattr(options, name) for name in _AS_GIVEN}
    settings["family"] = family_of(options)
    settings["prior"] = ex.SemiConjugatePrior(*options.prior)
    settings["sampler_options"] = {
        name: getattr(options, name) for name in ("resampling", "subset") if getattr(options, name) is not None
    }
    if options.out is None:
        settings["keep"] = ()  # nobody would see them
    # Nobody needs a bar for what takes less than a second.
    with tqdm(total=options.n, unit=" answers", delay=1, disable=not sys.stderr.isatty(), leave=False) as bar:
        trace = ex.simulate(**settings, progress=lambda t: bar.update())
    if options.out:
        try:
            trace.save(options.out)
        except OSError as error:
            raise not_written("--out", options.out, error) from None
    shown = [t for t in SHOWN if t < len(trace)] + [len(trace)]
    rows = [_trace_row(trace, t) for t in shown]
    if trace.lost[-1]:
        told = "the sampler is lost, as other parameters explain the answers far better: do not trust the estimates"
        print(f"explorer simulate: {told}", file=sys.stderr)
    if options.json:
        print_json({"settings": trace.settings, "seconds": float(trace.seconds.sum()), "steps": rows})
        return 0
    mechanism = ex.mechanism(options.mechanism, options.epsilon, options.delta)
    print(f"{settings['family']!r} population, mu = {options.mu:g}, sigma = {options.sigma:g}; {mechanism!r}")
    # Quantiles, because under the paper's prior sigma has no posterior variance.
    print("After t answers, the last of them y to [l, r]: posterior medians and 95 % intervals")
    print_table(["t", "l", "r", "y", "mu", "from", "to", "sigma", "from", "to", "ess"], map(_step_cells, rows))
    if options.out:
        print(f"Wrote {options.out}")
    print(f"{len(trace)} answers in {trace.seconds.sum():.2f} s, --seed {trace.settings['seed']}", file=sys.stderr)
    return 0


def _check_sizes(options: argparse.Namespace) -> None:
    if options.keep < 1:
        raise ValueError(f"keep must be a whole number of at least 1, got {options.keep}")
    if options.out is not None:
        check_held(3 * options.particles * (options.n // options.keep + 1), "the particles that --keep keeps")
    if options.sampler == "resample_move":
        check_held(options.particles * options.n, "a latent value of each individual for each particle")


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
        "lost": bool(trace.lost[at]),
    }


def _step_cells(row: dict) -> list[str]:
    low, middle, high = row["quantiles"].values()
    cells = [row["left"], row["right"], row["y"]]
    cells += [value for column in (0, 1) for value in (middle[column], low[column], high[column])]
    return [f"{row['t']}", *map(_short, cells), f"{row['ess']:.0f}"]


def _short(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1e9 else f"{value:.6g}"
