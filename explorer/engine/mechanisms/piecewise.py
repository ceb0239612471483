"""The Piecewise mechanism: an answer near the clipped value, told e^epsilon times as often as any other."""

import math
import secrets

import numpy as np

from explorer.engine.compute.compiled import call, kernel
from explorer.engine.compute.exact_odds import UNIT, odds
from explorer.engine.compute.quadrature import NODES, WEIGHTS, cuts_between
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.mechanism import NEVER, PRODUCTS_UP_TO, Mechanism, register
from explorer.engine.mechanisms.window import add_square, normal_windows_total, window_mass

_SIZE = NODES.size
#: A secure answer is one of so many equally wide cells.
_CELLS = 1 << 52


@register
class Piecewise(Mechanism):
    """Wang et al. (2019) on the clipped value: uniform on a window around it, and thinly outside.

    With ``t`` in [-1, 1] the clipped value and ``E = e^(eps/2)``, the answer lies in ``[-C, C]``,
    ``C = (E+1)/(E-1)``. It falls with probability ``E/(E+1)`` into the window of length ``C - 1``
    whose centre is ``t (C+1)/2``. All in units of half the interval's width, around its midpoint.
    """

    name = "piecewise"
    largest_epsilon = 500.0
    label = "Piecewise (a window around the value)"
    compiled = True
    monotone = True

    @property
    def constants(self):
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

    def log_density(self, y, x, interval):
        start, length = self._window(x, interval)
        v = (y - interval.midpoint) / (interval.width / 2)
        _, _, outside, rise = self.constants
        likely = (start <= v) & (v <= start + length)
        return np.where(self.can_release(y, interval), np.log1p(rise / outside) * likely, -np.inf)

    def jumps(self, x, interval):
        windows = [self._window(value, interval) for value in x]
        places = np.array([start + length * np.array([0.0, 0.5, 1.0]) for start, length in windows]).ravel()
        return interval.midpoint + interval.width / 2 * places

    @staticmethod
    def log_release(y, x, left, right, shrink, rest, outside, rise):
        half = 0.5 * (right - left)
        middle = left + half
        likely = abs(min(max(x, left), right) - middle - rest * (y - middle)) <= shrink * half
        return math.log((outside + rise if likely else outside) / half)

    def evaluate(self, family, y, left, right, mu, sigma):
        return _evaluate(*family.code, self.constants, y, left, right, mu, sigma)

    def total(self, family, y, left, right, mu, sigma):
        if family.normal and self.epsilon <= PRODUCTS_UP_TO:
            side, end, radius, constant = _windows(self.constants, y, left, right)
            return normal_windows_total(side, end, radius, mu, sigma, self.epsilon) + constant
        return _total(*family.code, self.constants, y, left, right, mu, sigma)

    def block(self, family):
        return 50_000

    def information(self, family, a, b, rough=False):
        return _information(*family.code, self.constants, a, b)

    def turns(self, y, interval):
        shrink, rest, *_ = self.constants
        centre, reach = interval.midpoint + rest * (y - interval.midpoint), shrink * interval.width / 2
        return centre - reach, centre + reach, reach

    def spread(self, width):
        return 0.5 * width * self.constants[0]

    def secure_draw(self, interval):
        inside = odds(self.epsilon)
        # The share of the cells that a window takes: 1/(E + 1), E = e^(epsilon/2).
        window = min(max(round(_CELLS / (math.exp(self.epsilon / 2) + 1)), 1), _CELLS - 1)
        outside = (_CELLS - window) * UNIT
        reach = self.reach * interval.width / 2
        low, high = self.support(interval)

        def draw(value: float) -> float:
            t = (float(interval.clip(value)) - interval.midpoint) / (interval.width / 2)
            start = min(max(round((t + 1) / 2 * (_CELLS - window)), 0), _CELLS - window)
            ticket = secrets.randbelow(window * inside + outside)
            if ticket < window * inside:
                cell = start + ticket // inside
            else:
                cell = (ticket - window * inside) // UNIT
                cell += window if cell >= start else 0
            return min(max(interval.midpoint + reach * (2 * (cell + 0.5) / _CELLS - 1), low), high)

        return draw


@kernel
def _windows(constants, y, left, right):
    """The window of values that each answer speaks for, as ``normal_windows_total`` takes it, and the rest of log p."""
    shrink, rest, outside, _ = constants
    side, end, radius, constant = np.zeros(y.size), np.empty(y.size), np.zeros(y.size), 0.0
    for t in range(y.size):
        half = 0.5 * (right[t] - left[t])
        middle = left[t] + half
        reach = (1 + shrink) / rest * half
        possible = abs(y[t] - middle) <= reach * (1 + 1e-13)  # however the ends were rounded
        constant += math.log(outside / half)
        if y[t] <= left[t]:
            side[t], end[t] = 1.0, left[t] + rest * max(y[t] - middle + reach, 0.0)
        elif y[t] >= right[t]:
            side[t], end[t] = -1.0, right[t] - rest * max(middle + reach - y[t], 0.0)
        else:
            end[t], radius[t] = middle + rest * (y[t] - middle), shrink * half
        if not possible:
            constant = -math.inf
    return side, end, radius, constant


@kernel
def _point(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, left, right, mu, sigma):
    """Piecewise: ``outside + rise * P(the answer falls into the individual's window)``.

    The window of ``x`` covers ``y`` exactly when the clipped ``x`` lies within ``shrink`` half-widths
    of ``(1 - shrink)(y - midpoint)``. The atom at l belongs to it when y <= l, that at r when y >= r.
    """
    shrink, rest, outside, rise = constants
    half = 0.5 * (right - left)
    middle = left + half
    reach = (1 + shrink) / rest * half
    if abs(y - middle) > reach * (1 + 1e-13):  # the ends themselves are answers, however they were rounded
        return -math.inf, 0.0, 0.0
    radius = shrink * half / sigma
    # Below l only the window's upper end matters, above r only its lower one; each written so as not to cancel.
    if y <= left:
        high = (left - mu) / sigma + rest * max(y - middle + reach, 0.0) / sigma
        chance, g = math.exp(call(logcdf, high, shape, norm)), math.exp(call(logpdf, high, shape, norm))
        by_mu, by_sigma = -g, -g * high
    elif y >= right:
        low = (right - mu) / sigma - rest * max(middle + reach - y, 0.0) / sigma
        chance, g = math.exp(call(logsf, low, shape, norm)), math.exp(call(logpdf, low, shape, norm))
        by_mu, by_sigma = g, g * low
    else:
        centre = (rest * (y - middle) - (mu - middle)) / sigma
        chance, by_mu, by_sigma = window_mass(logpdf, logcdf, logsf, slope, shape, norm, edges, centre, radius)
    p = outside + rise * chance
    return math.log(p / half), rise * by_mu / (p * sigma), rise * by_sigma / (p * sigma)


@kernel
def _evaluate(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, left, right, mu, sigma):
    """The likelihood and its score for each element of five arrays of one length; the result has shape (length, 3)."""
    out = np.empty((y.size, 3))
    for i in range(y.size):
        out[i, 0], out[i, 1], out[i, 2] = _point(
            logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y[i], left[i], right[i], mu[i], sigma[i]
        )
    return out


@kernel
def _total(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, left, right, mu, sigma):
    """The log-likelihood of all answers together, for each parameter: shape (parameters,)."""
    out = np.zeros(mu.size)
    for t in range(y.size):
        for j in range(mu.size):
            out[j] += _point(
                logpdf,
                logcdf,
                logsf,
                slope,
                shape,
                norm,
                edges,
                constants,
                y[t],
                left[t],
                right[t],
                mu[j],
                sigma[j],
            )[0]
    return out


@kernel
def _information(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, a, b):
    """Piecewise: the answers below a, inside and above b.

    Below a the upper end of the window that covers the answer runs from a to a + 2 radius, above b its lower end
    from b - 2 radius to b. Inside, the whole window runs from a to b, and the integral is cut where either of its
    ends passes a panel's edge. An answer moves by 1/(1 - shrink) for each step of its window.
    """
    out = np.zeros((a.size, 3))
    shrink, rest, outside, rise = constants
    for i in range(a.size):
        half_width = 0.5 * (b[i] - a[i])
        radius, inner = shrink * half_width, rest * half_width
        scale = 1 / (rest * half_width)
        for section in range(3):
            if section == 0:
                cuts = cuts_between(edges, 2.0, a[i], 2 * radius, np.inf)
            elif section == 2:
                cuts = cuts_between(edges, 2.0, b[i] - 2 * radius, 2 * radius, np.inf)
            else:
                lower = cuts_between(edges, 2.0, a[i], 2 * inner, np.inf)
                upper = cuts_between(edges, 2.0, a[i] + 2 * radius, 2 * inner, np.inf)
                cuts = np.sort(np.concatenate((lower, upper)))
            for piece in range(cuts.size - 1):
                half = 0.5 * (cuts[piece + 1] - cuts[piece])
                if half <= 0:
                    continue
                for n in range(_SIZE):
                    offset = cuts[piece] + half * (1 + NODES[n])
                    if section == 0:
                        end = a[i] + offset
                        chance, g = math.exp(call(logcdf, end, shape, norm)), math.exp(call(logpdf, end, shape, norm))
                        by_mu, by_sigma = -g, -g * end
                    elif section == 2:
                        end = b[i] - 2 * radius + offset
                        chance, g = math.exp(call(logsf, end, shape, norm)), math.exp(call(logpdf, end, shape, norm))
                        by_mu, by_sigma = g, g * end
                    else:
                        centre = a[i] + radius + offset
                        chance, by_mu, by_sigma = window_mass(
                            logpdf, logcdf, logsf, slope, shape, norm, edges, centre, radius
                        )
                    # p/rise; the score is of moderate size even where p and its derivatives are not
                    total = outside / rise + chance
                    weight = scale * half * WEIGHTS[n] * (rise * total)
                    if total > NEVER:
                        add_square(out[i], weight, by_mu / total, by_sigma / total)
    return out
