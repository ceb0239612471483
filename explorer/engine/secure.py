"""Noise for real answers: from the operating system's randomness, safe in floating point, and impossible to seed.

    y = ex.mechanism("laplace", epsilon=1.0).release(x, interval, ex.secure)

A seeded generator can be run again by whoever knows the seed, and textbook samplers leak through the low bits of their
results (Mironov 2012). So Laplace and Gaussian noise are drawn by OpenDP, on a grid so fine that the likelihoods here
are right to rounding. RandomizedResponse and Piecewise need no noise on the real line: their answers are drawn by exact
integer arithmetic, from a finite number of equally likely cells, with odds that are never above e^epsilon.

Each release checks the privacy that it gives before it draws, and nothing here falls back to anything else.
"""

import math
import secrets
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

import numpy as np

from explorer.engine.interval import Interval
from explorer.engine.mechanisms import (
    GaussianMechanism,
    LaplaceMechanism,
    Mechanism,
    Piecewise,
    RandomizedResponse,
    gaussian_delta,
)

#: Odds are a ratio of whole numbers: this one to the floor of e^epsilon times it.
_UNIT = 1 << 64
#: Piecewise answers with one of so many cells.
_CELLS = 1 << 52
_EXACT = Context(prec=120, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, capitals=1, clamp=0, traps=[])
#: A scale is raised by a rounding error at most so many times until OpenDP agrees that it is enough.
_NUDGES = 100


class Secure:
    """Stands where a generator would: ``release(x, interval, secure)``."""

    def __repr__(self) -> str:
        return "secure"

    def release(self, mechanism: Mechanism, x: np.ndarray, interval: Interval) -> np.ndarray:
        """One answer for each value, all of which are finite."""
        if isinstance(mechanism, LaplaceMechanism):
            draw = _laplace(mechanism, interval)
        elif isinstance(mechanism, GaussianMechanism):
            draw = _gaussian(mechanism, interval)
        elif isinstance(mechanism, RandomizedResponse):
            draw = _randomized_response(mechanism, interval)
        elif isinstance(mechanism, Piecewise):
            draw = _piecewise(mechanism, interval)
        else:
            raise ValueError(f"there is no secure release for {mechanism!r}")
        return np.array([draw(value) for value in x.ravel().tolist()], dtype=float).reshape(x.shape)


secure = Secure()


def _opendp():
    try:
        import opendp.prelude as dp
    except ImportError:
        raise ImportError("secure release of this mechanism needs OpenDP: pip install 'explorer[opendp]'") from None
    dp.enable_features("contrib")
    return dp


def _space(dp) -> tuple:
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def _widest(interval: Interval) -> float:
    """What r - l is at most, before it was rounded."""
    return math.nextafter(interval.width, math.inf)


def _laplace(mechanism: LaplaceMechanism, interval: Interval):
    dp = _opendp()
    scale = mechanism.scale(interval)
    for _ in range(_NUDGES):
        measurement = dp.m.make_laplace(*_space(dp), scale=scale)
        if measurement.map(_widest(interval)) <= mechanism.epsilon:
            return lambda value: measurement(float(interval.clip(value)))
        scale = math.nextafter(scale, math.inf)
    raise ValueError(f"{mechanism!r} cannot be kept for [{interval.left:g}, {interval.right:g}]: it is too narrow")


def _gaussian(mechanism: GaussianMechanism, interval: Interval):
    dp = _opendp()
    scale = mechanism.scale(interval)
    for _ in range(_NUDGES):
        measurement = dp.m.make_gaussian(*_space(dp), scale=scale)
        # OpenDP tells rho, of which its rounding is a part: as the ratio of noise to sensitivity that it amounts to.
        ratio = 1 / math.sqrt(2 * measurement.map(_widest(interval)))
        if gaussian_delta(mechanism.epsilon, ratio) <= mechanism.delta:
            return lambda value: measurement(float(interval.clip(value)))
        scale *= 1 + 1e-9
    raise ValueError(f"{mechanism!r} cannot be kept for [{interval.left:g}, {interval.right:g}]: it is too narrow")


@lru_cache(maxsize=64)
def odds(epsilon: float) -> int:
    """The largest whole number whose ratio to ``2**64`` is at most e^epsilon, or e^700 if that is less.

    Beyond that a lie has probability 1e-304 at most, and longer numbers would only take longer.
    """
    epsilon = min(epsilon, 700.0)
    # Every step in this context: the caller's own may have fewer digits, other limits, or traps.
    exact = _EXACT.multiply(_EXACT.exp(Decimal(epsilon)), Decimal(_UNIT))
    # 120 digits are correct: a hundred of them are more than enough to be sure of the floor.
    below = _EXACT.multiply(exact, _EXACT.subtract(Decimal(1), Decimal((0, (1,), -100))))
    floor = int(below.to_integral_value(ROUND_FLOOR, context=_EXACT))
    if _EXACT.ln(_EXACT.divide(Decimal(floor), Decimal(_UNIT))) > Decimal(epsilon):
        raise AssertionError(f"odds above e^{epsilon!r}")
    return floor


def _randomized_response(mechanism: RandomizedResponse, interval: Interval):
    truly = odds(mechanism.epsilon)

    def draw(value: float) -> float:
        side = 1.0 if value >= interval.midpoint else -1.0
        return side if secrets.randbelow(truly + _UNIT) < truly else -side

    return draw


def _piecewise(mechanism: Piecewise, interval: Interval):
    inside = odds(mechanism.epsilon)
    # The share of the cells that a window takes: 1/(E + 1), E = e^(epsilon/2).
    window = min(max(round(_CELLS / (math.exp(mechanism.epsilon / 2) + 1)), 1), _CELLS - 1)
    outside = (_CELLS - window) * _UNIT
    reach = mechanism.reach * interval.width / 2

    def draw(value: float) -> float:
        t = (float(interval.clip(value)) - interval.midpoint) / (interval.width / 2)
        start = min(max(round((t + 1) / 2 * (_CELLS - window)), 0), _CELLS - window)
        ticket = secrets.randbelow(window * inside + outside)
        if ticket < window * inside:
            cell = start + ticket // inside
        else:
            cell = (ticket - window * inside) // _UNIT
            cell += window if cell >= start else 0
        low, high = mechanism.support(interval)
        return min(max(interval.midpoint + reach * (2 * (cell + 0.5) / _CELLS - 1), low), high)

    return draw
