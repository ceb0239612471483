"""What the best epsilon-LDP mechanism found can tell about mu: the yardstick for every other.

Among all epsilon-LDP mechanisms it is enough to look at those whose likelihoods take two values,
``1`` and ``e**epsilon`` times a constant (Kairouz, Oh & Viswanath 2016): each answer ``j`` stands for a
set ``A_j`` of values that are told more often. Used with weight ``theta_j``, it adds ``theta_j f(A_j)`` to
the Fisher information about mu, with ``c = e**epsilon - 1`` and ::

    f(A) = (c psi(A))^2 / (1 + c pi(A)),   pi(A) = P(Z in A),   psi(A) = E[score(Z); Z in A]

A linear programme over all intervals as sets (the tests solve it) puts its weight on intervals that
cut the line into ``k`` parts without overlap: tell which part you are in by k-ary randomised response,
with ``theta_j = 1/(k + c)``. So the search here is over cuts alone, by dynamic programming on a grid, which
finds the best cuts for every ``k``, and then off the grid by descent.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when first used: it would double the time of `import explorer`

from explorer.engine.arguments import positive
from explorer.engine.families import Family, family as find_family

_GRID = 300
_MOST_PARTS = 64


class LdpBound(NamedTuple):
    """Fisher information about mu of the best mechanism found (sigma = 1), and where it cuts the line."""

    value: float
    cuts: tuple[float, ...]


def ldp_bound(epsilon: float, family: str | Family = "normal") -> LdpBound:
    """The most that an epsilon-LDP answer was found to tell about mu, for sigma = 1.

    For small epsilon it is the randomised sign, ``(2/pi) tanh(epsilon/2)**2`` for the normal, which is
    proved to be the best of all mechanisms up to about epsilon = 1 (Kalinin & Steinberger 2025).
    More than 64 parts are not tried; beyond epsilon of about 12 that costs less than 0.001.

    >>> round(ldp_bound(1.0).value, 4), round(2 / math.pi * math.tanh(0.5) ** 2, 4)
    (0.136, 0.136)
    """
    return _ldp_bound(positive("epsilon", epsilon), find_family(family))


@lru_cache(maxsize=256)
def _ldp_bound(epsilon: float, family: Family) -> LdpBound:
    low, high = family.ppf(np.array([1e-6, 1 - 1e-6]))
    grid = np.unique(np.append(np.linspace(low, high, _GRID), 0.0))
    gain = math.expm1(epsilon)

    # best[j] = the most that cuts below grid[j] can add with the parts so far; one more part a round.
    worth = _worth(family, gain, grid)
    best = worth[0]
    came_from: list[np.ndarray] = []
    found: list[tuple[float, np.ndarray]] = []
    for parts in range(2, _MOST_PARTS + 1):
        sums = best[:, None] + worth
        came_from.append(np.argmax(sums, axis=0))
        best = np.max(sums, axis=0)
        found.append((best[-1] / (parts + gain), _trace_back(came_from, grid)))
        if len(found) > 3 and found[-1][0] < found[-2][0] < found[-3][0]:
            break
    near = sorted(found, key=lambda pair: -pair[0])[:3]
    return max((_descend(family, gain, cuts) for _, cuts in near), key=lambda bound: bound.value)


def _at(family: Family, cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """cdf, survival function and density at minus infinity, the cuts and infinity."""
    ends = ((family.cdf(cuts), 0.0, 1.0), (family.sf(cuts), 1.0, 0.0), (family.pdf(cuts), 0.0, 0.0))
    return tuple(np.concatenate([[first], values, [last]]) for values, first, last in ends)


def _worth(family: Family, gain: float, grid: np.ndarray) -> np.ndarray:
    """f of the part between every two cuts of the grid; -inf where the second is not above the first."""
    cdf, sf, pdf = _at(family, grid)
    lower = cdf[:, None] + cdf[None, :] < 1
    mass = np.where(lower, cdf[None, :] - cdf[:, None], sf[:, None] - sf[None, :])
    score = pdf[:, None] - pdf[None, :]  # the integral of the score is a difference of densities
    above = np.triu(np.ones(mass.shape, dtype=bool), 1)
    return np.where(above, (gain * score) ** 2 / (1 + gain * np.abs(mass)), -np.inf)


def _trace_back(came_from: list[np.ndarray], grid: np.ndarray) -> np.ndarray:
    cuts, at = [], grid.size + 1
    for choice in reversed(came_from):
        at = choice[at]
        cuts.append(grid[at - 1])
    return np.array(cuts[::-1])


def _descend(family: Family, gain: float, cuts: np.ndarray) -> LdpBound:
    def loss(cuts: np.ndarray) -> tuple[float, np.ndarray]:
        cdf, sf, pdf = _at(family, cuts)
        mass = np.where(cdf[1:] < 0.5, np.diff(cdf), -np.diff(sf))
        score = -np.diff(pdf)
        worth = (gain * score) ** 2 / (1 + gain * mass)
        by_score = 2 * gain**2 * score / (1 + gain * mass)
        by_mass = -gain * worth / (1 + gain * mass)
        density = pdf[1:-1]
        slope = -family.score(cuts)[:, 0] * density
        gradient = np.diff(by_score) * slope - np.diff(by_mass) * density
        scale = cuts.size + 1 + gain
        return -worth.sum() / scale, -gradient / scale

    result = scipy.optimize.minimize(loss, cuts, jac=True, method="BFGS", options={"gtol": 1e-10})
    ordered = bool(np.all(np.diff(result.x) > 0)) and result.fun <= loss(cuts)[0]
    chosen = result.x if ordered else cuts
    return LdpBound(-float(loss(chosen)[0]), tuple(map(float, chosen)))
