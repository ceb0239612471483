"""The adaptive loop as an audit of whole runs takes it: ``audit_run(adaptive_run(epsilon=1.0), ...)``."""

from collections.abc import Callable

import numpy as np

from explorer.engine.run.estimator import OnlineEstimator


def adaptive_run(**settings) -> Callable:
    """The adaptive loop as ``audit_run`` takes it: a fresh ``OnlineEstimator(**settings)`` for each run.

    Of each person it reveals the interval, the answer, and the answer's place in the interval.
    """

    def run(people: np.ndarray, rng: np.random.Generator) -> list[float]:
        estimator = OnlineEstimator(seed=int(rng.integers(2**63)), **settings)
        revealed = []
        for x in people.tolist():
            interval = estimator.interval
            y = estimator.mechanism.release(x, interval, rng)
            estimator.observe(y)
            revealed += [*interval, y, (y - interval.midpoint) / interval.width]
        return revealed

    return run
