"""The default sampler: particles carry (mu, sigma) only, weighted by the exact likelihood of the answers.

Iterated batch importance sampling (Chopin 2002). An answer multiplies the weights. When the effective sample size
falls below half the particles, they are resampled and moved by Metropolis-Hastings with the posterior as its target
and, as proposal, the smoothed cloud itself. As the posterior narrows like 1/sqrt(t), this happens at geometrically
spaced times, so that n answers cost O(N n) although each move looks at all answers so far.

*Have they moved?* A proposal does not depend on where its particle is, so one that is accepted has forgotten its
ancestor. Moves are repeated until three particles in four have been replaced in this way. If two rounds are not enough,
the posterior is not what a smooth cloud can follow, a needle in a haystack perhaps: then every other round is a random
walk with steps of all sizes, which finds its way at any scale.

An answer that would leave fewer than a tenth of the particles effective is taken in by steps: first a power of its
likelihood, resampled and moved, then the rest. So a surprise does not leave one survivor.

The proposal is fitted to the cloud that it moves, so there is a bias of order 1/N: posterior standard deviations come
out some 3 % too small with N = 100 and a fifth too small with N = 20; with N = 1000 it is lost in the noise.
"""

from typing import NamedTuple

import numpy as np

from explorer.engine.history import History
from explorer.engine.interval import Interval
from explorer.engine.likelihood import total_log_likelihood
from explorer.engine.priors import LARGEST_SIGMA, SMALLEST_SIGMA
from explorer.engine.samplers.posterior import Posterior
from explorer.engine.samplers.protocol import ImpossibleAnswerError, Info, Sampler
from explorer.engine.samplers.resampling import systematic
from explorer.engine.samplers.smoothed_cloud import SmoothedCloud
from explorer.engine.samplers.weighting import largest_exponent, reweight

#: Particles are resampled when the effective sample size falls below this share of them,
RESAMPLE_BELOW = 0.5
#: and an answer is taken in by steps if it would fall below this one.
TEMPER_BELOW = 0.1
#: The cloud has moved when this share of the particles has accepted a proposal,
MOVED = 0.75
#: or after so many attempts.
MOST_MOVES = 30


class MarginalState(NamedTuple):
    """The particles, sorted by mu, and all answers."""

    particles: np.ndarray
    log_weights: np.ndarray
    weights: np.ndarray
    log_likelihood: np.ndarray
    by_sigma: np.ndarray
    unique: int
    log_evidence: float
    history: History


class Marginal(Sampler):
    """Iterated batch importance sampling on the exact marginal likelihood."""

    name = "marginal"
    state_type = MarginalState

    def init(self, rng):
        even = np.full(self.particles, 1 / self.particles)
        particles = self.prior.sample(rng, self.particles)
        particles = particles[np.argsort(particles[:, 0], kind="stable")]
        return MarginalState(
            particles=particles,
            log_weights=np.log(even),
            weights=even,
            log_likelihood=np.zeros(self.particles),
            by_sigma=np.argsort(particles[:, 1], kind="stable"),
            unique=self.particles,
            log_evidence=0.0,
            history=History(),
        )

    def step(self, rng, state, y, interval):
        history = state.history.append(y, *Interval.of(interval))
        gain = self._log_likelihood(state.particles, history, len(history) - 1)
        log_weights, weights, log_sum, ess = reweight(state.log_weights, gain, 1.0)
        if log_sum == -np.inf:
            raise ImpossibleAnswerError.of(y)
        work = self.particles
        if ess >= RESAMPLE_BELOW * self.particles:
            state = state._replace(
                log_weights=log_weights,
                weights=weights,
                log_likelihood=state.log_likelihood + gain,
                log_evidence=state.log_evidence + log_sum,
                history=history,
            )
            return state, Info(False, {}, state.unique, work)
        return self._rejuvenate(rng, state, history, gain)

    def posterior(self, state):
        order = np.arange(self.particles), state.by_sigma
        return Posterior(state.particles, state.weights, state.log_evidence, order)

    def _log_likelihood(self, particles: np.ndarray, history: History, start: int, stop: int | None = None):
        """Of the answers from ``start`` to before ``stop``, for each particle."""
        answers = (column[start:stop] for column in history.arrays)
        mu, sigma = np.ascontiguousarray(particles.T)
        return total_log_likelihood(*answers, mu, sigma, self.family, self.mechanism)

    def _rejuvenate(self, rng, state: MarginalState, history: History, gain: np.ndarray) -> tuple[MarginalState, Info]:
        """Take in the last answer, in as many powers as it needs; after each, resample and move."""
        # One number of the caller's stream a time, however many moves: runs with one seed stay comparable.
        rng = np.random.Generator(np.random.PCG64(rng.integers(2**63)))
        even = np.full(self.particles, 1 / self.particles)
        points = np.stack([state.particles[:, 0], np.log(state.particles[:, 1])], axis=1)
        past, log_weights = state.log_likelihood, state.log_weights
        log_evidence, taken = state.log_evidence, 0.0
        work, proposed, accepted = self.particles, 0, 0
        while taken < 1:
            exponent = largest_exponent(log_weights, gain * (1 - taken), TEMPER_BELOW * self.particles) * (1 - taken)
            taken = 1.0 if exponent >= 1 - taken else taken + exponent
            _, weights, log_sum, _ = reweight(log_weights, gain, exponent)
            log_evidence += log_sum

            cloud = SmoothedCloud(rng, points, weights, self._narrowest(points, weights, len(history)))
            ancestors = systematic(rng, weights)
            points, past, gain, log_weights = points[ancestors], past[ancestors], gain[ancestors], np.log(even)
            rounds, changes = self._move(rng, cloud, points, past, gain, history, taken)
            work += rounds * self.particles * len(history)
            proposed += rounds * self.particles
            accepted += changes

        order = np.argsort(points[:, 0], kind="stable")
        particles = _parameters(points[order])
        unique = 1 + np.count_nonzero(np.any(np.diff(particles, axis=0) != 0, axis=1))
        state = MarginalState(
            particles=particles,
            log_weights=np.log(even),
            weights=even,
            log_likelihood=(past + gain)[order],
            by_sigma=np.argsort(particles[:, 1], kind="stable"),
            unique=int(unique),
            log_evidence=float(log_evidence),
            history=history,
        )
        return state, Info(True, {"theta": accepted / proposed}, state.unique, work)

    def _move(self, rng, cloud: SmoothedCloud, points, past, gain, history: History, taken: float) -> tuple[int, int]:
        """Metropolis-Hastings, in place, until the cloud has moved: (rounds, proposals that were accepted)."""
        target, density = self._log_target(points, past, gain, taken), cloud.log_density(points)
        moved = np.zeros(self.particles, dtype=bool)
        accepted = 0
        for rounds in range(1, MOST_MOVES + 1):
            walk = rounds > 2 and rounds % 2 == 1
            proposal = cloud.walk(rng, points) if walk else cloud.draw(rng, self.particles)
            log_uniform = np.log1p(-rng.random(self.particles))
            inside = np.abs(proposal[:, 1]) < np.log(LARGEST_SIGMA)
            proposal[~inside] = points[~inside]
            theta = _parameters(proposal)
            new_past = self._log_likelihood(theta, history, 0, len(history) - 1)
            new_gain = self._log_likelihood(theta, history, len(history) - 1)
            new_target = self._log_target(proposal, new_past, new_gain, taken)
            new_density = cloud.log_density(proposal)
            ratio = new_target - target - (0 if walk else new_density - density)
            accept = inside & (log_uniform < ratio)
            now = points, past, gain, target, density
            for array, new in zip(now, (proposal, new_past, new_gain, new_target, new_density), strict=True):
                array[accept] = new[accept]
            accepted += int(np.count_nonzero(accept))
            if not walk:
                moved |= accept
            if np.count_nonzero(moved) >= MOVED * self.particles:
                break
        return rounds, accepted

    def _log_target(self, points: np.ndarray, past: np.ndarray, gain: np.ndarray, taken: float) -> np.ndarray:
        """The logarithm of the density in (mu, log sigma), of which the last answer's likelihood is a power."""
        log_sigma = points[:, 1]
        log_prior = self.prior.log_density(points[:, 0], np.exp(log_sigma)) + log_sigma
        return log_prior + past + taken * gain

    @staticmethod
    def _narrowest(points: np.ndarray, weights: np.ndarray, answers: int) -> np.ndarray:
        """Half the sd of (mu, log sigma) if the values were known, so that a collapsed cloud spreads again."""
        sigma = np.exp(np.sum(weights * points[:, 1]))
        return 0.5 / np.sqrt(answers) * np.array([sigma, np.sqrt(0.5)])


def _parameters(points: np.ndarray) -> np.ndarray:
    """(mu, sigma) from (mu, log sigma)."""
    return np.stack([points[:, 0], np.clip(np.exp(points[:, 1]), SMALLEST_SIGMA, LARGEST_SIGMA)], axis=1)
