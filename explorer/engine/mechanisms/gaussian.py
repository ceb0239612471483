"""The clipped value plus normal noise: (epsilon, delta)-private, where the other mechanisms keep epsilon alone."""

import math
from typing import ClassVar

import numpy as np
import scipy  # loads scipy.optimize when first used
from scipy import special

from explorer.engine.compute.arguments import probability
from explorer.engine.compute.compiled import call, kernel
from explorer.engine.compute.quadrature import FEW_NODES, FEW_WEIGHTS, NODES, WEIGHTS, cuts_between
from explorer.engine.compute.registry import Parameter
from explorer.engine.compute.vector_math import exp_negative
from explorer.engine.mechanisms.additive import GAUSSIAN, HALF_LOG_2PI, AdditiveMechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.mechanism import DEFAULT_DELTA, NEVER, register
from explorer.engine.mechanisms.opendp_noise import opendp_gaussian

_SIZE = NODES.size
#: Normal noise is followed this many standard deviations beyond the interval.
_REACH = 7.5
#: So many standard deviations away, the bell of normal noise is below all numbers.
_END = 39.0


@register
class GaussianMechanism(AdditiveMechanism):
    """The clipped value plus normal noise, (epsilon, delta)-private by the exact calibration of Balle & Wang (2018)."""

    name = "gaussian"
    label = "Gaussian noise (ε, δ)"
    parameters: ClassVar = {"delta": Parameter(DEFAULT_DELTA, 0.0, 1.0, "δ", "δ: the chance that ε is exceeded.")}
    noise_kind = GAUSSIAN
    pure = False

    def __init__(self, epsilon: float, delta: float = DEFAULT_DELTA) -> None:
        super().__init__(epsilon)
        self.delta = probability("delta", delta)
        self.noise_ratio = _noise_ratio(self.epsilon, self.delta)

    @property
    def rate(self):
        return 1 / self.noise_ratio

    def scale(self, interval: Interval) -> float:
        """The standard deviation of the noise."""
        return interval.width * self.noise_ratio

    def _quantile(self, u, x, interval):
        return interval.clip(x) + self.scale(interval) * special.ndtri(u)

    def _density(self, y, x, interval):
        scale = self.scale(interval)
        z = (y - interval.clip(x)) / scale
        return np.exp(-0.5 * z * z) / (scale * math.sqrt(2 * math.pi))

    def log_density(self, y, x, interval):
        z = (y - interval.clip(x)) / self.scale(interval)
        return -0.5 * z * z

    def log_ratio(self, y, x, other, interval):
        first, second = (interval.clip(value) for value in (x, other))
        return ((y - second) ** 2 - (y - first) ** 2) / (2 * self.scale(interval) ** 2)

    @staticmethod
    def log_release(y, x, left, right, rate, c1, c2, c3):
        rate = rate / (right - left)
        t = rate * (y - min(max(x, left), right))
        return math.log(rate) - HALF_LOG_2PI + -0.5 * t * t

    def largest_log_ratio(self, y, interval):
        farthest = abs(y - interval.midpoint) + interval.width / 2
        nearest = max(farthest - interval.width, 0.0)
        return (farthest**2 - nearest**2) / (2 * self.scale(interval) ** 2)

    def information(self, family, a, b, rough=False):
        return _information(*family.code, 1 / self.noise_ratio, a, b)

    def secure_draw(self, interval):
        return opendp_gaussian(self, interval, gaussian_delta)


@kernel
def _information(logpdf, logcdf, logsf, slope, shape, norm, edges, inverse_ratio, a, b):
    """Normal noise: every node of the density adds to every node of the answers. All positions are offsets from a."""
    out = np.zeros((a.size, 3))
    for i in range(a.size):
        width = b[i] - a[i]
        scale = width / inverse_ratio
        cuts = cuts_between(edges, 1.0, a[i], width, 3 * scale)
        steps = _answer_steps(width, scale)
        size = (steps.size - 1) * _SIZE
        y, weight, outside = np.empty(size), np.empty(size), np.empty(size)
        for step in range(steps.size - 1):
            half = 0.5 * (steps[step + 1] - steps[step])
            for n in range(_SIZE):
                k = step * _SIZE + n
                y[k] = steps[step] + half * (1 + NODES[n])
                weight[k] = half * WEIGHTS[n]
                # exponents are taken relative to that of the end of [a, b] nearest to y
                distance = max(max(-y[k], y[k] - width), 0.0) / scale
                outside[k] = 0.5 * distance * distance
        p, by_mu, by_sigma = np.zeros(size), np.zeros(size), np.zeros(size)
        _add_atom(p, y, outside, 0.0, math.exp(call(logcdf, a[i], shape, norm)), scale)
        _add_atom(p, y, outside, width, math.exp(call(logsf, b[i], shape, norm)), scale)
        for piece in range(cuts.size - 1):
            half = 0.5 * (cuts[piece + 1] - cuts[piece])
            for n in range(_SIZE):
                x = cuts[piece] + half * (1 + NODES[n])
                z = a[i] + x
                g = half * WEIGHTS[n] * math.exp(call(logpdf, z, shape, norm))
                # Beyond, the bell is below all numbers. An answer outside is as near as the end next to it.
                first = np.searchsorted(y, x - _END * scale) if x > _END * scale else 0
                last = np.searchsorted(y, x + _END * scale) if x + _END * scale < width else size
                for k in range(first, last):
                    distance = (y[k] - x) / scale
                    value = g * exp_negative(outside[k] - 0.5 * distance * distance)
                    p[k] += value
                    by_mu[k] += value * distance
                    by_sigma[k] += value * distance * z
        constant = 1 / (scale * math.sqrt(2 * math.pi) * scale * scale)
        for k in range(size):
            if p[k] > NEVER:
                w = constant * weight[k] * math.exp(-outside[k]) / p[k]
                out[i, 0] += w * by_mu[k] * by_mu[k]
                out[i, 1] += w * by_mu[k] * by_sigma[k]
                out[i, 2] += w * by_sigma[k] * by_sigma[k]
    return out


@kernel
def _answer_steps(width, scale):
    """Where to cut the answers to [0, width] under normal noise.

    In y all is smooth on the noise's scale, but p has complex zeros next to the real line, where two parts of it are of
    the same size. Those of the two atoms are pi scale^2/width away. If the interval is so wide that nobody sees both,
    there are only those of an atom and of the values between: y/scale in place of width/scale, as far as one sees it.
    """
    reach, seen = _REACH * scale, _END * scale
    longest = scale * min(4.0, 6 * scale / (width if width <= 2 * seen else seen))
    if width <= 2 * seen:
        return np.linspace(-reach, width + reach, 1 + math.ceil((width + 2 * reach) / longest))
    pieces = math.ceil((reach + seen) / longest)
    return np.concatenate(
        (
            np.linspace(-reach, seen, 1 + pieces),
            np.linspace(seen, width - seen, 1 + math.ceil((width - 2 * seen) / (4 * scale)))[1:-1],
            np.linspace(width - seen, width + reach, 1 + pieces),
        )
    )


@kernel
def _add_atom(p, y, outside, x, mass, scale):
    for k in range(y.size):
        distance = (y[k] - x) / scale
        p[k] += mass * exp_negative(outside[k] - 0.5 * distance * distance)


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
