"""The paper's mechanism: the clipped value plus Laplace noise."""

import math

import numpy as np

from explorer.engine.compute.compiled import call, kernel
from explorer.engine.compute.quadrature import NODES, RUNNING, WEIGHTS, cuts_between
from explorer.engine.mechanisms.additive import LAPLACE, AdditiveMechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.mechanism import NEVER, PRODUCTS_UP_TO, register
from explorer.engine.mechanisms.normal_laplace import normal_laplace_total
from explorer.engine.mechanisms.opendp_noise import opendp_laplace

_SIZE = NODES.size


@register
class LaplaceMechanism(AdditiveMechanism):
    """The paper's eq. (10): the clipped value plus Laplace noise of *scale* ``(r - l)/epsilon``.

    The noise's standard deviation is ``sqrt(2)`` times that scale.
    """

    name = "laplace"
    label = "Laplace noise (the paper's)"
    noise_kind = LAPLACE

    @property
    def rate(self):
        return self.epsilon

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

    def log_density(self, y, x, interval):
        distance = np.abs(y - interval.clip(x))
        return np.where(distance == 0, 0.0, -distance / self.scale(interval))

    def log_ratio(self, y, x, other, interval):
        first, second = (np.abs(y - interval.clip(value)) for value in (x, other))
        return (second - first) / self.scale(interval)

    @staticmethod
    def log_release(y, x, left, right, epsilon, c1, c2, c3):
        rate = epsilon / (right - left)
        return math.log(rate) - math.log(2.0) - abs(rate * (y - min(max(x, left), right)))

    def stretches(self, family):
        return type(self) is LaplaceMechanism and self._has_closed_form(family)  # a subclass may add other noise

    def _has_closed_form(self, family) -> bool:
        return family.normal and self.epsilon <= PRODUCTS_UP_TO

    def total(self, family, y, left, right, mu, sigma):
        if self._has_closed_form(family):
            return normal_laplace_total(y, left, right, mu, sigma, self.epsilon)
        return super().total(family, y, left, right, mu, sigma)

    def block(self, family):
        return 250_000 if self._has_closed_form(family) else super().block(family)

    def information(self, family, a, b, rough=False):
        return _information(*family.code, self.epsilon, a, b)

    def secure_draw(self, interval):
        return opendp_laplace(self, interval)


@kernel
def _information(logpdf, logcdf, logsf, slope, shape, norm, edges, epsilon, a, b):
    """The paper's mechanism: one-sided integrals run along the nodes in [a, b]; outside, the score is constant."""
    out = np.zeros((a.size, 3))
    for i in range(a.size):
        width = b[i] - a[i]
        scale = width / epsilon
        below, above = math.exp(call(logcdf, a[i], shape, norm)), math.exp(call(logsf, b[i], shape, norm))
        cuts = cuts_between(edges, 2.0, a[i], width, 3 * scale)
        count = cuts.size - 1
        g = np.empty((count, _SIZE))
        left, left_z = np.empty((count, _SIZE)), np.empty((count, _SIZE))

        # left(y) = int_a^y g(x) e^{-(y-x)/scale} dx, left_z the same with x g(x); from piece to piece.
        carry, carry_z = 0.0, 0.0
        for piece in range(count):
            half = 0.5 * (cuts[piece + 1] - cuts[piece])
            rise, rise_z = np.empty(_SIZE), np.empty(_SIZE)
            for n in range(_SIZE):
                z = a[i] + cuts[piece] + half * (1 + NODES[n])
                g[piece, n] = half * math.exp(call(logpdf, z, shape, norm))
                rise[n] = g[piece, n] * math.exp(half * (1 + NODES[n]) / scale)
                rise_z[n] = rise[n] * z
            last, last_z = carry, carry_z
            for n in range(_SIZE):
                total, total_z = carry, carry_z
                for m in range(_SIZE):
                    total += RUNNING[n, m] * rise[m]
                    total_z += RUNNING[n, m] * rise_z[m]
                decay = math.exp(-half * (1 + NODES[n]) / scale)
                left[piece, n], left_z[piece, n] = decay * total, decay * total_z
                last += WEIGHTS[n] * rise[n]
                last_z += WEIGHTS[n] * rise_z[n]
            decay = math.exp(-2 * half / scale)
            carry, carry_z = decay * last, decay * last_z

        # All answers above b: mass scale * p(b), and the score of y = b.
        far = math.exp(-epsilon)
        p = below * far + above + carry
        weight = 0.5 / p if p > NEVER else 0.0
        uu, uv, vv = weight * carry * carry, weight * carry * carry_z, weight * carry_z * carry_z

        # Back from b to a with right(y) = int_y^b g(x) e^{-(x-y)/scale} dx; now the answer's score is known.
        carry, carry_z = 0.0, 0.0
        for piece in range(count - 1, -1, -1):
            half = 0.5 * (cuts[piece + 1] - cuts[piece])
            rise, rise_z = np.empty(_SIZE), np.empty(_SIZE)
            for n in range(_SIZE):
                z = a[i] + cuts[piece] + half * (1 + NODES[n])
                rise[n] = g[piece, n] * math.exp(half * (1 - NODES[n]) / scale)
                rise_z[n] = rise[n] * z
            last, last_z = carry, carry_z
            for n in range(_SIZE):
                total, total_z = carry, carry_z
                for m in range(_SIZE):
                    total += (WEIGHTS[m] - RUNNING[n, m]) * rise[m]
                    total_z += (WEIGHTS[m] - RUNNING[n, m]) * rise_z[m]
                decay = math.exp(-half * (1 - NODES[n]) / scale)
                y = cuts[piece] + half * (1 + NODES[n])  # from a
                p = below * math.exp(-y / scale) + above * math.exp((y - width) / scale)
                p += left[piece, n] + decay * total
                by_mu, by_sigma = left[piece, n] - decay * total, left_z[piece, n] - decay * total_z
                weight = 0.5 * half * WEIGHTS[n] / (scale * p) if p > NEVER else 0.0
                uu += weight * by_mu * by_mu
                uv += weight * by_mu * by_sigma
                vv += weight * by_sigma * by_sigma
                last += WEIGHTS[n] * rise[n]
                last_z += WEIGHTS[n] * rise_z[n]
            decay = math.exp(-2 * half / scale)
            carry, carry_z = decay * last, decay * last_z

        # All answers below a.
        p = below + above * far + carry
        weight = 0.5 / p if p > NEVER else 0.0
        square = scale * scale
        out[i, 0] = (uu + weight * carry * carry) / square
        out[i, 1] = (uv + weight * carry * carry_z) / square
        out[i, 2] = (vv + weight * carry_z * carry_z) / square
    return out
