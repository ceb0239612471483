"""The exact posterior density of (mu, sigma) on a grid of one's own, for pictures of a run.

>>> surface = posterior_surface([0.2, 0.9], [-1, -1], [1, 1], np.linspace(-4, 4, 80), np.linspace(0.1, 6, 60), 5.0)
>>> surface.density.shape
(80, 60)
>>> bool(surface.level(0.5) > surface.level(0.95) > 0)
True
"""

from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite_array, ordered_arrays, positive_array
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.inference.priors import Prior, SemiConjugatePrior
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family


class PosteriorSurface(NamedTuple):
    """``density[i, j]`` at ``(mu[i], sigma[j])``, scaled so that the grid's cells hold probability 1 in all."""

    mu: np.ndarray
    sigma: np.ndarray
    density: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        """The share of each node's cell."""
        return self.density * np.outer(np.gradient(self.mu), np.gradient(self.sigma))

    def level(self, share: float) -> float:
        """The density above which this share of the probability lies: the border of the smallest such region."""
        order = np.argsort(self.density, axis=None)[::-1]
        inside = np.cumsum(self.mass.ravel()[order])
        return float(self.density.ravel()[order][min(np.searchsorted(inside, share), inside.size - 1)])


def posterior_surface(
    y,
    left,
    right,
    mu,
    sigma,
    epsilon: float,
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    prior: Prior | None = None,
    delta: float = DEFAULT_DELTA,
) -> PosteriorSurface:
    """Prior times likelihood of the answers ``y`` to ``[left, right]`` at all pairs of ``mu`` and ``sigma``.

    The grid should hold what matters of the posterior: outside it, nothing is counted.
    """
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    left, right = ordered_arrays(("left", "right"), left, right)
    mu, sigma = finite_array("mu", mu), positive_array("sigma", sigma)
    at_mu, at_sigma = (side.ravel() for side in np.meshgrid(mu, sigma, indexing="ij"))
    log_density = (SemiConjugatePrior() if prior is None else prior).log_density(at_mu, at_sigma)
    log_density += total_log_likelihood(finite_array("y", y), left, right, at_mu, at_sigma, chosen, mech)
    density = np.exp(log_density - np.max(log_density)).reshape(mu.size, sigma.size)
    surface = PosteriorSurface(mu, sigma, density)
    return surface._replace(density=density / surface.mass.sum())
