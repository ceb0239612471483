"""How much privacy, and by which mechanism."""

import param

from explorer.engine.mechanisms import DEFAULT_DELTA, MECHANISMS, Mechanism, mechanism as find_mechanism


class PrivacySettings(param.Parameterized):
    """What each individual is promised."""

    epsilon = param.Number(
        1.0,
        bounds=(0.05, 20),
        softbounds=(0.1, 10),
        step=0.05,
        label="Privacy ε",
        doc="ε, the privacy level: smaller is more private. One answer changes any odds by at most a factor of e^ε.",
    )
    mechanism = param.Selector(
        default="laplace",
        objects=list(MECHANISMS),
        label="Mechanism",
        doc="How the individual makes the answer Y_t from the clipped value; the paper's is laplace.",
    )
    delta = param.Number(
        DEFAULT_DELTA,
        bounds=(1e-12, 0.1),
        label="δ",
        doc="δ of the gaussian mechanism: the chance that ε is exceeded.",
    )

    @property
    def chosen_mechanism(self) -> Mechanism:
        return find_mechanism(self.mechanism, self.epsilon, self.delta)
