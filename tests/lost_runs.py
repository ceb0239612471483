"""Runs with truths drawn from the prior and a fixed interval around them, against the posterior by quadrature.

The paper's prior is wide, and the population is narrow: often no particle, or one, lies near the interval.
"""

from typing import NamedTuple

import numpy as np

import explorer as ex
from explorer.engine.inference.likelihood import total_log_likelihood

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)


class Found(NamedTuple):
    seed: int
    #: Of the log-evidence, and of the mean of mu in posterior standard deviations.
    evidence_error: float
    mean_error: float
    lost: bool


def found(seed: int, mechanism: str, particles: int) -> Found:
    """One run, with an epsilon and a length that the seed draws as well."""
    rng, prior = np.random.default_rng(seed), ex.SemiConjugatePrior()
    mu, sigma = prior.sample(rng, 1)[0]
    epsilon, n = float(rng.choice([1, 2, 5, 10, 20])), int(rng.choice([30, 100]))
    settings = {"epsilon": epsilon, "mechanism": mechanism, "particles": particles, "seed": seed}
    trace = ex.simulate(mu, sigma, n, policy="fixed", keep=(), levels=(), **settings)
    log_evidence, mean, sd = _exact(trace, prior, ex.mechanism(mechanism, epsilon))
    error = (trace.mean[-1, 0] - mean) / sd
    return Found(seed, float(trace.log_evidence[-1] - log_evidence), float(error), bool(trace.lost[-1]))


def _exact(trace, prior, mechanism) -> tuple[float, float, float]:
    """Log-evidence, and mean and sd of mu, on panels that are narrow near the interval and reach over the prior."""
    left, right = trace.left[0], trace.right[0]
    middle, width = (left + right) / 2, right - left
    far = width * np.geomspace(1, 1e3, 16)
    cuts = [middle + width * np.linspace(-1, 1, 61), middle - far, middle + far, np.linspace(-900, 900, 37)]
    mu, mu_weight = _panels(np.concatenate(cuts))
    log_sigma, sigma_weight = _panels(np.linspace(np.log(0.02), np.log(1e5), 19))
    grid = [np.ascontiguousarray(side.ravel()) for side in np.meshgrid(mu, np.exp(log_sigma), indexing="ij")]
    log_mass = prior.log_density(*grid) + np.log(grid[1]) + np.log(np.outer(mu_weight, sigma_weight).ravel())
    log_mass += total_log_likelihood(trace.y, trace.left, trace.right, *grid, ex.family("normal"), mechanism)
    top = log_mass.max()
    mass = np.exp(log_mass - top)
    log_evidence = float(top + np.log(mass.sum()))
    mass /= mass.sum()
    mean = float((mass * grid[0]).sum())
    return log_evidence, mean, float(np.sqrt((mass * (grid[0] - mean) ** 2).sum()))


def _panels(cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cuts = np.unique(cuts)
    half = np.diff(cuts)[:, None] / 2
    return (cuts[:-1, None] + half * (1 + _NODES)).ravel(), (half * _WEIGHTS).ravel()
