"""``explorer reproduce``: the paper's experiments."""

import argparse
from pathlib import Path

from explorer.commands.options import add_work, settle, settle_work
from explorer.commands.terminal.printing import bar, print_table, told_failures


def add(commands) -> None:
    """The options."""
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
    add("--sampler", metavar="NAME", help="of the online methods (marginal); resample_move is slow")
    add("--replicates", type=int, metavar="K", help="of each combination (30)")
    add("--out", metavar="FOLDER", help="gets everything (reproduction, or reproduction-as-coded)")
    add_work(reproduce)
    reproduce.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from explorer.studies.reproduction import HEADER, cells, reproduce

    settle_work(options)
    settle(options, not options.as_coded, "has no effect with --as-coded", sampler="marginal")
    out = Path(options.out or ("reproduction-as-coded" if options.as_coded else "reproduction"))
    names = ("quick", "as_coded", "sampler", "replicates", "seed", "workers", "scheduler")
    with bar() as progress:
        found, table = reproduce(out, progress=progress, **{name: getattr(options, name) for name in names})
    print_table(HEADER, map(cells, found.itertuples()))
    print(f"Open {out / 'index.html'}")
    return told_failures(table)
