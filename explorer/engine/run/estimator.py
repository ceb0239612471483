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
import json
import secrets
from pathlib import Path
from threading import RLock

import numpy as np

from explorer.engine.compute.arguments import finite, ordered_arrays, seed_sequence
from explorer.engine.inference.history import History
from explorer.engine.inference.priors import Prior, SemiConjugatePrior, described_prior
from explorer.engine.inference.samplers import SAMPLERS, Info, Posterior, Sampler, sampler as find_sampler
from explorer.engine.inference.samplers.protocol import check_array
from explorer.engine.information import Score, score_function
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.policy import Policy, described_policy, policy as find_policy
from explorer.engine.population import Family, family as find_family
from explorer.io import archive

_FORMAT, _VERSION = "explorer estimator", 1
#: What may be of one's own.
_KINDS = {"family": Family, "prior": Prior, "policy": Policy}


class OnlineEstimator:
    """The posterior of (mu, sigma) after the answers so far, and the interval to ask the next individual for.

    ``first_interval`` is asked for first; if None, the policy chooses it from the prior. With the policy ``"fixed"``
    it is asked for always. ``sampler_options`` go to the sampler, such as ``{"resampling": "systematic"}``. ``best`` is
    an interval (a, b) of your own for a population with mu = 0 and sigma = 1, in place of the best one for the score.
    """

    def __init__(
        self,
        epsilon: float = 1.0,
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
    def state(self):
        """What the sampler knows, for those who step it themselves."""
        return self._state

    def coming_draws(self, count: int) -> np.ndarray:
        """The policy's next random numbers; they stay the next ones."""
        before = self._policy_rng.bit_generator.state
        uniforms = self._policy_rng.random(count)
        self._policy_rng.bit_generator.state = before
        return uniforms

    def go_on_from(self, state, interval: Interval, answers: int) -> None:
        """Take over what the sampler's state and the interval are after so many more answers."""
        self._policy_rng.random(answers)
        self._state, self._posterior, self._interval = state, None, interval

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
            header, arrays = self._described()
            archive.write(path, _FORMAT, _VERSION, header, arrays)

    def _described(self) -> tuple[dict, dict[str, np.ndarray]]:
        own_sampler = SAMPLERS.get(self.sampler.name) is not type(self.sampler)
        header = {
            "epsilon": self.mechanism.epsilon,
            "delta": self.mechanism.delta or DEFAULT_DELTA,
            "mechanism": None if self.mechanism.description is None else self.mechanism.name,
            "family": self.family.description,
            "prior": self.prior.description,
            "score": None if callable(self.score) else self.score,
            "policy": self.policy.description,
            "sampler": {"name": None if own_sampler else self.sampler.name, "particles": self.sampler.particles}
            | self.sampler.options,
            "interval": self._interval,
            "random": [rng.bit_generator.state for rng in (self._particle_rng, self._policy_rng)],
            "state": {},
        }
        arrays = dict(zip(("history.y", "history.left", "history.right"), self.history.arrays, strict=True))
        for name, value in self._state._asdict().items():
            if isinstance(value, np.ndarray):
                arrays[f"state.{name}"] = value
            elif name != "history":
                header["state"][name] = value
        return header, arrays

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
        header, arrays = archive.read(path, _FORMAT, _VERSION)
        given = {
            "mechanism": mechanism,
            "family": family,
            "prior": prior,
            "policy": policy,
            "sampler": sampler,
            "score": score,
        }
        # A file may hold anything: whatever goes wrong with it has one meaning, and nothing of it is used.
        try:
            return cls._restored(header, arrays, given)
        except _GivenAgainError as error:
            raise ValueError(f"{path}: {error}") from None
        except Exception as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    @classmethod
    def _restored(cls, header: dict, arrays: dict[str, np.ndarray], given: dict) -> "OnlineEstimator":
        self = object.__new__(cls)
        self._begin()
        self.family = _given_again("family", given, header["family"], lambda known: find_family(**known))
        self.mechanism = cls._restored_mechanism(header, given)
        self.prior = _given_again("prior", given, header["prior"], described_prior)
        self.score = header["score"] if given["score"] is None else given["score"]
        saved = header["score"]
        if saved is not None and (callable(self.score) or json.dumps(self.score) != json.dumps(saved)):
            raise _GivenAgainError("score", str(saved))
        if self.score is None and (header["policy"] or {}).get("name") == "pseudo_bayesian":
            raise _GivenAgainError("score")
        if self.score is not None:
            score_function(self.score)
        options = dict(header["sampler"])
        name = options.pop("name")
        if isinstance(given["sampler"], str):
            raise _WrongKindError("sampler", "the class of a sampler", given["sampler"])
        if name is not None and given["sampler"] not in (None, SAMPLERS.get(name)):
            raise _GivenAgainError("sampler", repr(name))
        if name is None and given["sampler"] is None:
            raise _GivenAgainError("sampler")
        self.sampler = find_sampler(
            name or given["sampler"], family=self.family, mechanism=self.mechanism, prior=self.prior, **options
        )
        self.policy = _given_again(
            "policy",
            given,
            header["policy"],
            lambda known: described_policy(known, self.family, self.mechanism, self.score),
        )
        self._particle_rng, self._policy_rng = map(_generator, header["random"])
        history = _history(*(arrays.pop(f"history.{column}") for column in ("y", "left", "right")), self)
        values = {name.removeprefix("state."): array for name, array in arrays.items()}
        self._state = self.sampler.restored(values | header["state"], history)
        self._posterior = None
        self._interval = Interval.of(header["interval"])
        return self

    @staticmethod
    def _restored_mechanism(header: dict, given: dict) -> Mechanism:
        name, own = header["mechanism"], given["mechanism"]
        if name is not None:
            known = find_mechanism(name, header["epsilon"], header["delta"])
            if own is not None and not isinstance(own, Mechanism):
                raise _WrongKindError("mechanism", "a Mechanism", own)
            if own not in (None, known):
                raise _GivenAgainError("mechanism", repr(known))
            return known
        if not isinstance(own, Mechanism) or own.description is not None:
            raise _GivenAgainError("mechanism")
        if (own.epsilon, own.delta or DEFAULT_DELTA) != (header["epsilon"], header["delta"]):
            raise _GivenAgainError("mechanism", f"one with epsilon={header['epsilon']}, delta={header['delta']}")
        return own


class _GivenAgainError(ValueError):
    """Something of the caller's own is missing, or is not what was saved."""

    def __init__(self, name: str, saved: str | None = None) -> None:
        if saved is None:
            super().__init__(f"the saved estimator had a {name} of its own: give it again as {name}=...")
        else:
            super().__init__(f"the saved estimator had another {name}: {saved}")


class _WrongKindError(_GivenAgainError):
    """A name, say, where an object is needed."""

    def __init__(self, name: str, kind: str, given) -> None:
        ValueError.__init__(self, f"{name} must be {kind}, got {given!r}")


def _given_again(name: str, given: dict, known, find):
    """What the file describes or, where it describes nothing, what the caller gives."""
    own = given[name]
    if known is None and (not isinstance(own, _KINDS[name]) or own.description is not None):
        raise _GivenAgainError(name)
    if known is None:
        return own
    if own is not None and not isinstance(own, _KINDS[name]):
        raise _WrongKindError(name, f"a {_KINDS[name].__name__}", own)
    if own is not None and json.dumps(own.description) != json.dumps(known):
        raise _GivenAgainError(name, str(known))
    found = find(known)
    if found is None and own is None:  # a part of it was of somebody's own
        raise _GivenAgainError(name)
    return own if found is None else found


def _history(y: np.ndarray, left: np.ndarray, right: np.ndarray, estimator: OnlineEstimator) -> History:
    """The answers of a file, if the estimator's mechanism can have given them."""
    for name, column in (("y", y), ("left", left), ("right", right)):
        check_array(name, column, (y.size,))
    ordered_arrays(("left", "right"), left, right)
    middle, width = left + (right - left) / 2, right - left
    if y.size and not np.all(
        estimator.mechanism.evaluate(estimator.family, y, left, right, middle, width)[:, 0] > -np.inf
    ):
        raise ValueError(f"it has answers that {estimator.mechanism!r} cannot give")
    return History(y, left, right)


def _generator(state: dict) -> np.random.Generator:
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng
