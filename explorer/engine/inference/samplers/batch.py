"""Batch methods: a Markov chain whose target is the posterior given all answers at once.

A chain walks in (mu, log sigma). Its proposals are normal; their shape and size are learnt while the chain burns in and
then frozen, so that what is kept comes from one reversible kernel.

    sampler = Metropolis(family, mechanism, prior, iterations=5000)
    posterior, info = sampler.sample(rng, history)
"""

from functools import cached_property
from typing import ClassVar

import numpy as np

from explorer.engine.compute.arguments import whole
from explorer.engine.compute.registry import Registry
from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.inference.history import History
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import LARGEST_SIGMA, SMALLEST_SIGMA, Prior
from explorer.engine.inference.samplers.protocol import ImpossibleAnswerError, Info
from explorer.engine.information import information_of
from explorer.engine.mechanisms import Mechanism
from explorer.engine.population import Family

BATCH_SAMPLERS = Registry("batch sampler")
register_batch = BATCH_SAMPLERS.register
#: Draws of the prior among which the start is the likeliest.
_STARTS = 1000
#: The share of a chain that is burnt in, and left out.
BURN_IN = 0.25
#: Acceptance that a random walk in two dimensions should aim at.
_ACCEPTANCE = 0.3
_LOG_RANGE = np.log([SMALLEST_SIGMA, LARGEST_SIGMA])


class BatchSampler:
    """Base class: a subclass gives ``_begin`` and ``_attempt``."""

    name: ClassVar[str]
    #: The share of proposals that reach out much farther, as a posterior may have more than one hill.
    far: ClassVar[float] = 0.0

    def __init__(self, family: Family, mechanism: Mechanism, prior: Prior, iterations: int = 10_000) -> None:
        self.family = family
        self.mechanism = mechanism
        self.prior = prior
        self.iterations = whole("iterations", iterations, 4)

    def sample(self, rng: np.random.Generator, history: History) -> tuple[Posterior, Info]:
        """The chain after its burn-in as evenly weighted particles, and how it went; its evidence is not known."""
        point, covariance = self._start(rng, history)
        walk = _Walk(point, covariance, self.far)
        latent = self._begin(rng, point, history)
        burn_in = int(BURN_IN * self.iterations)
        kept, accepted = np.empty((self.iterations - burn_in, 2)), 0
        for k in range(self.iterations):
            stop_if_asked()
            proposal = walk.propose(rng, point)
            log_ratio = -np.inf
            if _LOG_RANGE[0] < proposal[1] < _LOG_RANGE[1]:
                log_ratio, latent_there, latent = self._attempt(rng, latent, point, proposal, history)
            if np.log1p(-rng.random()) < log_ratio:
                point, latent = proposal, latent_there
                accepted += k >= burn_in
            if k < burn_in:
                walk.learn(point, min(1.0, float(np.exp(min(log_ratio, 0.0)))))
            else:
                kept[k - burn_in] = point
        kept[:, 1] = np.exp(kept[:, 1])
        info = Info(False, {"theta": accepted / len(kept)}, 1 + accepted, self.iterations * self._work(history))
        return ChainPosterior(kept, np.full(len(kept), 1 / len(kept)), np.nan), info

    def _begin(self, rng, point: np.ndarray, history: History):
        """What the chain carries beside the point."""
        raise NotImplementedError

    def _attempt(self, rng, latent, here: np.ndarray, there: np.ndarray, history: History) -> tuple:
        """The log acceptance ratio, and what is carried if it is accepted and if it is not."""
        raise NotImplementedError

    def _work(self, history: History) -> int:
        """Evaluations that one iteration takes."""
        return len(history)

    def _log_prior(self, point: np.ndarray) -> float:
        """In (mu, log sigma)."""
        return float(self.prior.log_density(point[0], np.exp(point[1])) + point[1])

    def _log_likelihood(self, mu: np.ndarray, sigma: np.ndarray, history: History) -> np.ndarray:
        found = total_log_likelihood(*history.arrays, mu, sigma, self.family, self.mechanism)
        return np.where(np.isnan(found), -np.inf, found)

    def _start(self, rng, history: History) -> tuple[np.ndarray, np.ndarray]:
        """The likeliest of some draws from the prior, and the inverse of the information that the answers hold there.

        To the information, that of a normal distribution as wide as the prior is added.
        """
        mu, sigma = np.ascontiguousarray(self.prior.sample(rng, _STARTS).T)
        log_likelihood = self._log_likelihood(mu, sigma, history)
        best = int(np.argmax(log_likelihood))
        if log_likelihood[best] == -np.inf:
            raise ImpossibleAnswerError("the answers have probability 0 under every draw from the prior")
        _, left, right = history.arrays
        ends = ((end - mu[best]) / sigma[best] for end in (left, right))
        # One answer's information about (mu, log sigma); sigma d/dsigma = d/dlog sigma.
        scale = np.array([1 / sigma[best], 1.0])
        information = information_of(self.family, self.mechanism, *ends).sum(axis=0) * np.outer(scale, scale)
        spread = [np.subtract(*np.quantile(column, [0.84, 0.16])) / 2 for column in (mu, np.log(sigma))]
        covariance = np.linalg.inv(information + np.diag(1 / np.maximum(spread, 1e-300) ** 2))
        return np.array([mu[best], np.log(sigma[best])]), covariance


class ChainPosterior(Posterior):
    """The states of a chain, which depend on one another: fewer independent draws would be worth as much."""

    @cached_property
    def ess(self) -> float:
        """Of mu or of log sigma, whichever has fewer."""
        mu, sigma = self.particles.T
        return min(effective_size(mu), effective_size(np.log(sigma)))


def effective_size(chain: np.ndarray) -> float:
    """The number of independent draws whose mean is as exact (Geyer 1992: while pairs of correlations stay positive).

    >>> rng = np.random.default_rng(1)
    >>> 0.9 < effective_size(rng.normal(size=5000)) / 5000 < 1.1
    True
    """
    size, away = chain.size, chain - chain.mean()
    if not np.any(away):
        return 1.0
    power = np.abs(np.fft.rfft(away, 2 * size)) ** 2
    correlation = np.fft.irfft(power)[:size]
    correlation /= correlation[0]
    pairs = correlation[: size // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    pairs = np.minimum.accumulate(pairs[: ends[0]] if ends.size else pairs)
    return float(min(size / max(2 * pairs.sum() - 1, 1 / size), size * np.log10(size)))


class _Walk:
    """A normal random walk that learns the target's covariance and its own best size (Andrieu & Thoms 2008)."""

    def __init__(self, start: np.ndarray, covariance: np.ndarray, far: float) -> None:
        self._mean, self._covariance, self._far = start.copy(), covariance, far
        self._log_scale = np.log(2.38 / np.sqrt(2))
        self._count = 0
        self._factor()

    def _factor(self) -> None:
        self._root = np.linalg.cholesky(self._covariance)

    def propose(self, rng, point: np.ndarray) -> np.ndarray:
        stretch = 100 ** rng.random() if rng.random() < self._far else 1.0
        return point + stretch * np.exp(self._log_scale) * (self._root @ rng.standard_normal(2))

    def learn(self, point: np.ndarray, acceptance: float) -> None:
        self._count += 1
        rate = (self._count + 10) ** -0.6
        self._log_scale += rate * (acceptance - _ACCEPTANCE)
        away = point - self._mean
        self._mean = self._mean + rate * away
        self._covariance = self._covariance + rate * (np.outer(away, away) - self._covariance)
        self._factor()
