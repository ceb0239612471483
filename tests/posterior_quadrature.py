"""The posterior by brute force: a dense product of Gauss-Legendre panels over all of (mu, log sigma).

Independent of the adaptive grid: nothing is followed, refined or put to sleep. One panel of twelve nodes for each unit
of mu, so sigma should not be much below 1 where the posterior lives.
"""

from typing import NamedTuple

import numpy as np

from explorer.engine.inference.likelihood import total_log_likelihood

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


class Truth(NamedTuple):
    mean: np.ndarray
    sd: np.ndarray
    log_evidence: float
    nodes: list[np.ndarray]
    mass: np.ndarray

    def cdf(self, column: int, value: float) -> float:
        """The posterior probability of a parameter below ``value``, to about the width of a panel's nodes."""
        return float(self.mass[self.nodes[column] <= value].sum())


def posterior(y, left, right, prior, family, mechanism) -> Truth:
    low, high = prior.quantile(np.array([1e-15, 1 - 1e-15]), 0.5)[0]
    mu, mu_weight = _panels(np.linspace(low, high, int(high - low)))
    low, high = np.log(prior.quantile(0.5, np.array([1e-13, 1 - 1e-13]))[1])
    s, s_weight = _panels(np.linspace(low, high, 22))
    grid = [np.ascontiguousarray(value.ravel()) for value in np.meshgrid(mu, np.exp(s), indexing="ij")]
    log_density = prior.log_density(*grid) + np.log(grid[1]) + np.log(np.outer(mu_weight, s_weight).ravel())
    log_density += total_log_likelihood(*np.array([y, left, right]), *grid, family, mechanism)
    top = log_density.max()
    mass = np.exp(log_density - top)
    log_evidence = top + np.log(mass.sum())
    mass /= mass.sum()
    mean = np.array([(mass * value).sum() for value in grid])
    sd = np.array([np.sqrt((mass * (value - m) ** 2).sum()) for value, m in zip(grid, mean, strict=True)])
    return Truth(mean, sd, float(log_evidence), grid, mass)


def _panels(cuts):
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half * (1 + _NODES)).ravel(), (half * _WEIGHTS).ravel()
