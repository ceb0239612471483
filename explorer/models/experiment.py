"""All that a user can set, in one flat object that several computations share.

>>> experiment = Experiment(epsilon=2, mu=10)
>>> experiment.changed()
{'mu': 10, 'epsilon': 2}
"""

import param

from explorer.models.population import Population
from explorer.models.privacy import Privacy
from explorer.models.sampling import Sampling
from explorer.models.truncation import Truncation

#: The groups, in the order in which people meet them.
GROUPS: tuple[type[param.Parameterized], ...] = (Privacy, Population, Truncation, Sampling)


class Experiment(Privacy, Population, Truncation, Sampling):
    """A population, a privacy level, a way to choose intervals, and a sampler."""

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
