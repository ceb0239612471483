"""The ``explorer`` command. Every subcommand prints a readable table, or exact JSON with ``--json``.

A wrong value gets one clear line on standard error and exit code 2, never a traceback.
"""

import argparse
import json
import sys
from collections.abc import Sequence

EPSILONS = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line."""

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
    classical = ex.classical_information(family)
    rows = []
    for epsilon in options.epsilon:
        bound = ex.ldp_bound(epsilon, family)
        for name in names:
            mechanism = ex.mechanism(name, epsilon, options.delta)
            shared = {"family": family, "mechanism": mechanism}
            if options.interval:
                a, b = ex.Interval(*options.interval)
                value = ex.score_surface(epsilon, a=[a], b=[b], score=options.score, **shared).values[0, 0]
            else:
                a, b, value = ex.best_interval(epsilon, score=options.score, symmetric=options.symmetric, **shared)
            matrix = ex.fisher_information(a, b, epsilon, **shared)
            rows.append(
                {
                    "epsilon": epsilon,
                    "mechanism": name,
                    "a": a,
                    "b": b,
                    "score": float(value),
                    "mu_mu": float(matrix[0, 0]),
                    "mu_sigma": float(matrix[0, 1]),
                    "sigma_sigma": float(matrix[1, 1]),
                    "best_ldp_mu_mu": bound.value,
                }
            )
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(f"{family!r} population, score {options.score}, {'given' if options.interval else 'best'} interval [a, b]")
    header = ["epsilon", "mechanism", "a", "b", "score", "F[μ,μ]", "F[μ,σ]", "F[σ,σ]", "best ε-LDP F[μ,μ]"]
    cells = [[_short(value) for value in row.values()] for row in rows]
    _print_table(header, cells)
    print(f"Without privacy: F[μ,μ] = {classical[0, 0]:.4f}, F[σ,σ] = {classical[1, 1]:.4f}.")
    if "gaussian" in names:
        print(f"gaussian is (ε, δ)-private with δ = {options.delta:g}; the ε-LDP column does not bound it.")
    return 0


def _short(value: float | str) -> str:
    if isinstance(value, str):
        return value
    value = 0.0 if abs(value) < 1e-12 else value
    return f"{value:.6f}".rstrip("0").rstrip(".") if abs(value) >= 1e-3 or value == 0 else f"{value:.3e}"


def _print_table(header: list[str], rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _serve(options: argparse.Namespace) -> int:
    from explorer.server import serve

    return serve(port=options.port, address=options.address, browser=not options.no_browser)
