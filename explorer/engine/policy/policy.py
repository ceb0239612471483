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

from explorer.engine.compute.compiled import kernel
from explorer.engine.compute.registry import Registry
from explorer.engine.inference.posterior import Posterior
from explorer.engine.mechanisms import Interval

POLICIES = Registry("policy")
register = POLICIES.register
#: No interval is narrower than this, beside its distance from 0 and by itself.
NARROW, NARROWEST = 1e-12, 1e-100


class Policy:
    """Base class: a subclass gives ``choose``. One that is registered is made without arguments."""

    name: ClassVar[str]

    @property
    def description(self) -> dict | None:
        """What ``described_policy`` takes to make it again; None for a policy of somebody's own."""
        return None

    def choose(self, posterior: Posterior, uniform: float) -> Interval:
        """The interval for the next individual. ``uniform``, in [0, 1), is all the randomness there is."""
        raise NotImplementedError


def placed(best: Interval, m: float, c: float) -> Interval:
    """``[m + c a, m + c b]``; if c is so small beside m that nothing lies between, the narrowest interval around m."""
    left, right = placed_ends(float(m), float(c), best.left, best.right)
    return Interval(left, right)


@kernel
def placed_ends(m, c, a, b):
    """The ends of ``placed``, also for kernels."""
    left, right = m + c * a, m + c * b
    if not right - left > NARROW * abs(m):
        reach = max(NARROW * abs(m), NARROWEST)
        left, right = m - reach, m + reach
    return left, right
