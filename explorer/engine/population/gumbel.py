"""The Gumbel population."""

import math

import numpy as np

from explorer.engine.population.family import Family, register


@register
class Gumbel(Family):
    """The Gumbel distribution of maxima: skewed, so nothing may assume symmetry."""

    name = "gumbel"
    label = "Gumbel (skewed)"

    @staticmethod
    def logpdf(z, shape, norm):
        return -z - math.exp(-z)

    @staticmethod
    def logcdf(z, shape, norm):
        return -math.exp(-z)

    @staticmethod
    def logsf(z, shape, norm):
        u = math.exp(-z)
        # log(1 - exp(-u)), from whichever side does not cancel; for the smallest u it is log u.
        if u < 1e-9:
            return -z + math.log1p(-0.5 * u)
        return math.log(-math.expm1(-u)) if u < 0.7 else math.log1p(-math.exp(-u))

    @staticmethod
    def slope(z, shape, norm):
        return math.exp(-z) - 1

    @staticmethod
    def quantile(u, shape=0.0):
        return -np.log(-np.log(u))
