"""``explorer audit``: does a mechanism keep its epsilon?"""

import argparse
import json


def add(commands) -> None:
    """The options."""
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
    audit.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
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
