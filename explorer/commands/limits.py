"""The largest sizes that a command takes: far beyond what is of use, and below what a machine could not bear."""

import argparse
import math

#: By the names of the options.
LARGEST = {
    "n": 10_000_000,
    "most": 10_000_000,
    "keep": 10_000_000,
    "subset": 10_000_000,
    "particles": 1_000_000,
    "resolution": 2000,
    "replicates": 100_000,
    "iterations": 10_000_000,
    "trials": 10_000_000,
    "workers": 500,
    "num_procs": 100,
    "computations": 10_000,
    "max_upload": 10_000,
}
#: Combinations of a study, times their replicates.
RUNS = 1_000_000
#: Numbers that may have to be held in memory at once, of 8 bytes each.
HELD = 1_000_000_000


def check_sizes(options: argparse.Namespace) -> None:
    """Refuse what would end in a lack of memory, or never."""
    for name, largest in LARGEST.items():
        given = getattr(options, name, None)
        for size in given if isinstance(given, list) else [given]:
            if size is not None and size > largest:
                raise ValueError(f"--{name.replace('_', '-')} must be at most {largest}, got {size}")


def check_held(numbers: int, what: str) -> None:
    """Refuse what fits each limit, and all of them together do not."""
    if numbers > HELD:
        raise ValueError(f"{what} would need {numbers:.1e} numbers in memory, and the limit is {HELD:.0e}")


def check_population(mu: float, sigma: float) -> None:
    """Refuse what lets values of the population overflow."""
    if not math.isfinite(abs(mu) + 1e6 * sigma):
        raise ValueError(f"mu and sigma are too large for a population of finite values, got {mu:g} and {sigma:g}")
