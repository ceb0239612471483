"""The Laplace population."""

import math

import numpy as np

from explorer.engine.population.family import Family, register


@register
class Laplace(Family):
    """The Laplace distribution as a population (not the mechanism's noise): a kink at its centre."""

    name = "laplace"
    label = "Laplace (a sharp peak)"
    kinks = (0.0,)

    @staticmethod
    def logpdf(z, shape, norm):
        return -abs(z) - math.log(2.0)

    @staticmethod
    def logcdf(z, shape, norm):
        return z - math.log(2.0) if z < 0 else math.log1p(-0.5 * math.exp(-z))

    @staticmethod
    def logsf(z, shape, norm):
        return -z - math.log(2.0) if z > 0 else math.log1p(-0.5 * math.exp(z))

    @staticmethod
    def slope(z, shape, norm):
        return -1.0 if z > 0 else (1.0 if z < 0 else 0.0)

    @staticmethod
    def quantile(u, shape=0.0):
        return np.sign(u - 0.5) * -np.log(2 * np.minimum(u, 1 - u))
