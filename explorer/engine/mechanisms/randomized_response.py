"""One yes-or-no question, answered truly with the odds e^epsilon: Warner's randomised response."""

import math
import secrets

import numpy as np
from scipy import special

from explorer.engine.compute.compiled import call, kernel
from explorer.engine.compute.exact_odds import UNIT, odds
from explorer.engine.mechanisms.mechanism import PRODUCTS_UP_TO, Mechanism, register
from explorer.engine.mechanisms.window import add_square, normal_windows_total


@register
class RandomizedResponse(Mechanism):
    """Is ``x`` at or above the interval's midpoint? +1 or -1, told truly with probability ``e^eps/(1+e^eps)``."""

    name = "randomized_response"
    label = "Randomised response (yes or no)"
    compiled = True
    monotone = True
    by_midpoint = True
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
    def constants(self):
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

    def log_density(self, y, x, interval):
        agrees = (y > 0) == (x >= interval.midpoint)
        return special.log_expit(np.where(agrees, self.epsilon, -self.epsilon))

    @staticmethod
    def log_release(y, x, left, right, wrong, gain, c2, c3):
        middle = left + 0.5 * (right - left)
        return math.log(wrong + gain if (y > 0) == (x >= middle) else wrong)

    def evaluate(self, family, y, left, right, mu, sigma):
        return _evaluate(*family.code, self.constants, y, left, right, mu, sigma)

    def total(self, family, y, left, right, mu, sigma):
        if not (family.normal and self.epsilon <= PRODUCTS_UP_TO):
            return _total(*family.code, self.constants, y, left, right, mu, sigma)
        if not np.all(np.abs(y) == 1):
            return np.full(mu.size, -np.inf)
        middle, constant = left + 0.5 * (right - left), y.size * math.log(self.lie)
        return normal_windows_total(-y, middle, np.zeros(y.size), mu, sigma, self.epsilon) + constant

    def block(self, family):
        return 50_000

    def information(self, family, a, b, rough=False):
        return _information(*family.code, self.constants, a, b)

    def turns(self, y, interval):
        return interval.midpoint, interval.midpoint, 0.0

    def secure_draw(self, interval):
        truly = odds(self.epsilon)

        def draw(value: float) -> float:
            side = 1.0 if value >= interval.midpoint else -1.0
            return side if secrets.randbelow(truly + UNIT) < truly else -side

        return draw


@kernel
def _point(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, left, right, mu, sigma):
    if abs(y) != 1:
        return -math.inf, 0.0, 0.0
    wrong, gain = constants[0], constants[1]
    z = (left + 0.5 * (right - left) - mu) / sigma
    agree = math.exp(call(logsf, z, shape, norm) if y > 0 else call(logcdf, z, shape, norm))
    p = wrong + gain * agree
    by_mu = y * gain * math.exp(call(logpdf, z, shape, norm)) / (p * sigma)
    return math.log(p), by_mu, by_mu * z


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
    """Randomised response: a sum over the two answers."""
    out = np.zeros((a.size, 3))
    for i in range(a.size):
        for y in (-1.0, 1.0):
            log_p, by_mu, by_sigma = _point(
                logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, a[i], b[i], 0.0, 1.0
            )
            add_square(out[i], math.exp(log_p), by_mu, by_sigma)
    return out
