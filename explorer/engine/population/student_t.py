"""Student's t: a population with heavy tails."""

import math
from typing import ClassVar

import numpy as np
from scipy import special

from explorer.engine.compute.arguments import positive
from explorer.engine.compute.compiled import kernel
from explorer.engine.compute.registry import Parameter
from explorer.engine.population.family import LOG_SQRT_2PI, Family, register

#: Below, the quantiles leave the floating-point range; above, it is the normal distribution to all digits.
SMALLEST_DF, LARGEST_DF = 0.5, 1e15


@register
class StudentT(Family):
    """Student's t with ``df`` degrees of freedom: heavy tails."""

    name = "student_t"
    label = "Student's t (heavy tails)"
    parameters: ClassVar = {
        "df": Parameter(
            5.0, SMALLEST_DF, LARGEST_DF, "Degrees of freedom", "Degrees of freedom: fewer give heavier tails."
        )
    }

    def __init__(self, df: float = 5.0) -> None:
        self.shape = df = positive("df", df)
        if not SMALLEST_DF <= df <= LARGEST_DF:
            raise ValueError(f"df must lie between {SMALLEST_DF:g} and {LARGEST_DF:g}, got {df!r}")
        # log of g(0): Gamma((df+1)/2) / (Gamma(df/2) sqrt(df pi)), by a series where the difference would cancel
        if df < 1000:
            self.norm = float(special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(df * np.pi))
        else:
            self.norm = -LOG_SQRT_2PI - 1 / (4 * df) + 1 / (24 * df**3)

    def __repr__(self) -> str:
        return f"StudentT(df={self.shape:g})"

    @staticmethod
    def logpdf(z, df, norm):
        return norm - (df + 1) * _log_hypot_ratio(z, df)

    @staticmethod
    def logcdf(z, df, norm):
        return _log_student_cdf(z, df, norm)

    @staticmethod
    def logsf(z, df, norm):
        return _log_student_cdf(-z, df, norm)

    @staticmethod
    def slope(z, df, norm):
        return -(df + 1) * z / (df + z * z)

    @staticmethod
    def quantile(u, df):
        return special.stdtrit(df, u)


@kernel
def _log_hypot_ratio(z, df):
    # log sqrt(1 + z^2/df), also where z^2 would overflow
    t = abs(z) / math.sqrt(df)
    return 0.5 * math.log1p(t * t) if t < 1e100 else math.log(t)


@kernel
def _log_student_cdf(z, df, norm):
    log_x = -2 * _log_hypot_ratio(z, df)  # x = df / (df + z^2), the tail is I_x(df/2, 1/2) / 2
    x = math.exp(log_x)
    rest = (z * z) / (df + z * z) if abs(z) < 1e100 else 1.0
    half = 0.5 * df
    log_beta = -norm - 0.5 * math.log(df)
    front = half * log_x + 0.5 * math.log(rest) - log_beta if rest > 0 else -math.inf
    if x < (half + 1) / (half + 2.5):
        log_tail = front - math.log(2 * half) + math.log(_beta_fraction(half, 0.5, x))
        return log_tail if z < 0 else math.log1p(-math.exp(log_tail))
    centre = math.exp(front) * _beta_fraction(0.5, half, rest)  # P(|T| < |z|) / 2
    return math.log(0.5 - centre) if z < 0 else math.log(0.5 + centre)


@kernel
def _beta_fraction(a, b, x):
    # The continued fraction of the incomplete beta function, by Lentz's method.
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 1000):
        for step in range(2):
            if step == 0:
                term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            else:
                term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return value
