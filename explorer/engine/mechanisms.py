"""Mechanisms: what an individual with value ``x`` releases when asked for the interval ``[l, r]``.

Every mechanism clips ``x`` to ``[l, r]`` (or looks on which side of its midpoint ``x`` lies) and
randomises, so that any two values have answers whose likelihoods differ by at most ``e**epsilon``::

    mech = mechanism("laplace", epsilon=1.0)
    y = mech.release(x, Interval(l, r), rng)      # what the individual shares
    mech.density(y, x, Interval(l, r))            # how likely that answer was

A release is the conditional quantile of one uniform number. Two runs with the same seed and
slightly different settings therefore give slightly different answers, and can be compared.

    >>> mech = mechanism("randomized_response", epsilon=1.0)
    >>> mech.release(2.5, Interval(-1, 1), np.random.default_rng(0))
    1.0
"""

import math
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when first used
from scipy import special

from explorer.engine.arguments import finite_array, generator, one_of, positive, probability, secret_array
from explorer.engine.interval import Interval
from explorer.engine.kernels import GAUSSIAN, LAPLACE, OWN, PIECEWISE, RANDOMIZED_RESPONSE
from explorer.engine.quadrature import FEW_NODES, FEW_WEIGHTS
from explorer.engine.uniform import open_uniform

#: Answers and intervals stay below this, and intervals are wider than its reciprocal.
LARGEST = 1e290
#: An interval is wider than this share of its distance from 0, so that there are numbers between its ends.
NARROWEST = 1e-13
#: No answer is so many scales of its noise away.
_FAR = 1e4
#: The delta of the Gaussian mechanism where the caller names none.
DEFAULT_DELTA = 1e-5


class Privacy(NamedTuple):
    """The (epsilon, delta) of Definition 1; delta is 0 for all but the Gaussian mechanism."""

    epsilon: float
    delta: float


class Mechanism:
    """Base class: a subclass names itself and gives ``_quantile``, ``_density`` and ``_support``.

    That is all that a mechanism of your own needs; it says where its density is not smooth in x (``kinks``) or, if it
    has only a few answers, which (``answers``). The ones here also have compiled kernels: ``kind`` and ``constants``.
    """

    name: ClassVar[str]
    #: The largest epsilon whose probabilities floating-point numbers can still hold.
    largest_epsilon: ClassVar[float] = 1e6
    #: Which branch of the likelihood kernels computes this mechanism.
    kind: ClassVar[int] = OWN
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
        """What tells this mechanism from others, for caches: its class and all that it holds."""
        held = sorted(vars(self).items())
        # What is computed on first use tells nothing more.
        given = ((name, value) for name, value in held if not _is_cached(getattr(type(self), name, None)))
        return type(self), tuple((name, _hashable(value)) for name, value in given)

    @property
    def description(self) -> dict | None:
        """What ``mechanism`` takes to make it again; None for a mechanism of somebody's own."""
        if MECHANISMS.get(self.name) is not type(self):
            return None
        return {"name": self.name, "epsilon": self.epsilon} | ({"delta": self.delta} if self.delta else {})

    def __eq__(self, other) -> bool:
        return isinstance(other, Mechanism) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def privacy(self) -> Privacy:
        """The privacy that one release gives."""
        return Privacy(self.epsilon, self.delta)

    @property
    def code(self) -> tuple:
        """What kernels take: the branch and its constants."""
        return self.kind, self.constants

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
        """The log-density of every answer under all values that it does not speak for; -inf if there is no such floor.

        Where all parameters of a sampler are on it, they have nothing to go by.
        """
        return -math.inf

    def _quantile(self, u: np.ndarray, x: np.ndarray, interval: Interval) -> np.ndarray:
        """The answer below which a fraction ``u`` of the answers of an individual with value ``x`` fall."""
        raise NotImplementedError

    def _density(self, y: np.ndarray, x: np.ndarray, interval: Interval) -> np.ndarray:
        raise NotImplementedError

    def _support(self, interval: Interval) -> tuple[float, float]:
        return -math.inf, math.inf


class LaplaceMechanism(Mechanism):
    """The paper's eq. (10): the clipped value plus Laplace noise of *scale* ``(r - l)/epsilon``.

    The noise's standard deviation is ``sqrt(2)`` times that scale.
    """

    name = "laplace"
    kind = LAPLACE

    @property
    def constants(self) -> tuple[float, float, float, float]:
        return self.epsilon, 0.0, 0.0, 0.0

    def scale(self, interval: Interval) -> float:
        return interval.width / self.epsilon

    def noise(self, uniform):
        """The quantile of the noise, in units of its scale."""
        return -np.sign(uniform - 0.5) * np.log(2 * np.minimum(uniform, 1 - uniform))

    def _quantile(self, u, x, interval):
        return interval.clip(x) + self.scale(interval) * self.noise(u)

    def _density(self, y, x, interval):
        scale = self.scale(interval)
        return np.exp(-np.abs(y - interval.clip(x)) / scale) / (2 * scale)


class GaussianMechanism(Mechanism):
    """The clipped value plus normal noise, (epsilon, delta)-private by the exact calibration of Balle & Wang (2018)."""

    name = "gaussian"
    kind = GAUSSIAN

    def __init__(self, epsilon: float, delta: float = DEFAULT_DELTA) -> None:
        super().__init__(epsilon)
        self.delta = probability("delta", delta)
        self.noise_ratio = _noise_ratio(self.epsilon, self.delta)

    @property
    def constants(self) -> tuple[float, float, float, float]:
        return 1 / self.noise_ratio, 0.0, 0.0, 0.0

    def scale(self, interval: Interval) -> float:
        """The standard deviation of the noise."""
        return interval.width * self.noise_ratio

    def _quantile(self, u, x, interval):
        return interval.clip(x) + self.scale(interval) * special.ndtri(u)

    def _density(self, y, x, interval):
        scale = self.scale(interval)
        z = (y - interval.clip(x)) / scale
        return np.exp(-0.5 * z * z) / (scale * math.sqrt(2 * math.pi))


class RandomizedResponse(Mechanism):
    """Is ``x`` at or above the interval's midpoint? +1 or -1, told truly with probability ``e^eps/(1+e^eps)``."""

    name = "randomized_response"
    kind = RANDOMIZED_RESPONSE
    answers = (-1.0, 1.0)

    @property
    def truth(self) -> float:
        """The probability of a true answer."""
        return float(special.expit(self.epsilon))

    @property
    def lie(self) -> float:
        """The probability of the other answer, to all digits."""
        return float(special.expit(-self.epsilon))

    @property
    def constants(self) -> tuple[float, float, float, float]:
        return self.lie, math.tanh(self.epsilon / 2), 0.0, 0.0

    def log_floor(self, interval):
        return math.log(self.lie)

    def _quantile(self, u, x, interval):
        above = x >= interval.midpoint
        return np.where(u < np.where(above, self.lie, self.truth), -1.0, 1.0)

    def _density(self, y, x, interval):
        agrees = (y > 0) == (x >= interval.midpoint)
        return np.where(np.abs(y) == 1, np.where(agrees, self.truth, self.lie), 0.0)

    def _support(self, interval):
        return -1.0, 1.0


class Piecewise(Mechanism):
    """Wang et al. (2019) on the clipped value: uniform on a window around it, and thinly outside.

    With ``t`` in [-1, 1] the clipped value and ``E = e^(eps/2)``, the answer lies in ``[-C, C]``,
    ``C = (E+1)/(E-1)``. It falls with probability ``E/(E+1)`` into the window of length ``C - 1``
    whose centre is ``t (C+1)/2``. All in units of half the interval's width, around its midpoint.
    """

    name = "piecewise"
    largest_epsilon = 500.0
    kind = PIECEWISE

    @property
    def constants(self) -> tuple[float, float, float, float]:
        """``1/E``, ``1 - 1/E``, and the density outside the window and its rise inside, for unit half-width."""
        shrink, rest = math.exp(-self.epsilon / 2), -math.expm1(-self.epsilon / 2)
        inside = rest / (2 * shrink * (1 + shrink))
        return shrink, rest, inside * math.exp(-self.epsilon), inside * -math.expm1(-self.epsilon)

    def log_floor(self, interval):
        return math.log(self.constants[2] / (interval.width / 2))

    @property
    def reach(self) -> float:
        """``C``: how far answers go, in units of half the interval's width."""
        return 1 / math.tanh(self.epsilon / 4)

    def _window(self, x, interval: Interval) -> tuple[np.ndarray, float]:
        """Left end and length of the window of likely answers, in units of the half-width."""
        t = np.clip((interval.clip(x) - interval.midpoint) / (interval.width / 2), -1.0, 1.0)  # also after rounding
        length = 2 / math.expm1(self.epsilon / 2)  # C - 1
        return t * (1 + length / 2) - length / 2, length

    def _quantile(self, u, x, interval):
        start, length = self._window(x, interval)
        _, _, outside, rise = self.constants
        inside = outside + rise
        below = outside * (start + self.reach)  # probability left of the window
        within = below + inside * length
        v = np.where(
            u < below,
            -self.reach + u / outside,
            np.where(u < within, start + (u - below) / inside, self.reach - (1 - u) / outside),
        )
        low, high = self.support(interval)
        return np.clip(interval.midpoint + interval.width / 2 * v, low, high)

    def _density(self, y, x, interval):
        half = interval.width / 2
        v = (y - interval.midpoint) / half
        start, length = self._window(x, interval)
        _, _, outside, rise = self.constants
        likely = (start <= v) & (v <= start + length)
        return np.where(self.can_release(y, interval), (outside + rise * likely) / half, 0.0)

    def _support(self, interval):
        reach = interval.width / 2 * self.reach
        return interval.midpoint - reach, interval.midpoint + reach


MECHANISMS: dict[str, type[Mechanism]] = {
    cls.name: cls for cls in (LaplaceMechanism, GaussianMechanism, RandomizedResponse, Piecewise)
}


def mechanism(name: "str | Mechanism", epsilon: float, delta: float = DEFAULT_DELTA) -> Mechanism:
    """The mechanism of that name; ``delta`` is used by ``"gaussian"`` alone.

    A mechanism object is returned as it is, if it gives just that ``epsilon``.

    >>> mechanism("gaussian", epsilon=1.0, delta=1e-6)
    GaussianMechanism(epsilon=1, delta=1e-06)
    """
    probability("delta", delta)
    if isinstance(name, Mechanism):
        if name.epsilon != positive("epsilon", epsilon):
            raise ValueError(f"epsilon must be that of the mechanism, {name.epsilon:g}, got {epsilon!r}")
        return name
    cls = MECHANISMS[one_of("mechanism", name, MECHANISMS)]
    return cls(epsilon, delta) if cls is GaussianMechanism else cls(epsilon)


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


def gaussian_delta(epsilon: float, noise_ratio: float) -> float:
    """The exact delta of normal noise of ``noise_ratio`` times the sensitivity (Balle & Wang 2018, Theorem 8).

    With ``s = epsilon * noise_ratio`` and ``h = 1/(2 noise_ratio)`` it is ``Phi(h - s) - e^epsilon Phi(-h - s)``. As
    ``2 s h = epsilon``, both terms have the factor ``phi(s - h)``: what is left is a difference of Mills' ratios, which
    is known to seven digits at least, however small delta is.
    """
    half, shift = 0.5 / noise_ratio, epsilon * noise_ratio
    low, high = (shift - half) / math.sqrt(2), (shift + half) / math.sqrt(2)
    scale = 0.5 * math.exp(-low * low)
    if low < 0:
        return float(special.ndtr(half - shift) - scale * special.erfcx(high))
    if high - low > 0.1:
        return float(scale * (special.erfcx(low) - special.erfcx(high)))
    u = low + (high - low) * (1 + FEW_NODES) / 2  # where the difference would cancel: the integral of the slope
    slope = 2 / math.sqrt(math.pi) - 2 * u * special.erfcx(u)
    return float(scale * (high - low) / 2 * (FEW_WEIGHTS @ slope))


def _noise_ratio(epsilon: float, delta: float) -> float:
    """Standard deviation of the noise per unit of sensitivity, just large enough for (epsilon, delta)."""

    def excess(log_ratio: float) -> float:
        return gaussian_delta(epsilon, math.exp(log_ratio)) - delta * (1 - 1e-12)

    ratio = math.exp(scipy.optimize.brentq(excess, math.log(1e-6), math.log(1e20), xtol=1e-15, rtol=8.9e-16))
    # End on the private side of rounding: the smaller delta is, the faster it falls with the ratio, a thousand times
    # as fast where it is known to the fewest digits.
    return ratio * (1 + 1e-9)
