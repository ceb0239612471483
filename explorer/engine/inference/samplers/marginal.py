"""The default sampler: particles carry (mu, sigma) only, weighted by the exact likelihood of the answers.

Iterated batch importance sampling (Chopin 2002). An answer multiplies the weights. When the effective sample size
falls below half the particles, they are resampled and moved by Metropolis-Hastings with the posterior as its target
and, as proposal, the smoothed cloud itself (see ``tempering``). As the posterior narrows like 1/sqrt(t), this happens
at geometrically spaced times, so that n answers cost O(N n) although each move looks at all answers so far.

*Are they lost?* If no particle lies near the values of the population, all of them may explain the answers equally
badly: their weights stay even, and nothing would ever move them. So after 4, 6, 8, 12, 16, 24, ... answers (where the
same question is asked again and again, more often), and after one that no particle can explain, the sampler looks for
parameters near the intervals that were asked for and near the answers, and asks whether the posterior around the best
of them alone weighs more than all that the particles know of (see ``outlook``). If so, it starts again from there, with
all answers, and takes what weighs more. If that does not help, the posterior says that it is ``lost``.

The proposal is fitted to the cloud that it moves, so there is a bias of order 1/N: posterior standard deviations come
out some 3 % too small with N = 100 and a fifth too small with N = 20; with N = 1000 it is lost in the noise.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite, whole
from explorer.engine.inference.history import History
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import LARGEST_SIGMA, SMALLEST_SIGMA
from explorer.engine.inference.resampling import systematic
from explorer.engine.inference.samplers.outlook import Outlook, is_rare_look, next_look
from explorer.engine.inference.samplers.protocol import (
    ROUNDING,
    ImpossibleAnswerError,
    Info,
    Sampler,
    check_array,
    check_cloud,
    register,
)
from explorer.engine.inference.samplers.tempering import Moved, Values, temper
from explorer.engine.inference.weighting import reweight
from explorer.engine.mechanisms.interval import Interval

#: Particles are resampled when the effective sample size falls below this share of them.
RESAMPLE_BELOW = 0.5
#: A new start begins with so many particles at least,
FRESH = 500
#: and its result is taken if it weighs more than what was known by this factor, as a logarithm. Where the same question
#: is asked again, which tells nothing about other places, less is enough.
CLEARLY, CLEARLY_REPEATED = 1.0, 0.5
#: From this epsilon on, an answer that every particle takes for a lie is a surprise.
_TELLING = 8.0
#: Of so many particles a file's log-likelihood is computed again.
_CHECKED = 32


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
    #: Whether some other parameters are known to explain the answers far better than these particles do.
    lost: bool = False


@register
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
        if ess >= RESAMPLE_BELOW * self.particles:
            info = Info(False, {}, state.unique, self.particles)
            state = state._replace(
                log_weights=log_weights,
                weights=weights,
                log_likelihood=state.log_likelihood + gain,
                log_evidence=state.log_evidence + log_sum,
                history=history,
            )
        else:
            state, info = self._rejuvenate(rng, state, history, gain)
        surprise = self.mechanism.epsilon >= _TELLING and gain.max() < self.mechanism.log_floor(interval) + 1
        now = len(history) == next_look(len(history) - 1) and (is_rare_look(len(history)) or history.repeats)
        if surprise or now:
            state, info = self._look_around(rng, state, info)
        return state, info

    def posterior(self, state):
        order = np.arange(self.particles), state.by_sigma
        return Posterior(state.particles, state.weights, state.log_evidence, order, state.lost)

    def restored(self, values, history):
        state = super().restored(values, history)
        check_cloud(state.particles, state.weights, self.particles)
        check_array("log_likelihood", state.log_likelihood, (self.particles,))
        log_weights = state.log_weights
        if getattr(log_weights, "shape", None) != (self.particles,) or not np.all(log_weights <= ROUNDING):
            raise ValueError("log_weights must be the logarithms of the weights")
        if not np.allclose(np.exp(log_weights), state.weights, rtol=ROUNDING, atol=1e-300):
            raise ValueError("log_weights must be the logarithms of the weights")
        mu, sigma = state.particles.T
        if np.any(np.diff(mu) < 0) or not np.array_equal(state.by_sigma, np.argsort(sigma, kind="stable")):
            raise ValueError("the particles must be sorted")
        few = np.unique(np.linspace(0, self.particles - 1, _CHECKED).astype(int))
        again = self._log_likelihood(state.particles[few], history, 0)
        if not np.allclose(again, state.log_likelihood[few], rtol=ROUNDING, atol=ROUNDING):
            raise ValueError("log_likelihood must be that of the answers")
        if whole("unique", state.unique, 1) > self.particles:
            raise ValueError("there cannot be more different particles than particles")
        return state._replace(log_evidence=finite("log_evidence", state.log_evidence), lost=bool(state.lost))

    def _log_likelihood(self, particles: np.ndarray, history: History, start: int, stop: int | None = None):
        """Of the answers from ``start`` to before ``stop``, for each particle."""
        answers = (column[start:stop] for column in history.arrays)
        mu, sigma = np.ascontiguousarray(particles.T)
        return total_log_likelihood(*answers, mu, sigma, self.family, self.mechanism)

    def _rejuvenate(self, rng, state: MarginalState, history: History, gain: np.ndarray) -> tuple[MarginalState, Info]:
        """Take in the last answer, in as many powers as it needs; after each, resample and move."""
        last = len(history) - 1

        def evaluate(points):
            theta = _parameters(points)
            past, gain = self._log_likelihood(theta, history, 0, last), self._log_likelihood(theta, history, last)
            return Values(self._log_prior(points) + past, gain, past + gain)

        points = np.stack([state.particles[:, 0], np.log(state.particles[:, 1])], axis=1)
        past = state.log_likelihood
        values = Values(self._log_prior(points) + past, gain, past + gain)
        moved = temper(_own_stream(rng), points, state.log_weights, values, evaluate, partial(self._narrowest, history))
        counted = state.log_evidence + moved.log_ratio
        log_evidence = counted if np.isnan(moved.log_mass) else moved.log_mass
        state = self._settled(moved, log_evidence, history, state.lost)
        work = self.particles + moved.proposals * len(history)
        return state, Info(True, {"theta": moved.accepted / moved.proposals}, state.unique, work)

    def _look_around(self, rng, state: MarginalState, info: Info) -> tuple[MarginalState, Info]:
        """Start again if other parameters explain the answers far better than the particles do."""
        outlook = Outlook(state.history, self.family, self.mechanism, self.prior, self._log_posterior)
        if not outlook.suggests_more_than(state.log_evidence):
            return state._replace(lost=False), info
        # A stream far away from the caller's, which stays where it is: what is not taken has changed nothing.
        rng = np.random.Generator(rng.bit_generator.jumped(len(state.history)))
        size = max(self.particles, FRESH)
        points, log_proposal = outlook.draw(rng, size)

        def evaluate(points, log_proposal=None):
            base = outlook.log_density(points) if log_proposal is None else log_proposal
            likelihood = self._log_likelihood(_parameters(points), state.history, 0)
            return Values(base, self._log_prior(points) + likelihood - base, likelihood)

        values, even = evaluate(points, log_proposal), np.full(size, -np.log(size))
        moved = temper(rng, points, even, values, evaluate, partial(self._narrowest, state.history))
        work = info.work + (moved.proposals + size) * len(state.history)
        log_evidence = moved.log_ratio if np.isnan(moved.log_mass) else moved.log_mass
        if log_evidence > state.log_evidence + (CLEARLY_REPEATED if state.history.repeats else CLEARLY):
            chosen = systematic(rng, np.full(size, 1 / size), self.particles)
            moved = moved._replace(points=moved.points[chosen], log_likelihood=moved.log_likelihood[chosen])
            state = self._settled(moved, log_evidence, state.history, lost=False)
            info = Info(True, {"theta": moved.accepted / moved.proposals}, state.unique, work)
        return state._replace(lost=outlook.proves_more_than(state.log_evidence)), info._replace(work=work)

    def _settled(self, moved: Moved, log_evidence: float, history: History, lost: bool) -> MarginalState:
        """Evenly weighted particles, sorted."""
        even = np.full(self.particles, 1 / self.particles)
        order = np.argsort(moved.points[:, 0], kind="stable")
        particles = _parameters(moved.points[order])
        return MarginalState(
            particles=particles,
            log_weights=np.log(even),
            weights=even,
            log_likelihood=moved.log_likelihood[order],
            by_sigma=np.argsort(particles[:, 1], kind="stable"),
            unique=1 + int(np.count_nonzero(np.any(np.diff(particles, axis=0) != 0, axis=1))),
            log_evidence=float(log_evidence),
            history=history,
            lost=lost,
        )

    def _log_prior(self, points: np.ndarray) -> np.ndarray:
        """The logarithm of the density in (mu, log sigma)."""
        log_sigma = points[:, 1]
        return self.prior.log_density(points[:, 0], np.exp(log_sigma)) + log_sigma

    def _log_posterior(self, points: np.ndarray, history: History) -> np.ndarray:
        """Prior times likelihood, in (mu, log sigma)."""
        return self._log_prior(points) + self._log_likelihood(_parameters(points), history, 0)

    @staticmethod
    def _narrowest(history: History, points: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Half the sd of (mu, log sigma) if the values were known, so that a collapsed cloud spreads again."""
        sigma = np.exp(np.sum(weights * points[:, 1]))
        return 0.5 / np.sqrt(len(history)) * np.array([sigma, np.sqrt(0.5)])


def _own_stream(rng: np.random.Generator) -> np.random.Generator:
    """One number of the caller's stream, however many are needed: runs with one seed stay comparable."""
    return np.random.Generator(np.random.PCG64(rng.integers(2**63)))


def _parameters(points: np.ndarray) -> np.ndarray:
    """(mu, sigma) from (mu, log sigma)."""
    return np.stack([points[:, 0], np.clip(np.exp(points[:, 1]), SMALLEST_SIGMA, LARGEST_SIGMA)], axis=1)
