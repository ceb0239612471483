"""The Fisher map's state: which mechanism, family and score, on which grid.

>>> model = FisherSurface(epsilon=5)
>>> model.best().b.__round__(3)
0.728
>>> model.surface().values.shape
(50, 50)
"""

import param

from explorer.engine.families import FAMILIES, Family, family as find_family
from explorer.engine.information import SCORES, BestInterval, NoBestIntervalError, Surface, best_interval, score_surface
from explorer.engine.mechanisms import DEFAULT_DELTA, MECHANISMS


class FisherSurface(param.Parameterized):
    """The score of the information in one private answer, over all intervals [a, b]."""

    epsilon = param.Number(
        1.0, bounds=(0.05, 20), softbounds=(0.1, 10), step=0.05, doc="Privacy level ε: smaller is more private."
    )
    mechanism = param.Selector(
        default="laplace",
        objects=list(MECHANISMS),
        doc="What the individual does with the clipped value; the paper's is laplace.",
    )
    delta = param.Number(
        DEFAULT_DELTA,
        bounds=(0, 0.1),
        inclusive_bounds=(False, True),
        doc="δ of the gaussian mechanism: the chance that ε is exceeded.",
    )
    family = param.Selector(
        default="normal", objects=list(FAMILIES), doc="The population's family P_θ; the paper's is normal."
    )
    df = param.Number(5.0, bounds=(0.5, 100), doc="Degrees of freedom of student_t: fewer give heavier tails.")
    score = param.Selector(
        default="mu",
        objects=list(SCORES),
        doc="sc(F): what of the 2×2 information matrix is mapped. mu|sigma is about μ with σ unknown.",
    )
    resolution = param.Integer(50, bounds=(2, 200), doc="Points along a and along b; the paper's grid is 50 × 50.")
    limit = param.Number(
        3.0,
        bounds=(0.1, 100),
        softbounds=(0.5, 10),
        step=0.5,
        doc="The map shows a and b from −limit to +limit, in units of σ around μ.",
    )

    @property
    def chosen_family(self) -> Family:
        return find_family(self.family, **({"df": self.df} if self.family == "student_t" else {}))

    def surface(self) -> Surface:
        """The score on the grid."""
        return score_surface(
            self.epsilon,
            resolution=self.resolution,
            limits=(-self.limit, self.limit),
            family=self.chosen_family,
            mechanism=self.mechanism,
            score=self.score,
            delta=self.delta,
        )

    def best(self) -> BestInterval | None:
        """The interval with the largest score of all; None if the score is 0 for every interval."""
        try:
            return best_interval(
                self.epsilon, family=self.chosen_family, mechanism=self.mechanism, score=self.score, delta=self.delta
            )
        except NoBestIntervalError:
            return None
