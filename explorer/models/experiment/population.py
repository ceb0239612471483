"""Who answers: the family and its true parameters."""

import param

from explorer.engine.population import FAMILIES, Family, family as find_family


class PopulationSettings(param.Parameterized):
    """The population P_θ that the individuals come from."""

    family = param.Selector(
        default="normal",
        objects=list(FAMILIES),
        label="Population",
        doc="The population's family P_θ; the paper's is normal.",
    )
    df = param.Number(
        5.0,
        bounds=(0.5, 100),
        softbounds=(1, 30),
        step=0.5,
        label="Degrees of freedom",
        doc=FAMILIES.shared_parameters()["df"].doc,
    )
    mu = param.Number(
        50.0,
        bounds=(-1000, 1000),
        softbounds=(0, 100),
        step=0.5,
        label="True μ",
        doc="μ, the population's true location, which the method does not know. In the paper: 50.",
    )
    sigma = param.Number(
        10**0.5,
        bounds=(0.01, 1000),
        softbounds=(0.5, 15),
        step=0.1,
        label="True σ",
        doc="σ, the population's true scale, which the method does not know. In the paper: √10.",
    )

    @property
    def chosen_family(self) -> Family:
        return find_family(self.family, **({"df": self.df} if "df" in FAMILIES[self.family].parameters else {}))
