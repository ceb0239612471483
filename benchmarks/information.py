"""The exact Fisher surface against the paper's Monte Carlo, and its time for every family and mechanism."""

import time

import numpy as np

import explorer as ex
from benchmarks.timing import line, seconds

PAIRS = 50 * 49 // 2


def run(small: bool = False) -> None:
    repeats, answers = (1, 20) if small else (7, 1000)
    exact = seconds(lambda: ex.score_surface(1.0), repeats)
    start = time.perf_counter()
    ex.monte_carlo_information(-0.06, 0.06, 1.0, answers=answers, samples=10_000, seed=1)
    one_pair = (time.perf_counter() - start) * 1000 / answers  # its cost is a multiple of the answers
    ratio = one_pair * PAIRS / exact
    line(
        f"50x50 surface, exact, against printed Monte Carlo ({one_pair:.2f} s a pair x {PAIRS})",
        f"{ratio:,.0f}x",
        ">= 50,000x",
        ratio >= 50_000,
    )
    error = _largest_error()
    line("  its largest error against a fine partition of the squared score", f"{error:.1e}", "<= 1e-8", error <= 1e-8)
    for family in ("normal", "gumbel") if small else ex.FAMILIES:
        limit = 50 if family == "normal" else 300
        for mechanism in ex.MECHANISMS:
            worst = max(
                seconds(
                    lambda e=e, f=family, m=mechanism: ex.score_surface(e, family=f, mechanism=m), 1 if small else 3
                )
                for e in ((2.0,) if small else (0.5, 2.0, 10.0))
            )
            line(
                f"50x50 surface, {family}, {mechanism}", f"{worst * 1e3:.1f} ms", f"<= {limit} ms", worst <= limit / 1e3
            )


def _largest_error() -> float:
    surface = ex.score_surface(1.0)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    worst = 0.0
    for i, j in ((0, 49), (10, 30), (24, 25), (5, 8), (40, 47)):
        a, b = surface.a[i], surface.b[j]
        reach = 40 * (b - a)
        cuts = np.concatenate(
            [np.linspace(a - reach, a, 80), np.linspace(a, b, 60)[1:], np.linspace(b, b + reach, 80)[1:]]
        )
        half = np.diff(cuts)[:, None] / 2
        y = cuts[:-1, None] + half * (1 + nodes)
        p = np.exp(ex.log_likelihood(y, 0, 1, a, b, 1.0))
        score = ex.log_likelihood_gradient(y, 0, 1, a, b, 1.0)[..., 0]
        worst = max(worst, abs(np.sum(half * weights * p * score**2) - surface.values[i, j]))
    return worst
