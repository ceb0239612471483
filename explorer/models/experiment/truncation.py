"""How the interval [l, r] for the next individual is chosen."""

import param

from explorer.engine.information import SCORES
from explorer.engine.policy import POLICIES


class TruncationSettings(param.Parameterized):
    """The score that intervals maximise, the policy, or an interval (a, b) of one's own; and the map's grid."""

    score = param.Selector(
        default="mu",
        objects=list(SCORES),
        label="Score",
        doc="sc(F): what of the 2×2 information matrix the interval maximises. mu|sigma is about μ with σ unknown.",
    )
    policy = param.Selector(
        default="thompson",
        objects=[name for name in POLICIES if name != "fixed"],
        label="Policy",
        doc="Which (m, c) the interval [m + c a, m + c b] is placed for: thompson, the paper's, draws it from the "
        "posterior; plug_in takes the posterior mean; oracle knows the truth.",
    )
    manual = param.Boolean(
        False,
        label="Interval by hand",
        doc="Off: (a, b) is the best interval for the score. On: the (a, b) below, or the one tapped on the map.",
    )
    interval = param.Range(
        (-0.7, 0.7),
        bounds=(-100, 100),
        softbounds=(-3, 3),
        step=0.01,
        label="(a, b)",
        doc="The ends a < b of the interval by hand, in units of σ around μ.",
    )
    resolution = param.Integer(
        50,
        bounds=(2, 200),
        softbounds=(10, 200),
        label="Grid points",
        doc="Points of the Fisher map along a and along b; the paper's grid is 50 × 50.",
    )
    limit = param.Number(
        3.0,
        bounds=(0.1, 100),
        softbounds=(0.5, 10),
        step=0.5,
        label="Grid limit",
        doc="The Fisher map shows a and b from −limit to +limit, in units of σ around μ.",
    )

    @property
    def interval_by_hand(self) -> tuple[float, float] | None:
        """(a, b) if it is set by hand; a ValueError if it is empty."""
        if not self.manual:
            return None
        a, b = self.interval
        if not a < b:
            raise ValueError(f"The interval by hand is empty: a = {a:g} must lie below b = {b:g}.")
        return float(a), float(b)
