"""Algorithm 1 of the paper, for whoever collects answers: reveal an interval, receive an answer, learn, choose again.

    >>> estimator = OnlineEstimator(epsilon=1.0, seed=1)
    >>> left, right = estimator.interval           # ask the next individual for this interval
    >>> info = estimator.observe(right)            # their private answer to it
    >>> estimator.answers, estimator.posterior.mean.shape
    (1, (2,))

What protects the individuals is the mechanism with which each of them releases an answer. The estimator sees answers
and intervals alone. Each individual may answer once, and the first interval must not depend on data.
"""

import copy
import hashlib
import secrets
from pathlib import Path
from threading import RLock

import numpy as np

from explorer.engine.compute.arguments import finite, seed_sequence
from explorer.engine.inference.history import History
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import Prior, SemiConjugatePrior
from explorer.engine.inference.samplers import Info, Sampler, sampler as find_sampler
from explorer.engine.information import Score, score_function
from explorer.engine.mechanisms import DEFAULT_DELTA, Interval, Mechanism, mechanism as find_mechanism
from explorer.engine.policy import Policy, policy as find_policy
from explorer.engine.population import Family, family as find_family
from explorer.engine.run import saved_estimator
from explorer.engine.run.saved_estimator import Parts
from explorer.engine.run.stretch import Stretch, can_stretch, longest, stretch


class OnlineEstimator:
    """The posterior of (mu, sigma) after the answers so far, and the interval to ask the next individual for.

    ``first_interval`` is asked for first; if None, the policy chooses it from the prior. With the policy ``"fixed"``
    it is asked for always. ``sampler_options`` go to the sampler, such as ``{"resampling": "systematic"}``. ``best`` is
    an interval (a, b) of your own for a population with mu = 0 and sigma = 1, in place of the best one for the score.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        mechanism: str | Mechanism = "laplace",
        family: str | Family = "normal",
        particles: int = 1000,
        policy: str | Policy = "thompson",
        score: Score = "mu",
        sampler: str | type[Sampler] = "marginal",
        seed: int | np.random.SeedSequence | None = None,
        prior: Prior | None = None,
        first_interval: Interval | None = None,
        delta: float = DEFAULT_DELTA,
        sampler_options: dict | None = None,
        best: tuple[float, float] | None = None,
    ) -> None:
        self.family = find_family(family)
        self.mechanism = find_mechanism(mechanism, epsilon, delta)
        self.prior = SemiConjugatePrior() if prior is None else prior
        if not isinstance(self.prior, Prior):
            raise ValueError(f"prior must be a Prior, got {prior!r}")
        score_function(score)  # a wrong one is refused even if the policy has no use for it
        self.score = score if isinstance(score, str) or callable(score) else tuple(map(float, score))
        first = None if first_interval is None else Interval.of(first_interval)
        self.sampler = find_sampler(
            sampler, self.family, self.mechanism, self.prior, particles, **(sampler_options or {})
        )
        self.policy = find_policy(policy, self.family, self.mechanism, score, interval=first, best=best)
        self._begin()
        # Two streams, so that the draws of the policy are the same however many numbers the sampler takes.
        self._particle_rng, self._policy_rng = map(np.random.default_rng, seed_sequence("seed", seed).spawn(2))
        self._state = self.sampler.init(self._particle_rng)
        self._posterior: Posterior | None = None
        uniform = self._policy_rng.random()
        self._interval = first if first is not None else self.policy.choose(self.posterior, uniform)

    def _begin(self) -> None:
        """What no file keeps."""
        self._lock = RLock()
        self._key, self._met = secrets.token_bytes(32), set()

    def __repr__(self) -> str:
        return (
            f"<OnlineEstimator {self.mechanism!r}, {self.family!r}, {self.policy.name}, {self.sampler.name}, "
            f"{self.answers} answers>"
        )

    def __getstate__(self) -> dict:
        # With the key, values could be told from their digests: neither leaves this process, and a copy has its own.
        # The generators are all that changes in place.
        with self._lock:
            streams = {name: copy.deepcopy(getattr(self, name)) for name in ("_particle_rng", "_policy_rng")}
            own = ("_lock", "_key", "_met")
            return {name: value for name, value in vars(self).items() if name not in own} | streams

    def __setstate__(self, state: dict) -> None:
        vars(self).update(state)
        self._begin()

    @property
    def interval(self) -> Interval:
        """What to ask the next individual for."""
        return self._interval

    @property
    def answers(self) -> int:
        """How many answers have been observed."""
        return len(self._state.history)

    @property
    def history(self) -> History:
        """All answers and their intervals."""
        return self._state.history

    @property
    def posterior(self) -> Posterior:
        """What is known now: particles, weights, mean, sd, quantiles, log_evidence, ess."""
        with self._lock:
            if self._posterior is None:
                self._posterior = self.sampler.posterior(self._state)
            return self._posterior

    def observe(self, y: float, interval: Interval | None = None) -> Info:
        """Take in one answer, to ``self.interval`` or to another one, and choose the next interval.

        An answer that is not finite, or that the mechanism cannot give to that interval, is refused with a
        ValueError, and nothing has changed.

        Several threads may call this: answers are taken in one after the other, and none is lost. Where several people
        are asked at once, give the ``interval`` that each was asked for, as ``self.interval`` may have moved on.
        """
        with self._lock:
            return self._observe(y, interval)

    def _observe(self, y: float, interval: Interval | None) -> Info:
        asked = self._interval if interval is None else Interval.of(interval)
        answer = finite("y", y)
        if not self.mechanism.can_release(answer, asked):
            low, high = self.mechanism.support(asked)
            raise ValueError(
                f"y must be an answer that {self.mechanism!r} can give to [{asked.left:g}, {asked.right:g}], "
                f"{'-1 or 1' if (low, high) == (-1, 1) else f'between {low:g} and {high:g}'}, got {y!r}"
            )
        before = [rng.bit_generator.state for rng in (self._particle_rng, self._policy_rng)]
        try:
            state, info = self.sampler.step(self._particle_rng, self._state, answer, asked)
            posterior = self.sampler.posterior(state)
            following = self.policy.choose(posterior, self._policy_rng.random())
        except BaseException:  # also an interruption: all or nothing
            self._particle_rng.bit_generator.state, self._policy_rng.bit_generator.state = before
            raise
        self._state, self._posterior, self._interval = state, posterior, following
        return info

    def meets(self, people: bytes) -> bool:
        """Whether this group of people is new to the estimator, which knows it from now on.

        Only a keyed digest is remembered, and only in memory.
        """
        digest = hashlib.blake2b(people, key=self._key).digest()
        with self._lock:
            is_new = digest not in self._met
            self._met.add(digest)
        return is_new

    @property
    def can_stretch(self) -> bool:
        """Whether ``stretch`` can be used."""
        return can_stretch(self.sampler, self.policy)

    def stretch(self, x: np.ndarray, noise: np.ndarray, kept: np.ndarray, levels: np.ndarray) -> Stretch:
        """Let simulated individuals answer, as many in one compiled go as give what ``observe`` gives one by one.

        ``noise`` is in units of its scale; ``kept`` says whose clouds to keep, ``levels`` which quantiles.
        """
        with self._lock:
            most = longest(self.sampler, self.answers)
            before = self._policy_rng.bit_generator.state
            uniforms = self._policy_rng.random(min(most, x.size))
            self._policy_rng.bit_generator.state = before  # only those that are used count, and none if it fails
            given = x[:most], noise[:most], kept[:most], levels
            found, state, interval = stretch(self.sampler, self.policy, self._state, self._interval, uniforms, *given)
            self._policy_rng.random(len(found.y))
            self._state, self._posterior, self._interval = state, None, interval
            return found

    def save(self, path: str | Path) -> None:
        """Save everything, in a file that `load` continues from bit for bit.

        The file is a NumPy ``.npz`` without pickles. ``header`` is a JSON text: ``format`` and ``version``;
        ``epsilon``, ``delta``, ``mechanism``, ``family``, ``prior``, ``score``, ``policy`` and ``sampler`` as they were
        given (null for an object of your own, which no file can describe); ``interval``, the next one; ``random``, the
        state of both PCG64 streams; ``state``, the sampler's numbers. ``history.y``, ``history.left`` and
        ``history.right`` are all answers and their intervals, and ``state.*`` the sampler's arrays. It is written
        beside ``path`` and then renamed.
        """
        with self._lock:  # also while it is written: an older state must not replace a newer one
            saved_estimator.write(
                path,
                Parts(
                    self.mechanism,
                    self.family,
                    self.prior,
                    self.score,
                    self.policy,
                    self.sampler,
                    self._state,
                    self._interval,
                    self._particle_rng,
                    self._policy_rng,
                ),
            )

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        mechanism: Mechanism | None = None,
        family: Family | None = None,
        prior: Prior | None = None,
        policy: Policy | None = None,
        sampler: type[Sampler] | None = None,
        score: Score | None = None,
    ) -> "OnlineEstimator":
        """Load the estimator that was saved.

        A mechanism, family, prior, policy, sampler (its class) or score of your own has no name that a file could
        keep: give it again. Raises ValueError if something of your own is missing, if what you give is not what was
        saved, or if the file is damaged.
        """
        given = {
            "mechanism": mechanism,
            "family": family,
            "prior": prior,
            "policy": policy,
            "sampler": sampler,
            "score": score,
        }
        parts = saved_estimator.read(path, given)
        self = object.__new__(cls)
        self._begin()
        self.mechanism, self.family, self.prior, self.score, self.policy, self.sampler = parts[:6]
        self._state, self._interval, self._particle_rng, self._policy_rng = parts[6:]
        self._posterior = None
        return self
