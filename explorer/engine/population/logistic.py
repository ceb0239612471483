"""The logistic population."""

import math

from scipy import special

from explorer.engine.population.family import Family, register


@register
class Logistic(Family):
    """The logistic distribution: between the normal and the Laplace in its tails."""

    name = "logistic"
    label = "Logistic"

    @staticmethod
    def logpdf(z, shape, norm):
        return -abs(z) - 2 * math.log1p(math.exp(-abs(z)))

    @staticmethod
    def logcdf(z, shape, norm):
        return min(z, 0.0) - math.log1p(math.exp(-abs(z)))

    @staticmethod
    def logsf(z, shape, norm):
        return min(-z, 0.0) - math.log1p(math.exp(-abs(z)))

    @staticmethod
    def slope(z, shape, norm):
        return -math.tanh(z / 2)

    @staticmethod
    def quantile(u, shape=0.0):
        return special.logit(u)
