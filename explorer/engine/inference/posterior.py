"""What is known about (mu, sigma): weighted particles, and what one reads off them.

>>> posterior = Posterior(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0.25, 0.75]), log_evidence=-1.0)
>>> posterior.mean, posterior.quantiles(0.5)
(array([1.5, 2.5]), array([2., 3.]))
"""

from functools import cached_property

import numpy as np

from explorer.engine.compute.compiled import kernel


class Posterior:
    """Particles, their weights, and summaries; the two columns are mu and sigma.

    ``order``, if known, are the positions that sort the particles by mu and by sigma. ``lost`` says that other
    parameters are known to explain the answers far better than these particles do: then nothing here can be trusted.
    """

    lost = False

    def __init__(
        self,
        particles: np.ndarray,
        weights: np.ndarray,
        log_evidence: float,
        order: tuple[np.ndarray, np.ndarray] | None = None,
        lost: bool = False,
    ) -> None:
        self.particles = particles.view()
        self.weights = weights.view()
        self.particles.flags.writeable = self.weights.flags.writeable = False  # they are a sampler's own
        self.log_evidence = log_evidence
        self.lost = lost
        if order is not None:
            self.order = order

    def __repr__(self) -> str:
        (mu, sigma), (mu_sd, sigma_sd) = self.mean, self.sd
        lost = ", lost" if self.lost else ""
        return f"Posterior(mu={mu:.4g} ± {mu_sd:.2g}, sigma={sigma:.4g} ± {sigma_sd:.2g}, ess={self.ess:.0f}{lost})"

    @cached_property
    def order(self) -> tuple[np.ndarray, np.ndarray]:
        return tuple(np.argsort(self.particles[:, column], kind="stable") for column in (0, 1))

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray, float]:
        return moments(self.particles, self.weights)

    @property
    def mean(self) -> np.ndarray:
        """Posterior means, shape (2,)."""
        return self._moments[0]

    @property
    def sd(self) -> np.ndarray:
        """Posterior standard deviations, shape (2,).

        An answer's likelihood does not fall to 0 as sigma grows. Under a prior whose tail is as heavy as that of the
        paper's IG(1, 1), the posterior variance of sigma is therefore infinite, and this is the spread of the
        particles only: use quantiles.
        """
        return self._moments[1]

    @property
    def ess(self) -> float:
        """The effective number of particles, 1 / (sum of squared weights)."""
        return self._moments[2]

    def quantiles(self, q) -> np.ndarray:
        """The values below which fractions ``q`` of the posterior lie, shape (..., 2)."""
        q = np.asarray(q, dtype=float)
        if not q.size:
            return np.empty((*q.shape, 2))
        if not (q.min() >= 0 and q.max() <= 1):
            raise ValueError(f"q must lie between 0 and 1, got {q}")
        out = np.empty((q.size, 2))
        for column in (0, 1):
            self._quantiles(q.ravel(), column, out[:, column])
        return out.reshape(*q.shape, 2)

    def _quantiles(self, q: np.ndarray, column: int, out: np.ndarray) -> None:
        read_off(self.particles, self.weights, self.order[column], column, q, out)

    def pick(self, uniform: float) -> tuple[float, float]:
        """One particle, drawn by its weight: the quantile ``uniform`` of mu, so that close clouds give close draws."""
        return pick(self.particles, self.weights, self.order[0], uniform)


# Written as loops: a run reads off all of this after every answer.


@kernel
def moments(particles, weights):
    mean, sd, squares = np.zeros(2), np.zeros(2), 0.0
    for i in range(weights.size):
        mean[0] += weights[i] * particles[i, 0]
        mean[1] += weights[i] * particles[i, 1]
        squares += weights[i] * weights[i]
    for i in range(weights.size):
        sd[0] += weights[i] * (particles[i, 0] - mean[0]) ** 2
        sd[1] += weights[i] * (particles[i, 1] - mean[1]) ** 2
    return mean, np.sqrt(sd), 1 / squares


@kernel
def read_off(particles, weights, order, column, q, out):
    cumulative = np.cumsum(weights[order])
    for k in range(q.size):
        at = np.searchsorted(cumulative, q[k] * cumulative[-1])
        out[k] = particles[order[min(at, order.size - 1)], column]


@kernel
def pick(particles, weights, order, uniform):
    target = uniform * weights.sum()
    below = 0.0
    for k in range(order.size):
        below += weights[order[k]]
        if below > target:
            break
    return particles[order[k], 0], particles[order[k], 1]
