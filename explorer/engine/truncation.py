"""How the next interval is chosen from what is known: the paper's H.

========================  ======================================================================================
``"thompson"``            best for one draw from the posterior: the paper's two steps, explores as long as unsure
``"plug_in"``             best for the posterior mean: greedy
``"pseudo_bayesian"``     largest score on average over the posterior: the surest, and some 20 milliseconds a step
``"fixed"``               always the same
``"oracle"``              best for the true parameters, which nobody knows outside a simulation
========================  ======================================================================================

For a location-scale family the best interval of (m, c) is ``[m + c a*, m + c b*]`` (the paper's eq. 11 and
Theorem 3), so that the search for ``(a*, b*)`` is done once.
"""

from typing import ClassVar

import numpy as np
import scipy  # loads scipy.optimize when first used

from explorer.engine.arguments import finite, one_of, positive
from explorer.engine.families import Family, family as find_family
from explorer.engine.information import Score, fisher_information, score_function
from explorer.engine.interval import Interval
from explorer.engine.mechanisms import Mechanism, mechanism as find_mechanism
from explorer.engine.optimum import best_interval
from explorer.engine.samplers.posterior import Posterior

#: No interval is narrower than this, beside its distance from 0 and by itself.
NARROW, NARROWEST = 1e-12, 1e-100
#: In units of sigma, no best interval reaches farther, and none is narrower than its reciprocal.
FARTHEST = 1e12


class Policy:
    """Base class: a subclass gives ``choose``."""

    name: ClassVar[str]

    @property
    def description(self) -> dict | None:
        """What ``described_policy`` takes to make it again; None for a policy of somebody's own."""
        return None

    def choose(self, posterior: Posterior, uniform: float) -> Interval:
        """The interval for the next individual. ``uniform``, in [0, 1), is all the randomness there is."""
        raise NotImplementedError


class _FromBest(Policy):
    """Places the base distribution's best interval, found once."""

    def __init__(self, best: tuple[float, float]) -> None:
        self.best = Interval.of(best)
        if not (max(map(abs, self.best)) <= FARTHEST and self.best.width >= 1 / FARTHEST):
            raise ValueError(f"best must lie between {-FARTHEST:g} and {FARTHEST:g}, got {tuple(self.best)}")

    @property
    def description(self):
        known = type(self) is POLICIES.get(self.name)
        return {"name": self.name, "arguments": {"best": self.best}} if known else None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(best=({self.best.left:.6g}, {self.best.right:.6g}))"


class Thompson(_FromBest):
    """The paper's Steps 1 and 2: draw (m, c) from the posterior, take what is best for it, eq. (9)."""

    name = "thompson"

    def choose(self, posterior, uniform):
        return _placed(self.best, *posterior.pick(uniform))


class PlugIn(_FromBest):
    """What is best for the posterior mean."""

    name = "plug_in"

    def choose(self, posterior, uniform):
        return _placed(self.best, *map(float, posterior.mean))


class PseudoBayesian(_FromBest):
    """The largest score on average over the posterior, of which ``draws`` even quantiles of mu stand for the whole."""

    name = "pseudo_bayesian"
    draws = 64

    def __init__(self, best, family: Family, mechanism: Mechanism, score: Score) -> None:
        super().__init__(best)
        self._family, self._mechanism, self._score = family, mechanism, score_function(score)
        self._given_score = score if isinstance(score, str) or callable(score) else tuple(map(float, score))

    @property
    def description(self):
        known = super().description
        if known is not None:  # null for what is somebody's own, which is given again
            known["arguments"] |= {"family": self._family.description, "mechanism": self._mechanism.description}
            known["arguments"]["score"] = None if callable(self._given_score) else self._given_score
        return known

    def choose(self, posterior, uniform):
        theta = np.array([posterior.pick((k + 0.5) / self.draws) for k in range(self.draws)])
        mu, sigma = theta.T

        def average(left, right):
            ends = ((np.asarray(end)[..., None] - mu) / sigma for end in (left, right))
            matrices = fisher_information(*ends, self._mechanism.epsilon, self._family, self._mechanism)
            return self._score(matrices / sigma[:, None, None] ** 2).mean(axis=-1)

        # Start from what is best for one of them, or from an interval as wide as they are spread.
        starts = [_placed(self.best, *pair) for pair in theta]
        starts += [
            _placed(self.best, mu.mean(), sigma.mean()),
            _placed(Interval(-1, 1), mu.mean(), mu.std() + sigma.min()),
        ]
        start = starts[int(np.argmax(average(*np.array(starts).T)))]

        def interval_at(point):
            width = start.width * np.exp(np.clip(point[1], -20, 20))
            return _placed(Interval(-0.5, 0.5), start.midpoint + start.width * point[0], width)

        def loss(point):
            return -float(average(*interval_at(point)))

        options = {"xatol": 1e-3, "fatol": 0, "maxiter": 60, "initial_simplex": [[0, 0], [0.3, 0], [0, 0.3]]}
        return interval_at(scipy.optimize.minimize(loss, np.zeros(2), method="Nelder-Mead", options=options).x)


class Fixed(Policy):
    """Always the same interval: the paper's non-adaptive method.

    >>> Fixed((0, 100)).choose(None, 0.5)
    Interval(left=0.0, right=100.0)
    """

    name = "fixed"

    def __init__(self, interval: Interval) -> None:
        self.interval = Interval.of(interval)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.interval!r})"

    @property
    def description(self):
        known = type(self) is POLICIES.get(self.name)
        return {"name": self.name, "arguments": {"interval": self.interval}} if known else None

    def choose(self, posterior, uniform):
        return self.interval


class Oracle(Fixed):
    """What is best for the true parameters: as well as any choice of interval could do."""

    name = "oracle"


POLICIES: dict[str, type[Policy]] = {cls.name: cls for cls in (Thompson, PlugIn, PseudoBayesian, Fixed, Oracle)}


def policy(
    name: str | Policy,
    family: Family,
    mechanism: Mechanism,
    score: Score = "mu",
    interval: Interval | None = None,
    truth: tuple[float, float] | None = None,
    best: tuple[float, float] | None = None,
) -> Policy:
    """The policy of that name; ``"fixed"`` takes ``interval``, ``"oracle"`` takes ``truth``; a policy is kept.

    ``best`` is ``(a*, b*)``, where it has been found already.
    """
    if isinstance(name, Policy):
        return name
    one_of("policy", name, POLICIES)
    if name == "fixed":
        if interval is None:
            raise ValueError("policy 'fixed' needs an interval")
        return Fixed(interval)
    if name == "oracle" and truth is None:
        raise ValueError("policy 'oracle' needs the true parameters, which only a simulation knows")
    if best is None:
        best = best_interval(mechanism.epsilon, family, mechanism, score)[:2]
    if name == "oracle":
        mu, sigma = truth
        return Oracle(_placed(Interval.of(best), finite("mu", mu), positive("sigma", sigma)))
    if name == "pseudo_bayesian":
        return PseudoBayesian(best, family, mechanism, score)
    return POLICIES[name](best)


def described_policy(description: dict, family: Family, mechanism: Mechanism, score: Score) -> Policy | None:
    """The policy of this ``description``; None if that leaves out something of somebody's own."""
    cls = POLICIES[one_of("policy", description["name"], POLICIES)]
    arguments = description["arguments"]
    if issubclass(cls, Fixed):
        return cls(arguments["interval"])
    if cls is PseudoBayesian:
        if "family" in arguments:  # files of version 0.1.0 do not say
            for name, own in (("family", family.description), ("mechanism", mechanism.description), ("score", score)):
                if arguments[name] is None and own is not None and not callable(own):
                    return None
            family = family if arguments["family"] is None else find_family(**arguments["family"])
            mechanism = mechanism if arguments["mechanism"] is None else find_mechanism(**arguments["mechanism"])
            score = score if arguments["score"] is None else arguments["score"]
        return cls(arguments["best"], family, mechanism, score)
    return cls(arguments["best"])


def _placed(best: Interval, m: float, c: float) -> Interval:
    """``[m + c a, m + c b]``; if c is so small beside m that nothing lies between, the narrowest interval around m."""
    left, right = float(m + c * best.left), float(m + c * best.right)
    if not right - left > NARROW * abs(m):
        reach = max(NARROW * abs(m), NARROWEST)
        return Interval(float(m - reach), float(m + reach))
    return Interval(left, right)
