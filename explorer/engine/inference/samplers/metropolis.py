"""Plain Metropolis-Hastings on the exact marginal likelihood: what batch MCMC can do without latent values."""

import numpy as np

from explorer.engine.inference.samplers.batch import BatchSampler, register_batch


@register_batch
class Metropolis(BatchSampler):
    """Random-walk Metropolis with the exact posterior of (mu, sigma) as its target."""

    name = "metropolis"
    far = 0.2

    def _begin(self, rng, point, history):
        return self._log_target(point, history)

    def _attempt(self, rng, latent, here, there, history):
        log_target = self._log_target(there, history)
        return log_target - latent, log_target, latent

    def _log_target(self, point: np.ndarray, history) -> float:
        mu, sigma = np.array([point[0]]), np.exp(point[1:])
        return self._log_prior(point) + float(self._log_likelihood(mu, sigma, history)[0])
