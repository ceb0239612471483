"""``explorer audit``: does a mechanism keep its epsilon?"""

import argparse
import math

from explorer.commands.options import settle_delta
from explorer.commands.terminal.printing import print_json


def add(commands) -> None:
    """The options."""
    audit = commands.add_parser(
        "audit",
        help="check whether a mechanism keeps its epsilon",
        description="The largest log-ratio of an answer's densities under two values, exactly, and a lower bound of "
        "the real epsilon measured from answers alone. Ends with code 1 if the claim is refuted.",
    )
    add = audit.add_argument
    add("--mechanism", nargs="+", action="extend", metavar="NAME", help="mechanisms, or 'all' (the default)")
    add("--epsilon", type=float, default=1.0, metavar="E", help="privacy level (1)")
    add("--delta", type=float, metavar="D", help="delta of the gaussian mechanism (1e-5)")
    add("--interval", type=float, nargs=2, default=(-1, 1), metavar=("L", "R"), help="what is asked for (-1 1)")
    add("--trials", type=int, default=20_000, metavar="K", help="answers for each value (20000; at most 10000000)")
    add(
        "--confidence",
        type=float,
        default=0.999,
        metavar="C",
        help="confidence level of the lower bound (default 0.999)",
    )
    add("--as-coded", action="store_true", help="the published code's Laplace noise, too small by a factor of √2")
    add("--seed", type=int, metavar="K", help="random seed")
    add("--json", action="store_true", help="print exact numbers as JSON; NaN and infinities are strings")
    audit.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import numpy as np

    import explorer as ex

    settings = {name: getattr(options, name) for name in ("trials", "confidence", "seed")}
    try:
        with np.errstate(all="ignore"):  # an infinite answer is found by the audit, and told as part of its event
            reports = [ex.audit(release, options.interval, **claim, **settings) for release, claim in _claims(options)]
    except MemoryError:
        raise ValueError(f"--trials {options.trials} takes more memory than there is") from None
    if options.json:
        print_json([_row(report) for report in reports])
    else:
        print(*reports, sep="\n")
    return int(any(report.violation for report in reports))


def _claims(options: argparse.Namespace) -> list[tuple]:
    """What is audited, each with what it claims beside its own epsilon."""
    import explorer as ex
    from explorer.engine.privacy.audit import as_coded

    if options.as_coded:
        if options.mechanism not in (None, ["laplace"]):
            raise ValueError(f"--as-coded is laplace noise, got --mechanism {' '.join(options.mechanism)}")
        if options.delta is not None:
            raise ValueError("--as-coded is laplace noise, which has no --delta")
        return [(as_coded(options.epsilon), {"epsilon": options.epsilon})]
    names = options.mechanism or ["all"]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"--mechanism names {twice[0]} twice")
    if "all" in names and len(names) > 1:
        raise ValueError(f"--mechanism all stands alone, got {' '.join(names)}")
    names = list(ex.MECHANISMS) if names == ["all"] else names
    settle_delta(options, names)
    return [(ex.mechanism(name, options.epsilon, options.delta), {}) for name in names]


def _row(report) -> dict:
    from dataclasses import asdict

    row = asdict(report) | {"violation": report.violation}
    row |= {name: row[name] and row[name]._asdict() for name in ("event", "analytic")}
    return _strict(row)


def _strict(thing):
    """With text for answers that are no number: elsewhere null says that there is none."""
    if isinstance(thing, dict):
        return {name: _strict(value) for name, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_strict(value) for value in thing]
    return "NaN" if isinstance(thing, float) and math.isnan(thing) else thing
