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

    >>> from explorer.engine.population import family
    >>> family("student_t", df=3).ppf([0.5, 0.9]).round(4)
    array([0.    , 1.6377])
    >>> family("normal").cdf([-1.96, 0.0]).round(3)
    array([0.025, 0.5  ])
"""

import math
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy  # loads scipy.optimize when first used

from explorer.engine.compute.arguments import one_of
from explorer.engine.compute.compiled import map_scalar, scalar_pointer
from explorer.engine.compute.quadrature import panel_edges
from explorer.engine.compute.registry import Parameter, Registry
from explorer.engine.compute.uniform import open_uniform

FAMILIES = Registry("family")
#: The decorator that makes a family known everywhere.
register = FAMILIES.register
LOG_SQRT_2PI = 0.5 * math.log(2 * math.pi)
#: Maximum number of values that a fit looks at.
_MOST_FITTED = 200_000


class Family:
    """Base class. A subclass names itself and gives the five functions."""

    name: ClassVar[str]
    #: What people call it.
    label: ClassVar[str] = ""
    #: What it takes beside mu and sigma.
    parameters: ClassVar[dict[str, Parameter]] = {}
    #: Points where g is not smooth.
    kinks: ClassVar[tuple[float, ...]] = ()
    #: Whether g is the normal density, for which likelihoods and conditionals have closed forms.
    normal: ClassVar[bool] = False

    def __init__(self) -> None:
        self.shape = 0.0
        self.norm = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    @property
    def key(self) -> tuple:
        """Hashable identity, used as a cache key."""
        return type(self), self.shape, self.norm

    @property
    def description(self) -> dict | None:
        """What ``family`` takes to make it again; None for a family of somebody's own."""
        return {"name": self.name} | self.arguments if FAMILIES.get(self.name) is type(self) else None

    @property
    def arguments(self) -> dict[str, float]:
        """What the family takes beside its name: its shape, if it has one."""
        return dict.fromkeys(self.parameters, self.shape)

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

    def fit(self, values: np.ndarray) -> tuple[float, float]:
        """The maximum likelihood estimate of (mu, sigma) from values without noise; sigma is 0 if most are equal."""
        some = values if values.size <= _MOST_FITTED else np.random.default_rng().choice(values, _MOST_FITTED, False)
        low, middle, high = np.quantile(some, [0.25, 0.5, 0.75])
        quartiles = self.ppf([0.25, 0.5, 0.75])
        scale = (high - low) / (quartiles[2] - quartiles[0])
        if not scale > 0:
            return float(middle), 0.0
        standard = (some - middle) / scale

        def loss(point):
            z = (standard - point[0]) / np.exp(point[1])
            return point[1] - map_scalar(self.code[0], self.shape, self.norm, z).mean()

        start = [float(-quartiles[1]), 0.0]  # the median of g need not be 0
        options = {"xatol": 1e-6, "fatol": 0}
        mu, log_sigma = scipy.optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
        return float(middle + scale * mu), float(scale * np.exp(log_sigma))


def family(name: "str | Family", **shape) -> Family:
    """The family of that name; a family is returned as it is."""
    if isinstance(name, Family):
        return name
    cls = FAMILIES[one_of("family", name, FAMILIES)]
    try:
        return cls(**shape)
    except TypeError:
        raise ValueError(f"family {name!r} does not take {', '.join(shape)}") from None
