"""Priors of (mu, sigma): the paper's eta.

``SemiConjugatePrior`` is the paper's own: mu normal, sigma^2 inverse gamma, independent of each other.
``IndependentPrior`` takes any two distributions that have ``logpdf`` and ``ppf``, such as those of scipy.stats::

    IndependentPrior(mu=stats.cauchy(0, 10), sigma=stats.halfnorm(scale=5))

A draw is the quantile of two uniform numbers, so that runs with one seed stay comparable.

    >>> SemiConjugatePrior().sample(np.random.default_rng(1), 2).round(2)
    array([[   2.96,    4.44],
           [-106.18,    4.36]])
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from explorer.engine.compute.arguments import finite, positive
from explorer.engine.compute.uniform import open_uniform

_HALF_LOG_2PI = 0.5 * np.log(2 * np.pi)
#: Where two distributions of one name are compared.
_PROBES = np.array([0.0, 0.01, 0.3, 0.5, 0.9, 1.0])
#: Beyond these, sigma and its square leave the range of floating-point numbers.
SMALLEST_SIGMA, LARGEST_SIGMA = 1e-100, 1e100
#: What a box may leave out on each side, unless answers by the thousand speak for it.
_OUTSIDE = 1e-300
#: The distributions of scipy.stats that a file may name: a closed list, because scipy.stats has other names as well.
_NAMES = """
    arcsine beta betaprime burr burr12 cauchy chi chi2 dgamma dweibull erlang expon exponnorm exponweib f fisk
    foldcauchy foldnorm gamma genextreme gengamma genlogistic gennorm genpareto gumbel_l gumbel_r halfcauchy
    halfgennorm halflogistic halfnorm hypsecant invgamma invgauss invweibull johnsonsb johnsonsu laplace
    laplace_asymmetric levy levy_l loggamma logistic loglaplace lognorm loguniform lomax maxwell mielke moyal
    nakagami norm pareto powerlaw powerlognorm rayleigh reciprocal rice skewnorm t trapezoid triang truncexpon
    truncnorm truncpareto uniform wald weibull_max weibull_min
"""
_DISTRIBUTIONS = frozenset(_NAMES.split())


class Box(NamedTuple):
    """Ranges that hold all that can matter of a prior."""

    mu: tuple[float, float]
    sigma: tuple[float, float]


class Prior:
    """Base class: a subclass gives ``log_density`` and ``quantile``, for each parameter alone."""

    @property
    def description(self) -> dict | None:
        """What ``described_prior`` takes to make it again; None if it cannot be told in words and numbers."""
        return None

    def log_density(self, mu, sigma) -> np.ndarray:
        """The logarithm of the density in (mu, sigma), normalised."""
        raise NotImplementedError

    def quantile(self, mu_uniform, sigma_uniform) -> tuple[np.ndarray, np.ndarray]:
        """The values of mu and of sigma below which these fractions of the prior lie."""
        raise NotImplementedError

    def sample(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Draws of (mu, sigma), shape (size, 2)."""
        uniform = open_uniform(rng, (size, 2))
        mu, sigma = self.quantile(uniform[:, 0], uniform[:, 1])
        return np.stack([mu, np.clip(sigma, SMALLEST_SIGMA, LARGEST_SIGMA)], axis=1)

    def jumps(self) -> tuple[np.ndarray, np.ndarray]:
        """Places of mu and of sigma between which the density is smooth, if it jumps anywhere."""
        return np.empty(0), np.empty(0)

    def box(self) -> Box:
        # From the far end the smallest uniform number that differs from 1 is 1 - 2**-53: reach out as far again.
        near, far = 1e-15, 1 - 1e-15
        middle = self.quantile(0.5, 0.5)
        (low_mu, low_sigma), (high_mu, high_sigma) = self.quantile(near, near), self.quantile(far, far)
        mu = (middle[0] + 5 * (low_mu - middle[0]), middle[0] + 5 * (high_mu - middle[0]))
        sigma = (low_sigma / 10, high_sigma * 1e6)
        return Box(
            (float(mu[0]), float(mu[1])),
            (float(max(sigma[0], SMALLEST_SIGMA)), float(min(sigma[1], LARGEST_SIGMA))),
        )


class SemiConjugatePrior(Prior):
    """mu ~ N(mean, variance) and, independently, sigma^2 ~ IG(shape, scale)."""

    def __init__(self, mean: float = 0.0, variance: float = 1e4, shape: float = 1.0, scale: float = 1.0) -> None:
        self.mean = finite("mean", mean)
        self.variance = positive("variance", variance)
        self.shape = positive("shape", shape)
        self.scale = positive("scale", scale)
        # An inverse gamma distribution with a tiny shape goes beyond all numbers: it ends at the largest sigma.
        self._within = float(special.gammaincc(self.shape, self.scale / LARGEST_SIGMA**2))
        if self._within < 0.9:
            raise ValueError(f"shape must be larger, got {shape!r}: sigma would mostly be beyond {LARGEST_SIGMA:g}")

    @classmethod
    def expecting(cls, low: float, high: float) -> "SemiConjugatePrior":
        """For a rough guess, made without looking at any data: most values lie between ``low`` and ``high``.

        mu is around their middle, give or take ten times their distance; sigma is as likely below a quarter of that
        distance as above, with a tail so heavy that a guess that is wrong by a factor of ten is forgiven.
        """
        low, high = finite("low", low), finite("high", high)
        if not low < high:
            raise ValueError(f"low must be below high, got {low:g} and {high:g}")
        if max(abs(low), abs(high)) > 1e100:
            raise ValueError(f"low and high must be between -1e+100 and 1e+100, got {low:g} and {high:g}")
        if high - low < 1e-100:
            raise ValueError(f"low and high must be at least 1e-100 apart, got {low:g} and {high:g}")
        shape = 0.5
        scale = float(special.gammainccinv(shape, 0.5)) * ((high - low) / 4) ** 2
        return cls((low + high) / 2, (10 * (high - low)) ** 2, shape, scale)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value:g}" for name, value in self._parameters.items())
        return f"SemiConjugatePrior({arguments})"

    def __eq__(self, other) -> bool:
        return isinstance(other, SemiConjugatePrior) and self._parameters == other._parameters

    __hash__ = None

    @property
    def _parameters(self) -> dict[str, float]:
        return {"mean": self.mean, "variance": self.variance, "shape": self.shape, "scale": self.scale}

    @property
    def description(self):
        if type(self) is not SemiConjugatePrior:  # a subclass may differ in anything
            return None
        return {"name": "semi_conjugate"} | self._parameters

    def log_density(self, mu, sigma):
        z = (mu - self.mean) / np.sqrt(self.variance)
        log_sigma = np.log(sigma)
        of_mu = -0.5 * z * z - 0.5 * np.log(self.variance) - _HALF_LOG_2PI
        # The density of sigma^2 is IG's; that of sigma carries the Jacobian 2 sigma.
        constant = self.shape * np.log(self.scale) - special.gammaln(self.shape) + np.log(2) - np.log(self._within)
        return of_mu + constant - (2 * self.shape + 1) * log_sigma - self.scale * np.exp(-2 * log_sigma)

    def quantile(self, mu_uniform, sigma_uniform):
        mu = self.mean + np.sqrt(self.variance) * special.ndtri(mu_uniform)
        return mu, np.sqrt(self.scale / special.gammainccinv(self.shape, self._within * np.asarray(sigma_uniform)))

    def box(self):
        width = -special.ndtri(_OUTSIDE) * np.sqrt(self.variance)
        low = np.sqrt(self.scale / special.gammainccinv(self.shape, _OUTSIDE))
        return Box((self.mean - width, self.mean + width), (float(max(low, SMALLEST_SIGMA)), LARGEST_SIGMA))


class IndependentPrior(Prior):
    """Any two distributions that have ``logpdf`` and ``ppf``; that of sigma must live above 0."""

    def __init__(self, mu, sigma) -> None:
        for name, distribution in (("mu", mu), ("sigma", sigma)):
            if not (callable(getattr(distribution, "logpdf", None)) and callable(getattr(distribution, "ppf", None))):
                raise ValueError(f"{name} must be a distribution with logpdf and ppf, got {distribution!r}")
        if not float(sigma.ppf(1e-12)) >= 0:
            raise ValueError(f"sigma must have a distribution on positive numbers, got {sigma!r}")
        self.mu, self.sigma = mu, sigma

    def __repr__(self) -> str:
        return f"IndependentPrior(mu={_text(self.mu)}, sigma={_text(self.sigma)})"

    def jumps(self):
        return _jumps(self.mu, -np.inf), _jumps(self.sigma, 0.0)

    @property
    def description(self):
        parts = {"mu": _description(self.mu), "sigma": _description(self.sigma)}
        if type(self) is not IndependentPrior or None in parts.values():
            return None
        return {"name": "independent"} | parts

    def log_density(self, mu, sigma):
        return self.mu.logpdf(mu) + self.sigma.logpdf(sigma)

    def quantile(self, mu_uniform, sigma_uniform):
        return self.mu.ppf(mu_uniform), self.sigma.ppf(sigma_uniform)


def _jumps(distribution, lowest: float) -> np.ndarray:
    """The ends of a distribution that ends before it has to, and quantiles between, as it may be narrow."""
    ends = np.asarray(distribution.ppf([0.0, 1.0]), dtype=float)
    if not (ends[0] > lowest or ends[1] < np.inf):
        return np.empty(0)
    cuts = np.append(ends, distribution.ppf([0.01, 0.25, 0.5, 0.75, 0.99]))
    return np.unique(cuts[np.isfinite(cuts) & (cuts > lowest)])


def described_prior(description: dict) -> Prior:
    """The prior of this ``description``. Raises ValueError for anything that is not a description."""
    try:
        arguments = dict(description)
        name = arguments.pop("name")
        if name == "semi_conjugate":
            return SemiConjugatePrior(**arguments)
        if name != "independent":
            raise ValueError(f"there is no prior {name!r}")
        return IndependentPrior(**{key: _distribution(**part) for key, part in arguments.items()})
    except (KeyError, TypeError) as error:
        raise ValueError(f"the description of the prior is damaged: {error}") from None


def _distribution(name: str, args: list, kwds: dict):
    """A frozen distribution of scipy.stats by its name, which is one of a closed list, and its parameters."""
    from scipy import stats

    if name not in _DISTRIBUTIONS or len(args) + len(kwds) > 6:
        raise ValueError(f"a prior cannot have the distribution {str(name)[:40]!r}")
    numbers = [finite("a parameter", value) for value in (*args, *kwds.values())]
    return getattr(stats, name)(*numbers[: len(args)], **dict(zip(kwds, numbers[len(args) :], strict=True)))


def _description(distribution) -> dict | None:
    """The name and the parameters of a distribution of scipy.stats; None if these do not tell all about it."""
    name = getattr(getattr(distribution, "dist", None), "name", None)
    if name not in _DISTRIBUTIONS:
        return None
    try:
        parameters = {
            "args": [float(value) for value in distribution.args],
            "kwds": {key: float(value) for key, value in distribution.kwds.items()},
        }
        again = _distribution(name, **parameters)
    except (TypeError, ValueError):  # an array for a parameter, for example
        return None
    # Somebody's own distribution may bear the name of one of SciPy's.
    same = type(again) is type(distribution) and type(again.dist) is type(distribution.dist)
    if not same or not np.array_equal(again.ppf(_PROBES), distribution.ppf(_PROBES), equal_nan=True):
        return None
    return {"name": name} | parameters


def _text(distribution) -> str:
    description = _description(distribution)
    if description is None:
        return repr(distribution)
    arguments = [f"{value:g}" for value in description["args"]]
    arguments += [f"{name}={value:g}" for name, value in description["kwds"].items()]
    return f"{description['name']}({', '.join(arguments)})"
