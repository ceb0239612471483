"""Algorithm 1 of the paper, for whoever collects answers: reveal an interval, receive an answer, learn, choose again.

    >>> estimator = OnlineEstimator(epsilon=1.0, seed=1)
    >>> left, right = estimator.interval           # ask the next individual for this interval
    >>> info = estimator.observe(right)            # their private answer to it
    >>> estimator.answers, estimator.posterior.mean.shape
    (1, (2,))

What protects the individuals is the mechanism with which each of them releases an answer. The estimator sees answers
and intervals alone. Each individual may answer once, and the first interval must not depend on data.
"""

from pathlib import Path

import numpy as np

from explorer.engine import archive
from explorer.engine.arguments import finite, seed_sequence
from explorer.engine.families import Family, family as find_family
from explorer.engine.history import History
from explorer.engine.information import Score
from explorer.engine.interval import Interval
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.priors import Prior, SemiConjugatePrior, described_prior
from explorer.engine.samplers import Info, Posterior, Sampler, sampler as find_sampler
from explorer.engine.truncation import POLICIES, Policy, policy as find_policy

_FORMAT, _VERSION = "explorer estimator", 1


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
        self.score = score if isinstance(score, str) or callable(score) else tuple(map(float, score))
        first = None if first_interval is None else Interval.of(first_interval)
        self.sampler = find_sampler(
            sampler, self.family, self.mechanism, self.prior, particles, **(sampler_options or {})
        )
        self.policy = find_policy(policy, self.family, self.mechanism, score, interval=first, best=best)
        # Two streams, so that the draws of the policy are the same however many numbers the sampler takes.
        self._particle_rng, self._policy_rng = map(np.random.default_rng, seed_sequence("seed", seed).spawn(2))
        self._state = self.sampler.init(self._particle_rng)
        self._posterior: Posterior | None = None
        uniform = self._policy_rng.random()
        self._interval = first if first is not None else self.policy.choose(self.posterior, uniform)

    def __repr__(self) -> str:
        return (
            f"<OnlineEstimator {self.mechanism!r}, {self.family!r}, {self.policy.name}, {self.sampler.name}, "
            f"{self.answers} answers>"
        )

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
        if self._posterior is None:
            self._posterior = self.sampler.posterior(self._state)
        return self._posterior

    def observe(self, y: float, interval: Interval | None = None) -> Info:
        """Take in one answer, to ``self.interval`` or to another one, and choose the next interval.

        An answer that is not finite, or that the mechanism cannot give to that interval, is refused with a
        ValueError, and nothing has changed.
        """
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
        """Everything, in a file that `load` continues from bit for bit.

        The file is a NumPy ``.npz`` without pickles. ``header`` is a JSON text: ``format`` and ``version``;
        ``epsilon``, ``delta``, ``mechanism``, ``family``, ``prior``, ``score``, ``policy`` and ``sampler`` as they were
        given (null for an object that has no name); ``interval``, the next one; ``random``, the state of both PCG64
        streams; ``state``, the sampler's numbers. ``history.y``, ``history.left`` and ``history.right`` are all answers
        and their intervals, and ``state.*`` the sampler's arrays. It is written beside ``path`` and then renamed.
        """
        known = type(self.policy) is POLICIES.get(self.policy.name)
        header = {
            "epsilon": self.mechanism.epsilon,
            "delta": self.mechanism.delta or DEFAULT_DELTA,
            "mechanism": self.mechanism.name,
            "family": self.family.description,
            "prior": self.prior.description,
            "score": None if callable(self.score) else self.score,
            "policy": self.policy.description if known else None,
            "sampler": {"name": self.sampler.name, "particles": self.sampler.particles} | self.sampler.options,
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
        archive.write(path, _FORMAT, _VERSION, header, arrays)

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        family: Family | None = None,
        prior: Prior | None = None,
        policy: Policy | None = None,
        score: Score | None = None,
    ) -> "OnlineEstimator":
        """The estimator that was saved.

        A family, prior, policy or score of your own has no name that a file could keep: give it again.
        """
        header, arrays = archive.read(path, _FORMAT, _VERSION)
        self = object.__new__(cls)
        try:
            self.family = _given_again("family", family, header["family"], lambda known: find_family(**known))
            self.mechanism = find_mechanism(header["mechanism"], header["epsilon"], header["delta"])
            self.prior = _given_again("prior", prior, header["prior"], described_prior)
            self.score = header["score"] if score is None else score
            if self.score is None and (header["policy"] or {}).get("name") == "pseudo_bayesian":
                raise ValueError("the saved estimator had a score of its own: give it again as score=...")
            self.sampler = find_sampler(
                family=self.family, mechanism=self.mechanism, prior=self.prior, **header["sampler"]
            )
            self.policy = _given_again(
                "policy",
                policy,
                header["policy"],
                lambda known: find_policy(known["name"], self.family, self.mechanism, self.score, **known["arguments"]),
            )
            self._particle_rng, self._policy_rng = map(_generator, header["random"])
            fields = {
                name: arrays[f"state.{name}"] for name in self.sampler.state_type._fields if f"state.{name}" in arrays
            }
            if len({len(array) for array in fields.values()}) != 1:
                raise KeyError("the arrays of its state differ in length")
            history = History(*(arrays[f"history.{name}"] for name in ("y", "left", "right")))
            self._state = self.sampler.state_type(**fields, **header["state"], history=history)
            self._interval = Interval.of(header["interval"])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        self._posterior = None
        return self


def _given_again(name: str, given, known, find):
    if given is not None:
        return given
    if known is None:
        raise ValueError(f"the saved estimator had a {name} of its own: give it again as {name}=...")
    return find(known)


def _generator(state: dict) -> np.random.Generator:
    rng = np.random.default_rng()
    rng.bit_generator.state = state
    return rng
