"""How the next question is chosen from what is known: the paper's H."""

from explorer.engine.compute.arguments import finite, one_of, positive
from explorer.engine.information import Score, best_interval
from explorer.engine.mechanisms import Interval, Mechanism, mechanism as find_mechanism
from explorer.engine.policy.fixed import Fixed, Oracle
from explorer.engine.policy.placed import PlacedPolicy, PlugIn, Thompson
from explorer.engine.policy.policy import POLICIES, Policy, placed, register
from explorer.engine.policy.pseudo_bayesian import PseudoBayesian
from explorer.engine.population import Family, family as find_family

POLICIES.put_first("thompson", "plug_in", "pseudo_bayesian", "fixed", "oracle")

__all__ = [
    "POLICIES",
    "Fixed",
    "Oracle",
    "PlugIn",
    "Policy",
    "PseudoBayesian",
    "Thompson",
    "described_policy",
    "policy",
    "register",
]


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
    cls = POLICIES[name]
    if not issubclass(cls, PlacedPolicy | Oracle):  # one of your own, which knows for itself
        return cls()
    if best is None:
        best = best_interval(mechanism.epsilon, family=family, mechanism=mechanism, score=score)[:2]
    if name == "oracle":
        mu, sigma = truth
        return Oracle(placed(Interval.of(best), finite("mu", mu), positive("sigma", sigma)))
    if name == "pseudo_bayesian":
        return PseudoBayesian(best, family, mechanism, score)
    return cls(best)


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
