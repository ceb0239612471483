"""Policies that always ask for the same interval."""

from explorer.engine.mechanisms import Interval
from explorer.engine.policy.policy import POLICIES, Policy, register


@register
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


@register
class Oracle(Fixed):
    """What is best for the true parameters: as well as any choice of interval could do."""

    name = "oracle"
