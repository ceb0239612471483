"""What several commands take."""

import argparse
from pathlib import Path


def add_work(parser: argparse.ArgumentParser) -> None:
    """What all that takes long has in common."""
    parser.add_argument("--seed", type=int, default=1, metavar="K", help="of all random numbers (1)")
    parser.add_argument("--workers", type=int, metavar="K", help="processes (as many as cores)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster to work on, such as tcp://10.0.0.1:8786"
    )


def family_of(options: argparse.Namespace):
    """The family that --family and --df name."""
    import explorer as ex

    return ex.family(options.family, **({} if options.df is None else {"df": options.df}))


def check_out(path: str | None, ending: str) -> None:
    """Tell before the work begins, and not after it, if --out cannot be written."""
    if path and Path(path).suffix != ending:
        raise ValueError(f"--out must end in {ending}, got {path!r}")
    if path and not Path(path).parent.is_dir():
        raise ValueError(f"--out {path} cannot be written: there is no such folder")
