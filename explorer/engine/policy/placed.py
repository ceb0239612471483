"""Policies that place the base distribution's best interval, found once."""

from explorer.engine.mechanisms import Interval
from explorer.engine.policy.policy import POLICIES, Policy, placed, register

#: In units of sigma, no best interval reaches farther, and none is narrower than its reciprocal.
FARTHEST = 1e12


class PlacedPolicy(Policy):
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


@register
class Thompson(PlacedPolicy):
    """The paper's Steps 1 and 2: draw (m, c) from the posterior, take what is best for it, eq. (9)."""

    name = "thompson"

    def choose(self, posterior, uniform):
        return placed(self.best, *posterior.pick(uniform))


@register
class PlugIn(PlacedPolicy):
    """What is best for the posterior mean."""

    name = "plug_in"

    def choose(self, posterior, uniform):
        return placed(self.best, *map(float, posterior.mean))
