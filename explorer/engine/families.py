"""Location-scale families of the population: ``x = mu + sigma * z`` with ``z`` from a base density ``g``.

A family is one small class with five functions of the base variable, written for a single
number with :mod:`math` (they are compiled) except for the quantile, which takes arrays::

    logpdf(z, shape, norm)   log g(z)
    logcdf(z, shape, norm)   log P(Z <= z)
    logsf(z, shape, norm)    log P(Z > z)
    slope(z, shape, norm)    d log g / dz
    quantile(u, shape)       the inverse of the cdf

``shape`` is the family's one shape parameter (StudentT's degrees of freedom) and ``norm`` whatever
it has computed once from it; families without a shape ignore both. Logarithms, because the far tail
of a family can decide a likelihood long after its probability has left the floating-point range.
A family whose density has a kink names it in ``kinks``.

    >>> family("student_t", df=3).ppf([0.5, 0.9]).round(4)
    array([0.    , 1.6377])
    >>> family("normal").cdf([-1.96, 0.0]).round(3)
    array([0.025, 0.5  ])
"""

import math
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import special

from explorer.engine.arguments import one_of, positive
from explorer.engine.compiled import kernel, map_scalar, scalar_pointer
from explorer.engine.quadrature import panel_edges
from explorer.engine.uniform import open_uniform

#: The degrees of freedom that StudentT takes.
SMALLEST_DF, LARGEST_DF = 0.5, 1e15
_LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)


class Family:
    """Base class. A subclass names itself and gives the five functions."""

    name: ClassVar[str]
    #: Points where g is not smooth.
    kinks: ClassVar[tuple[float, ...]] = ()

    def __init__(self) -> None:
        self.shape = 0.0
        self.norm = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @property
    def key(self) -> tuple:
        """What tells this family from others, for caches."""
        return type(self), self.shape, self.norm

    @property
    def description(self) -> dict | None:
        """What ``family`` takes to make it again; None for a family of somebody's own."""
        return {"name": self.name} | self.arguments if FAMILIES.get(self.name) is type(self) else None

    @property
    def arguments(self) -> dict[str, float]:
        """What the family takes beside its name."""
        return {}

    def __eq__(self, other) -> bool:
        return isinstance(other, Family) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @cached_property
    def code(self) -> tuple:
        """What kernels take: four functions' addresses, the shape and its constant, the edges of smooth panels."""
        logpdf = scalar_pointer(type(self).logpdf)
        return (
            logpdf,
            scalar_pointer(type(self).logcdf),
            scalar_pointer(type(self).logsf),
            scalar_pointer(type(self).slope),
            self.shape,
            self.norm,
            panel_edges(logpdf, self.shape, self.norm, self.kinks),
        )

    @cached_property
    def symmetric(self) -> bool:
        """g(-z) = g(z): what is found for [a, b] holds for [-b, -a]."""
        z = np.geomspace(1e-3, 30, 50)
        right, left = (map_scalar(self.code[0], self.shape, self.norm, side * z) for side in (1, -1))
        return bool(np.allclose(right, left, rtol=1e-12, atol=0))

    def __getstate__(self) -> dict:
        return {"shape": self.shape, "norm": self.norm}  # addresses are found anew where they are needed

    def pdf(self, z) -> np.ndarray:
        return np.exp(map_scalar(self.code[0], self.shape, self.norm, z))

    def cdf(self, z) -> np.ndarray:
        return np.exp(map_scalar(self.code[1], self.shape, self.norm, z))

    def sf(self, z) -> np.ndarray:
        return np.exp(map_scalar(self.code[2], self.shape, self.norm, z))

    def ppf(self, u) -> np.ndarray:
        return type(self).quantile(np.asarray(u, dtype=float), self.shape)

    def score(self, z) -> np.ndarray:
        """Gradient of log f(x; mu, sigma) in (mu, sigma) at x = z, mu = 0, sigma = 1; shape (..., 2)."""
        slope = map_scalar(self.code[3], self.shape, self.norm, z)
        return np.stack([-slope, -1 - np.asarray(z) * slope], axis=-1)

    def sample(self, rng: np.random.Generator, size=None) -> np.ndarray:
        """Base draws by inversion: one uniform number each, so runs with one seed stay comparable."""
        return self.ppf(open_uniform(rng, size))


class Normal(Family):
    """The paper's population."""

    name = "normal"

    @staticmethod
    def logpdf(z, shape, norm):
        return -0.5 * z * z - _LOG_SQRT_2PI

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


class StudentT(Family):
    """Student's t with ``df`` degrees of freedom: heavy tails."""

    name = "student_t"

    def __init__(self, df: float = 5.0) -> None:
        self.shape = df = positive("df", df)
        if not SMALLEST_DF <= df <= LARGEST_DF:
            # Below, its quantiles leave the floating-point range; above, it is the normal distribution to all digits.
            raise ValueError(f"df must lie between {SMALLEST_DF:g} and {LARGEST_DF:g}, got {df!r}")
        # log of g(0): Gamma((df+1)/2) / (Gamma(df/2) sqrt(df pi)), by a series where the difference would cancel
        if df < 1000:
            self.norm = float(special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(df * np.pi))
        else:
            self.norm = -_LOG_SQRT_2PI - 1 / (4 * df) + 1 / (24 * df**3)

    def __repr__(self) -> str:
        return f"StudentT(df={self.shape:g})"

    @property
    def arguments(self):
        return {"df": self.shape}

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


class Logistic(Family):
    """The logistic distribution: between the normal and the Laplace in its tails."""

    name = "logistic"

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


class Laplace(Family):
    """The Laplace distribution as a population (not the mechanism's noise): a kink at its centre."""

    name = "laplace"
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


class Gumbel(Family):
    """The Gumbel distribution of maxima: skewed, so nothing may assume symmetry."""

    name = "gumbel"

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


FAMILIES: dict[str, type[Family]] = {cls.name: cls for cls in (Normal, StudentT, Logistic, Laplace, Gumbel)}


def family(name: "str | Family", **shape) -> Family:
    """The family of that name; a family is returned as it is."""
    if isinstance(name, Family):
        return name
    cls = FAMILIES[one_of("family", name, FAMILIES)]
    try:
        return cls(**shape)
    except TypeError:
        raise ValueError(f"family {name!r} does not take {', '.join(shape)}") from None


@kernel
def _log_normal_cdf(z):
    if z > 0.0:
        return math.log1p(-0.5 * math.erfc(z / math.sqrt(2.0)))
    if z > -30.0:
        return math.log(0.5 * math.erfc(-z / math.sqrt(2.0)))
    # Mills' ratio as an asymptotic series; its first dropped term is below 1e-15 here.
    u = 1 / (z * z)
    series = 1 - u * (1 - 3 * u * (1 - 5 * u * (1 - 7 * u * (1 - 9 * u * (1 - 11 * u)))))
    return -0.5 * z * z - math.log(-z) - _LOG_SQRT_2PI + math.log(series)


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
