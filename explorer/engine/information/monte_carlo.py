"""The paper's own estimate of the information matrix, to compare with: by Monte Carlo, slow and noisy."""

from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import seeded, whole
from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.mechanisms import DEFAULT_DELTA, Interval, Mechanism, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family


class MonteCarloInformation(NamedTuple):
    """A Monte Carlo estimate of the information matrix and its standard error, entry by entry."""

    value: np.ndarray
    standard_error: np.ndarray


def monte_carlo_information(
    a: float,
    b: float,
    epsilon: float,
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    answers: int = 1000,
    samples: int = 10_000,
    seed: int | None = None,
    delta: float = DEFAULT_DELTA,
) -> MonteCarloInformation:
    """The paper's own estimate of the same matrix: its eq. (8) with the gradients of its Algorithm 4.

    ``answers`` is M, ``samples`` the number of draws behind each gradient. The gradients' own noise is
    squared too, which biases the estimate upwards, by about (classical information - F)/samples.

    >>> from explorer.engine.information import fisher_information
    >>> estimate = monte_carlo_information(-1, 1, epsilon=2, answers=500, samples=1000, seed=1)
    >>> bool(abs(estimate.value - fisher_information(-1, 1, 2))[0, 0] < 3 * estimate.standard_error[0, 0])
    True
    """
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    interval = Interval(a, b)
    rng = seeded("seed", seed)
    squares = np.empty((whole("answers", answers, 2), 2, 2))
    whole("samples", samples, 1)
    for square, y in zip(squares, mech.release(chosen.sample(rng, answers), interval, rng), strict=True):
        stop_if_asked()
        x = chosen.sample(rng, samples)
        weights = mech.density(y, x, interval)
        if not weights.any():
            raise ValueError(f"samples must be larger for this epsilon, got {samples}: no draw comes near an answer")
        gradient = weights @ chosen.score(x) / weights.sum()
        square[:] = np.outer(gradient, gradient)
    return MonteCarloInformation(squares.mean(axis=0), squares.std(axis=0, ddof=1) / np.sqrt(answers))
