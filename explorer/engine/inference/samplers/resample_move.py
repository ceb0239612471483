"""The paper's sampler: its Algorithm 2 with its Algorithm 3, on particles (theta, x_1, ..., x_t).

At every answer: resample, rejuvenate by one MCMC move that targets the posterior so far, draw the new individual's
value from the population, weight it by the probability of the answer. It costs O(N t) a step, so O(N n^2) a run;
``subset`` limits the number of values that are moved in a step, the paper's own way to make it cheaper.

What the paper leaves open is decided here. A value x_k is moved twice, by random walks: one of the width to which its
answer pins it down, one of the population's width. (mu, sigma) is moved by Gibbs steps where the conditionals are
known, for a normal population with the semi-conjugate prior, and by a random walk of the width that t values leave
otherwise.

``as_coded`` makes what the author's published code makes of it: all particles start at mu = y_1, sigma = 1, and a value
is moved by a random walk of three sigmas and by a draw from the population. It needs the setting of that code, a normal
population with the semi-conjugate prior.
"""

import math
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite, one_of, whole
from explorer.engine.compute.compiled import call, kernel, log_release
from explorer.engine.compute.threads import share
from explorer.engine.inference.history import History
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import LARGEST_SIGMA, SMALLEST_SIGMA, SemiConjugatePrior
from explorer.engine.inference.resampling import RESAMPLING
from explorer.engine.inference.samplers.protocol import (
    ImpossibleAnswerError,
    Info,
    Sampler,
    check_array,
    check_cloud,
    known_release,
    register,
)
from explorer.engine.inference.weighting import reweight
from explorer.engine.information import classical_information
from explorer.engine.mechanisms.interval import Interval

#: Particles that one core moves at a time, with random numbers of their own.
_BLOCK = 128
#: A random walk that accepts well in one dimension has about this many standard deviations.
_STRIDE = 2.4
#: The values of all individuals, once for each particle, may take this much memory.
LARGEST_STATE = 4e9


class ResampleMoveState(NamedTuple):
    """Particles with a value for every individual so far."""

    particles: np.ndarray
    weights: np.ndarray
    x: np.ndarray
    log_evidence: float
    history: History


@register
class ResampleMove(Sampler):
    """Resample-move on the latent values (Gilks & Berzuini 2001), as the paper prints it."""

    name = "resample_move"
    state_type = ResampleMoveState

    def __init__(
        self,
        family,
        mechanism,
        prior,
        particles=1000,
        resampling: str = "multinomial",
        subset: int | None = None,
        as_coded: bool = False,
    ) -> None:
        super().__init__(family, known_release(self.name, mechanism), prior, particles)
        self.resampling = one_of("resampling", resampling, RESAMPLING)
        self.subset = None if subset is None else whole("subset", subset, 1)
        self.conjugate = family.normal and isinstance(prior, SemiConjugatePrior)
        self.as_coded = bool(as_coded)
        if self.as_coded and not self.conjugate:
            raise ValueError("as_coded is for a normal population with the semi-conjugate prior")

    @property
    def options(self):
        return {"resampling": self.resampling, "subset": self.subset, "as_coded": self.as_coded}

    def init(self, rng):
        even = np.full(self.particles, 1 / self.particles)
        return ResampleMoveState(
            self.prior.sample(rng, self.particles), even, np.empty((self.particles, 0)), 0.0, History()
        )

    def step(self, rng, state, y, interval):
        interval = Interval.of(interval)
        past = len(state.history)
        if 8 * self.particles * (past + 1) > LARGEST_STATE:
            raise ValueError(
                f"resample_move keeps a value of every individual for each particle: {past} answers and "
                f"{self.particles} particles fill its memory of {LARGEST_STATE / 1e9:g} GB, use another sampler"
            )
        ancestors = RESAMPLING[self.resampling](rng, state.weights)
        particles = state.particles[ancestors]
        x = np.empty((self.particles, past + 1))
        x[:, :past] = state.x[ancestors]

        acceptance, work = {}, 0
        if past:
            acceptance["x"], work = self._move_values(rng, particles, x, state.history)
            acceptance["theta"] = self._move_parameters(rng, particles, np.ascontiguousarray(x[:, :past]))
        elif self.as_coded:
            particles[:] = y, 1.0
        mu, sigma = particles.T
        x[:, past] = mu + sigma * self.family.sample(rng, self.particles)

        history = state.history.append(y, *interval)
        log_weights = _log_releases(*self.mechanism.release_code, y, np.ascontiguousarray(x[:, past]), *interval)
        even = np.full(self.particles, -math.log(self.particles))
        _, weights, log_sum, _ = reweight(even, log_weights, 1.0)
        if log_sum == -np.inf:
            raise ImpossibleAnswerError.of(y)
        state = ResampleMoveState(particles, weights, x, state.log_evidence + log_sum, history)
        return state, Info(True, acceptance, np.unique(ancestors).size, work + self.particles)

    def posterior(self, state):
        return Posterior(state.particles, state.weights, state.log_evidence)

    def restored(self, values, history):
        state = super().restored(values, history)
        check_cloud(state.particles, state.weights, self.particles)
        check_array("x", state.x, (self.particles, len(history)))
        return state._replace(log_evidence=finite("log_evidence", state.log_evidence))

    def _move_values(self, rng, particles: np.ndarray, x: np.ndarray, history: History) -> tuple[float, int]:
        """Metropolis-Hastings for x_{1:t}, or for some of them, in place: Algorithm 3, first half."""
        past = len(history)
        if self.subset is None or self.subset >= past:
            chosen = np.arange(past)
        else:
            chosen = np.sort(rng.choice(past, self.subset, replace=False))
        starts = range(0, self.particles, _BLOCK)
        seeds = np.random.SeedSequence(int(rng.integers(2**63))).spawn(len(starts))
        logpdf, shape, norm = self.family.code[0], self.family.shape, self.family.norm
        _, left, right = history.arrays
        release, spread = self.mechanism.release_code, self.mechanism.spread(right - left)

        def move(block) -> int:
            start, seed = block
            rows = slice(start, start + _BLOCK)
            mu, sigma = np.ascontiguousarray(particles[rows].T)
            own = np.random.Generator(np.random.PCG64(seed))
            code = logpdf, shape, norm, *release
            return _walk(own, *code, x[rows], mu, sigma, *history.arrays, spread, chosen, self.as_coded)

        proposals = 2 * self.particles * chosen.size
        return sum(share(move, zip(starts, seeds, strict=True))) / proposals, proposals

    def _move_parameters(self, rng, particles: np.ndarray, x: np.ndarray) -> float:
        """One update of (mu, sigma) given the values, in place: Algorithm 3, second half."""
        past = x.shape[1]
        mu, sigma = particles.T
        if self.conjugate:
            precision = 1 / self.prior.variance + past / sigma**2
            mean = (self.prior.mean / self.prior.variance + x.sum(axis=1) / sigma**2) / precision
            particles[:, 0] = mean + rng.standard_normal(self.particles) / np.sqrt(precision)
            scale = self.prior.scale + 0.5 * ((x - particles[:, :1]) ** 2).sum(axis=1)
            gamma = rng.standard_gamma(self.prior.shape + past / 2, self.particles)
            with np.errstate(divide="ignore"):
                particles[:, 1] = np.clip(np.sqrt(scale / gamma), SMALLEST_SIGMA, LARGEST_SIGMA)
            return 1.0
        stride = _STRIDE / np.sqrt(2 * past * np.diag(classical_information(self.family)))
        step = stride * rng.standard_normal((self.particles, 2))
        new_sigma = np.clip(sigma * np.exp(step[:, 1]), SMALLEST_SIGMA, LARGEST_SIGMA)
        # As wide as the geometric mean of both sigmas: the way back is as likely as the way there.
        new = np.stack([mu + step[:, 0] * np.sqrt(sigma * new_sigma), new_sigma], axis=1)
        accept = np.log1p(-rng.random(self.particles)) < self._log_target(new, x) - self._log_target(particles, x)
        particles[accept] = new[accept]
        return float(accept.mean())

    def _log_target(self, theta: np.ndarray, x: np.ndarray) -> np.ndarray:
        """log of the prior times the values' density, in (mu, log sigma)."""
        mu, sigma = np.ascontiguousarray(theta.T)
        values = _log_values(self.family.code[0], self.family.shape, self.family.norm, x, mu, sigma)
        return self.prior.log_density(mu, sigma) + np.log(sigma) + values


@kernel
def _log_releases(release, constants, y, x, left, right):
    out = np.empty(x.size)
    for i in range(x.size):
        out[i] = log_release(release, constants, y, x[i], left, right)
    return out


@kernel
def _log_values(logpdf, shape, norm, x, mu, sigma):
    """The log-density of each particle's values under its parameters."""
    out = np.empty(mu.size)
    for i in range(mu.size):
        value = -x.shape[1] * math.log(sigma[i])
        for k in range(x.shape[1]):
            value += call(logpdf, (x[i, k] - mu[i]) / sigma[i], shape, norm)
        out[i] = value
    return out


@kernel
def _walk(rng, logpdf, shape, norm, release, constants, x, mu, sigma, y, left, right, spread, chosen, as_coded):
    """Two steps for each chosen value of each particle, in place; returns how many were accepted."""
    accepted = 0
    for i in range(mu.size):
        for k in chosen:
            here = x[i, k]
            level = call(logpdf, (here - mu[i]) / sigma[i], shape, norm)
            level += log_release(release, constants, y[k], here, left[k], right[k])
            for wide in range(2):
                stride = _STRIDE * (sigma[i] if wide or spread[k] > sigma[i] else spread[k])
                if as_coded:
                    stride = sigma[i] if wide else 3 * sigma[i]
                drawn = as_coded and wide  # from the population, wherever the value was before
                there = (mu[i] if drawn else here) + stride * rng.standard_normal()
                new = call(logpdf, (there - mu[i]) / sigma[i], shape, norm)
                new += log_release(release, constants, y[k], there, left[k], right[k])
                gain = new - level
                if drawn:
                    gain += 0.5 * (((there - mu[i]) / sigma[i]) ** 2 - ((here - mu[i]) / sigma[i]) ** 2)
                if gain >= 0 or rng.random() < math.exp(gain):
                    here, level = there, new
                    accepted += 1
            x[i, k] = here
    return accepted
