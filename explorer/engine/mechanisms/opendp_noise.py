"""Noise drawn by OpenDP, on a grid so fine that the likelihoods here are right to rounding.

Textbook samplers leak through the low bits of their results (Mironov 2012). Each measurement is asked for the privacy
that it keeps before anything is drawn; where rounding takes a little of it, the scale is raised until it is enough.
"""

import math
from collections.abc import Callable

from explorer.engine.mechanisms.interval import Interval

#: A scale is raised by a rounding error at most so many times until OpenDP agrees that it is enough.
_NUDGES = 100


def opendp_laplace(mechanism, interval: Interval) -> Callable[[float], float]:
    """What draws the answer of the Laplace mechanism to ``interval`` for a value."""
    dp = _opendp()
    scale = mechanism.scale(interval)
    for _ in range(_NUDGES):
        measurement = dp.m.make_laplace(*_space(dp), scale=scale)
        if measurement.map(_widest(interval)) <= mechanism.epsilon:
            return lambda value: measurement(float(interval.clip(value)))
        scale = math.nextafter(scale, math.inf)
    raise _too_narrow(mechanism, interval)


def opendp_gaussian(mechanism, interval: Interval, delta_of: Callable[[float, float], float]) -> Callable:
    """The same for normal noise; ``delta_of(epsilon, noise_ratio)`` is its exact delta."""
    dp = _opendp()
    scale = mechanism.scale(interval)
    for _ in range(_NUDGES):
        measurement = dp.m.make_gaussian(*_space(dp), scale=scale)
        # OpenDP tells rho, of which its rounding is a part: as the ratio of noise to sensitivity that it amounts to.
        ratio = 1 / math.sqrt(2 * measurement.map(_widest(interval)))
        if delta_of(mechanism.epsilon, ratio) <= mechanism.delta:
            return lambda value: measurement(float(interval.clip(value)))
        scale *= 1 + 1e-9
    raise _too_narrow(mechanism, interval)


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
    """The largest that r - l can be, before it was rounded."""
    return math.nextafter(interval.width, math.inf)


def _too_narrow(mechanism, interval: Interval) -> ValueError:
    return ValueError(f"{mechanism!r} cannot be kept for [{interval.left:g}, {interval.right:g}]: it is too narrow")
