"""The best epsilon-LDP question about mu that was found: the yardstick for every mechanism.

Among all epsilon-LDP mechanisms it is enough to look at those whose likelihoods take two values,
``1`` and ``e**epsilon`` times a constant (Kairouz, Oh & Viswanath 2016): each answer ``j`` stands for a
set ``A_j`` of values that are told more often. Used with weight ``theta_j``, it adds ``theta_j f(A_j)`` to
the Fisher information about mu, with ``c = e**epsilon - 1`` and ::

    f(A) = (c psi(A))^2 / (1 + c pi(A)),   pi(A) = P(Z in A),   psi(A) = E[score(Z); Z in A]

So only the score of a value matters, not the value: sets are unions of level sets of the score. A linear
programme over all ranges of the score (the tests solve it) puts its weight on ranges that do not overlap:
cut the scores into ``k`` parts and tell your part by k-ary randomised response, ``theta_j = 1/(k + c)``. The
search here is over such cuts, for every ``k``, by dynamic programming over fine cells.
"""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import positive
from explorer.engine.information.optimum import best_interval
from explorer.engine.mechanisms import Piecewise
from explorer.engine.population import Family, family as find_family

#: Beyond this epsilon more parts would be needed than are tried, and Piecewise is the better one.
_MANY_PARTS = 10.0
_MOST_PARTS = 128


class LdpBest(NamedTuple):
    """Fisher information about mu of the best mechanism found (sigma = 1), and its number of different answers.

    ``answers`` is None where the best one found is the Piecewise mechanism, with a continuum of answers.
    """

    value: float
    answers: int | None


def best_ldp(epsilon: float, *, family: str | Family = "normal") -> LdpBest:
    """The most that an epsilon-LDP answer was found to tell about mu, for sigma = 1.

    For small epsilon it is the randomised sign, ``(2/pi) tanh(epsilon/2)**2`` for the normal, which is
    proved to be the best of all mechanisms up to about epsilon = 1 (Kalinin & Steinberger 2025). Where more
    answers are better, their cuts stand between fine cells, which costs less than one part in 100 000.

    >>> round(best_ldp(1.0).value, 4), round(2 / math.pi * math.tanh(0.5) ** 2, 4)
    (0.136, 0.136)
    """
    return _best_ldp(positive("epsilon", epsilon), find_family(family))


@lru_cache(maxsize=256)
def _best_ldp(epsilon: float, family: Family) -> LdpBest:
    found = [best_partition(*_cells(family), epsilon)]
    # Two parts with a cut that need not stand between two cells ...
    found.append(LdpBest(best_interval(epsilon, family=family, mechanism="randomized_response").value, 2))
    if epsilon > _MANY_PARTS:  # ... and a continuum of answers; a mechanism for a smaller epsilon serves a larger one
        window = best_interval(min(epsilon, Piecewise.largest_epsilon), family=family, mechanism="piecewise")
        found.append(LdpBest(window.value, None))
    return max(found, key=lambda best: best.value)


def best_partition(mass: np.ndarray, score: np.ndarray, epsilon: float) -> LdpBest:
    """The best way to merge cells, with these probabilities and integrals of the score, into parts."""
    order = np.argsort(score / mass, kind="stable")
    mass, score = (np.concatenate([[0.0], np.cumsum(part[order])]) for part in (mass, score))
    pi, psi = mass[None, :] - mass[:, None], score[None, :] - score[:, None]
    after = np.triu(np.ones(pi.shape, dtype=bool), 1)
    # f(A)/(k + c), with both divided by c so that it holds for any epsilon
    inverse = math.exp(-epsilon) / -math.expm1(-epsilon)
    worth = np.where(after, psi**2 / (inverse + np.where(after, pi, 1.0)), -np.inf)
    best = worth[0]  # best[j]: the most that the cells before j can add, in as many parts as there were rounds
    values = []
    for parts in range(2, min(_MOST_PARTS, mass.size - 1) + 1):
        best = np.max(best[:, None] + worth, axis=0)
        values.append(best[-1] / (1 + parts * inverse))
        if len(values) > 3 and values[-1] < values[-2] < values[-3]:
            break
    return LdpBest(float(max(values)), 2 + int(np.argmax(values)))


def _cells(family: Family) -> tuple[np.ndarray, np.ndarray]:
    """Probability of each cell of the line and the integral of the score over it.

    Cells are equally likely, with ever smaller ones into the tails. The integral is a difference of densities.
    """
    tail = np.geomspace(1e-14, 1 / 500, 60)[:-1]
    u = np.concatenate([tail, np.linspace(1 / 500, 1 - 1 / 500, 499)])
    edges = np.unique(np.concatenate([family.ppf(u), -family.ppf(tail) if family.symmetric else family.ppf(1 - tail)]))
    edges = np.unique(np.append(edges[np.isfinite(edges)], family.kinks))
    cdf, sf, pdf = family.cdf(edges), family.sf(edges), family.pdf(edges)
    below, above = np.concatenate([[0.0], cdf, [1.0]]), np.concatenate([[1.0], sf, [0.0]])
    mass = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
    score = -np.diff(np.concatenate([[0.0], pdf, [0.0]]))
    return mass, score
