"""All that a user can set, in one flat object that several computations share.

>>> experiment = Experiment(epsilon=2, mu=10)
>>> experiment.changed()
{'mu': 10, 'epsilon': 2}
"""

import param

from explorer.engine.inference.samplers import SAMPLERS
from explorer.engine.mechanisms import MECHANISMS
from explorer.engine.population import FAMILIES
from explorer.models.experiment.population import PopulationSettings
from explorer.models.experiment.privacy import PrivacySettings
from explorer.models.experiment.sampling import SamplingSettings
from explorer.models.experiment.truncation import TruncationSettings

#: The groups of settings, in the order in which people meet them.
GROUPS: tuple[type[param.Parameterized], ...] = (
    PrivacySettings,
    PopulationSettings,
    TruncationSettings,
    SamplingSettings,
)


class Experiment(PrivacySettings, PopulationSettings, TruncationSettings, SamplingSettings):
    """A population, a privacy level, a way to choose intervals, and a sampler."""

    def __init__(self, **params):
        # What was registered since this module was loaded can be chosen too.
        kinds = {"mechanism": MECHANISMS, "family": FAMILIES, "sampler": SAMPLERS}
        for name, registry in kinds.items():
            type(self).param[name].objects = list(registry)
        super().__init__(**params)

    @staticmethod
    def title_of(group: type[param.Parameterized]) -> str:
        """What people call a group."""
        return group.__name__.removesuffix("Settings")

    @classmethod
    def names_of(cls, group: type[param.Parameterized]) -> list[str]:
        """The parameters of one group, in their order."""
        return [name for name in group.param if name != "name"]

    def changed(self) -> dict:
        """The values that differ from the defaults."""
        return {
            name: getattr(self, name)
            for name in self.param
            if name != "name" and getattr(self, name) != self.param[name].default
        }
