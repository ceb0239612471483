"""What public data say without any privacy, beside what private answers say.

>>> open_estimate([1.0, 2.0, 3.0]).mu
2.0
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import secret_array
from explorer.engine.information import classical_information
from explorer.engine.population import Family, family as find_family


class OpenEstimate(NamedTuple):
    """What the values themselves say, without any privacy: maximum likelihood and the standard error of mu."""

    mu: float
    sigma: float
    standard_error: float


def open_estimate(values: Sequence[float], family: str | Family = "normal") -> OpenEstimate:
    """The answer without privacy, from the values themselves: only for data that are public."""
    values, family = secret_array("values", values), find_family(family)
    mu, sigma = family.fit(values)
    error = sigma / np.sqrt(values.size * classical_information(family)[0, 0])
    return OpenEstimate(mu, sigma, float(error))
