"""Mechanisms: what an individual with value ``x`` releases when asked for the interval ``[l, r]``.

Every mechanism clips ``x`` to ``[l, r]`` (or looks on which side of its midpoint ``x`` lies) and
randomises, so that any two values have answers whose likelihoods differ by at most ``e**epsilon``::

    mech = mechanism("laplace", epsilon=1.0)
    y = mech.release(x, Interval(l, r), rng)      # what the individual shares
    mech.density(y, x, Interval(l, r))            # how likely that answer was

A release is the conditional quantile of one uniform number. Two runs with the same seed and
slightly different settings therefore give slightly different answers, and can be compared.

    >>> from explorer.engine.mechanisms import mechanism
    >>> mech = mechanism("randomized_response", epsilon=1.0)
    >>> mech.release(2.5, Interval(-1, 1), np.random.default_rng(0))
    1.0
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite_array, generator, one_of, positive, probability, secret_array
from explorer.engine.compute.compiled import release_pointer
from explorer.engine.compute.registry import Parameter, Registry
from explorer.engine.compute.uniform import open_uniform
from explorer.engine.mechanisms import by_quadrature
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.population import Family

MECHANISMS = Registry("mechanism")
#: The decorator that makes a mechanism known everywhere.
register = MECHANISMS.register
#: Answers and intervals stay below this, and intervals are wider than its reciprocal.
LARGEST = 1e290
#: An interval is wider than this share of its distance from 0, so that there are numbers between its ends.
NARROWEST = 1e-13
#: No answer is so many scales of its noise away.
_FAR = 1e4
#: The delta of the Gaussian mechanism where the caller names none.
DEFAULT_DELTA = 1e-5
#: Kernels that multiply likelihoods, of which none is below e^-epsilon of the largest, serve up to this epsilon.
PRODUCTS_UP_TO = 200.0
#: An answer with a density this small never occurs, and adds nothing to an information.
NEVER = 1e-290
#: The ``block`` of a likelihood that is not vectorised.
COSTLY_BLOCK = 10_000


class Privacy(NamedTuple):
    """The (epsilon, delta) of Definition 1; delta is 0 for all but the Gaussian mechanism."""

    epsilon: float
    delta: float


class Mechanism:
    """Base class: a subclass names itself and gives ``_quantile``, ``_density`` and ``_support``.

    That is all that a mechanism of your own needs; it says where its density is not smooth in x (``kinks``) or, if it
    has only a few answers, which (``answers``). Likelihood and information then follow by quadrature. ``register``
    makes it known to the command line, the page, the planner, the audit and the studies.

    Everything else is for mechanisms that know more about themselves: compiled kernels (``evaluate``, ``total``,
    ``information``, ``log_release`` with its ``constants``), logarithms of their density, a secure draw, words.
    """

    name: ClassVar[str]
    #: The largest epsilon whose probabilities floating-point numbers can still hold.
    largest_epsilon: ClassVar[float] = 1e6
    #: What people call it.
    label: ClassVar[str] = ""
    #: What it takes beside epsilon.
    parameters: ClassVar[dict[str, Parameter]] = {}
    #: Whether likelihood and information are compiled; by quadrature they take a thousand times as long.
    compiled: ClassVar[bool] = False
    #: Whether it is epsilon-private, so that the likelihoods of an answer differ by at most e^epsilon.
    pure: ClassVar[bool] = True
    #: Whether the density is monotone, in the answer and in the clipped value, between the interval's ends, midpoint
    #: and ``jumps``: then the largest log-ratio is found there, and an audit can prove it.
    monotone: ClassVar[bool] = False
    #: Whether answers depend on the interval's midpoint alone.
    by_midpoint: ClassVar[bool] = False
    #: A best interval is searched for up to this epsilon.
    largest_searched: ClassVar[float] = math.inf
    #: The log-density of an answer given a value, as a plain function of (y, x, left, right, *constants) that is
    #: compiled; None if samplers with latent values cannot use this mechanism.
    log_release: ClassVar[Callable[..., float] | None] = None
    constants: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    #: All answers there are, if these are few numbers, whatever the interval.
    answers: ClassVar[tuple[float, ...] | None] = None

    def __init__(self, epsilon: float) -> None:
        self.epsilon = positive("epsilon", epsilon)
        if not 1e-6 <= self.epsilon <= self.largest_epsilon:
            limits = f"between 1e-06 and {self.largest_epsilon:g}"
            raise ValueError(f"epsilon must lie {limits} for the {self.name} mechanism, got {epsilon!r}")
        self.delta = 0.0

    def __repr__(self) -> str:
        delta = f", delta={self.delta:g}" if self.delta else ""
        return f"{type(self).__name__}(epsilon={self.epsilon:g}{delta})"

    @property
    def key(self) -> tuple:
        """Hashable identity, used as a cache key: the class and everything the mechanism holds."""
        held = sorted(vars(self).items())
        # What is computed on first use tells nothing more.
        given = ((name, value) for name, value in held if not _is_cached(getattr(type(self), name, None)))
        return type(self), tuple((name, _hashable(value)) for name, value in given)

    @property
    def description(self) -> dict | None:
        """What ``mechanism`` takes to make it again; None for a mechanism of somebody's own."""
        if MECHANISMS.get(self.name) is not type(self):
            return None
        return {"name": self.name, "epsilon": self.epsilon} | self.arguments

    @property
    def arguments(self) -> dict[str, float]:
        """What the mechanism takes beside its name and epsilon."""
        return {name: getattr(self, name) for name in self.parameters}

    def with_epsilon(self, epsilon: float) -> "Mechanism":
        """The same mechanism at another level of privacy."""
        return type(self)(epsilon, **self.arguments)

    def __eq__(self, other) -> bool:
        return isinstance(other, Mechanism) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def privacy(self) -> Privacy:
        """The privacy that one release gives."""
        return Privacy(self.epsilon, self.delta)

    @property
    def release_code(self) -> tuple:
        """What kernels with latent values take: the address of ``log_release``, and its constants."""
        return release_pointer(type(self).log_release), self.constants

    def release(self, x, interval: Interval, rng):
        """One private answer for each value: a float for a number, an array for an array.

        ``rng`` is a seeded generator, right for simulations: whoever knows the seed can take the noise away again, so
        it protects nobody. For real data it is ``explorer.secure``.
        """
        x, interval = secret_array("x", x), Interval.of(interval)
        self._check_room(interval)
        if callable(getattr(rng, "release", None)):  # explorer.secure, which draws in its own way
            y = rng.release(self, x, interval)
        else:
            y = self.answer(open_uniform(generator("rng", rng), x.shape), x, interval)
        return y if x.ndim else float(y)

    def _check_room(self, interval: Interval) -> None:
        """Raise ValueError if answers to this interval would leave the floating-point range."""
        farthest = max(abs(interval.left), abs(interval.right)) + _FAR * interval.width / min(self.epsilon, 1.0)
        narrowest = max(1 / LARGEST, NARROWEST * max(abs(interval.left), abs(interval.right)))
        if not (farthest < LARGEST and interval.width > narrowest):
            how = "narrow" if farthest < LARGEST else "wide or far from 0"
            raise ValueError(f"[{interval.left:g}, {interval.right:g}] is too {how} for answers by {self!r}")

    def answer(self, uniform, x, interval: Interval):
        """The answer below which a fraction ``uniform`` of the answers of an individual with value ``x`` fall."""
        return self._quantile(uniform, x, interval)

    def density(self, y, x, interval: Interval) -> np.ndarray:
        """Density (for a discrete answer: probability) of the answer ``y`` given the value ``x``."""
        return self._density(finite_array("y", y), finite_array("x", x), Interval.of(interval))

    def support(self, interval: Interval) -> tuple[float, float]:
        """The smallest and the largest answer that can occur."""
        return self._support(Interval.of(interval))

    def can_release(self, y, interval: Interval) -> np.ndarray | bool:
        """Whether ``y`` is an answer that this mechanism can give to ``interval``."""
        low, high = self.support(interval)
        if type(y) is float and self.answers is None:  # once for every answer of a run
            return math.isfinite(y) and low <= y <= high
        y = np.asarray(y, dtype=float)
        if self.answers is not None:
            return np.isin(y, self.answers)
        return np.isfinite(y) & (low <= y) & (y <= high)

    def kinks(self, y: np.ndarray, interval: Interval) -> np.ndarray:
        """Values x inside the interval where the density of each ``y`` jumps or bends, shape (answers, kinks)."""
        return np.empty((np.size(y), 0))

    def log_floor(self, interval: Interval) -> float:
        """Log of the smallest density of an answer over all values; -inf if there is none.

        Particles that are all at this floor carry no information.
        """
        return -math.inf

    def _quantile(self, u: np.ndarray, x: np.ndarray, interval: Interval) -> np.ndarray:
        """The answer below which a fraction ``u`` of the answers of an individual with value ``x`` fall."""
        raise NotImplementedError

    def _density(self, y: np.ndarray, x: np.ndarray, interval: Interval) -> np.ndarray:
        raise NotImplementedError

    def _support(self, interval: Interval) -> tuple[float, float]:
        return -math.inf, math.inf

    # What is known about the density.

    def log_density(self, y: np.ndarray, x: float, interval: Interval) -> np.ndarray | None:
        """The logarithm of the density but for a constant, to all digits; None if only the density is known."""
        return None

    def log_ratio(self, y: np.ndarray, x: float, other: float, interval: Interval) -> np.ndarray:
        """``log p(y|x) - log p(y|other)``: what an answer tells an attacker."""
        with np.errstate(divide="ignore"):
            return np.log(self.density(y, x, interval)) - np.log(self.density(y, other, interval))

    def jumps(self, x: np.ndarray, interval: Interval) -> np.ndarray:
        """Answers around which the densities given the values ``x`` jump; an audit looks there too."""
        return np.empty(0)

    def largest_log_ratio(self, y: float, interval: Interval) -> float:
        """How far the log-likelihoods of one answer under two parameters can lie apart."""
        return self.epsilon

    def turns(self, y: float, interval: Interval) -> tuple[float, float, float]:
        """(low, high, scale): the range of mu in which the likelihood of ``y`` varies as sigma → 0, and its scale."""
        return *interval, interval.width / 10

    def spread(self, width):
        """How closely an answer tells a value inside an interval of this width."""
        return np.full(np.shape(width), np.inf)

    def shown_range(self, interval: Interval) -> tuple[float, float]:
        """The answers that a picture shows: all that can occur, or all but the rarest."""
        low, high = self.support(interval)
        if math.isfinite(low) and math.isfinite(high):
            return low, high
        rare = self.answer(np.array([0.002, 0.998]), np.array(interval), interval)
        return float(rare[0]), float(rare[1])

    # What an estimator needs. The arrays are contiguous floats of one length, and known to be right.

    def evaluate(self, family: Family, y, left, right, mu, sigma) -> np.ndarray:
        """``(log p, dlog p/dmu, dlog p/dsigma)`` for each element, shape (length, 3)."""
        return by_quadrature.evaluate(family, self, y, left, right, mu, sigma)

    def total(self, family: Family, y, left, right, mu, sigma) -> np.ndarray:
        """The log-likelihood of all answers together, for each ``(mu[j], sigma[j])``."""
        return by_quadrature.total(family, self, y, left, right, mu, sigma)

    def stretches(self, family: Family) -> bool:
        """Whether simulations take many answers in one compiled go: ``run/stretch.py`` knows Laplace noise alone."""
        return False

    def block(self, family: Family) -> int:
        """How many answers times parameters ``total`` takes in some twenty milliseconds."""
        return COSTLY_BLOCK

    def information(self, family: Family, a, b, rough: bool = False) -> np.ndarray:
        """(mu,mu), (mu,sigma) and (sigma,sigma) of one answer to each ``[a, b]``, for mu = 0 and sigma = 1.

        ``rough`` is enough for a search: five digits by quadrature, and no difference for compiled mechanisms.
        """
        return by_quadrature.information(family, self, a, b, rough)

    def secure_draw(self, interval: Interval) -> Callable[[float], float]:
        """A function that draws an answer for a value from the operating system's randomness, safe in floating point.

        Raises ValueError if there is none, or if it could not keep the mechanism's privacy.
        """
        raise ValueError(f"there is no secure release for {self!r}")


def mechanism(name: "str | Mechanism", epsilon: float, delta: float = DEFAULT_DELTA, **parameters: float) -> Mechanism:
    """The mechanism of that name; ``delta`` is for those that have one, ``parameters`` are its own.

    A mechanism object is returned as it is, if it gives just that ``epsilon``.

    >>> from explorer.engine.mechanisms import mechanism
    >>> mechanism("gaussian", epsilon=1.0, delta=1e-6)
    GaussianMechanism(epsilon=1, delta=1e-06)
    """
    probability("delta", delta)
    if isinstance(name, Mechanism):
        if name.epsilon != positive("epsilon", epsilon):
            raise ValueError(f"epsilon must be that of the mechanism, {name.epsilon:g}, got {epsilon!r}")
        return name
    cls = MECHANISMS[one_of("mechanism", name, MECHANISMS)]
    unknown = set(parameters) - set(cls.parameters)
    if unknown:
        raise ValueError(f"mechanism {name!r} does not take {', '.join(sorted(unknown))}")
    given = {"delta": delta} | parameters
    return cls(epsilon, **{own: given[own] for own in cls.parameters if own in given})


def _is_cached(attribute) -> bool:
    return isinstance(attribute, cached_property)


def _hashable(value):
    """A parameter as a part of a key; for an object that cannot be compared, the object's own identity."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, list | tuple):
        return type(value), tuple(map(_hashable, value))
    if isinstance(value, dict):
        return dict, tuple((key, _hashable(item)) for key, item in value.items())
    try:
        hash(value)
    except TypeError:
        return type(value), id(value)
    return value
