"""The normal population, the paper's own."""

import math

import numpy as np
from scipy import special

from explorer.engine.compute.compiled import kernel
from explorer.engine.population.family import LOG_SQRT_2PI, Family, register


@register
class Normal(Family):
    """The paper's population."""

    name = "normal"
    label = "Normal (the paper's)"
    normal = True

    @staticmethod
    def logpdf(z, shape, norm):
        return -0.5 * z * z - LOG_SQRT_2PI

    @staticmethod
    def logcdf(z, shape, norm):
        return _log_normal_cdf(z)

    @staticmethod
    def logsf(z, shape, norm):
        return _log_normal_cdf(-z)

    @staticmethod
    def slope(z, shape, norm):
        return -z

    @staticmethod
    def quantile(u, shape=0.0):
        return special.ndtri(u)

    def fit(self, values):
        return float(np.mean(values)), float(np.std(values))


@kernel
def _log_normal_cdf(z):
    if z > 0.0:
        return math.log1p(-0.5 * math.erfc(z / math.sqrt(2.0)))
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    # Mills' ratio as an asymptotic series; its first dropped term is below 1e-15 here.
    u = 1 / (z * z)
    series = 1 - u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u * (1 - 9 * u * (1 - 11 * u)))))
    return -0.5 * z * z - math.log(-z) - LOG_SQRT_2PI + math.log(series)
