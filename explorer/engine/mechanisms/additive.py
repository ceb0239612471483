"""Additive noise: the clipped value plus noise whose scale is a fixed share of the interval's width.

The likelihood of one answer ``y`` to one interval ``[l, r]`` and one ``(mu, sigma)`` marginalises the clipped value: an
atom at ``l``, an atom at ``r`` and the family's density between them; no latent ``x`` is left. All sums are kept as
``exp(top) * sum`` with ``top`` the largest logarithm seen, so nothing over- or underflows.

For noise with kernel ``k(y - x)`` the derivatives are moved from the family onto the noise,
``dp/dmu = int_l^r f(x) dk/dx dx`` and ``dp/dsigma = int_l^r f(x) (x-mu)/sigma dk/dx dx``: the atoms' own derivatives
cancel against the boundary terms of that integration by parts.

In the kernels, ``z = (x - mu)/sigma`` is the base variable, ``alpha``/``beta`` are the interval's ends in it, and
positions inside the interval are offsets ``v = (x - l)/sigma``, which keeps full precision in an interval that is
narrow and far from the origin.
"""

import math

import numpy as np

from explorer.engine.compute.compiled import call, kernel
from explorer.engine.compute.quadrature import FEW_NODES, FEW_WEIGHTS, NODES, RUN, WEIGHTS
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.mechanism import Mechanism

#: The two kinds of noise that the kernels know.
LAPLACE, GAUSSIAN = 0, 1
#: A piece this many e-folds below the rest cannot be seen in double precision.
_NEGLIGIBLE = 60.0
#: log of the steepest slope that a log-density of ours can have where it matters.
_STEEP = 40.0
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


class AdditiveMechanism(Mechanism):
    """Base class: a subclass gives its ``noise_kind`` and its ``rate``, the interval's width over the noise's scale."""

    compiled = True
    monotone = True
    noise_kind: int
    #: Above, the noise is so narrow that a search takes minutes, and has nothing to find.
    largest_searched = 300.0

    @property
    def rate(self) -> float:
        raise NotImplementedError

    @property
    def constants(self):
        return self.rate, 0.0, 0.0, 0.0

    def scale(self, interval: Interval) -> float:
        """The scale of the noise."""
        raise NotImplementedError

    def evaluate(self, family, y, left, right, mu, sigma):
        return _evaluate(*family.code, self.noise_kind, self.constants, y, left, right, mu, sigma)

    def total(self, family, y, left, right, mu, sigma):
        return _total(*family.code, self.noise_kind, self.constants, y, left, right, mu, sigma)

    def turns(self, y, interval):
        return *interval, self.scale(interval)

    def spread(self, width):
        return width / self.rate

    def shown_range(self, interval):
        reach = 4 * self.scale(interval)
        return interval.left - reach, interval.right + reach


@kernel
def _log_noise(kind, rate, distance):
    # log k, up to its normalising constant; ``rate`` is 1/scale of the noise in base units
    t = rate * distance
    return -abs(t) if kind == LAPLACE else -0.5 * t * t


@kernel
def _noise_slope(kind, rate, distance):
    # d log k / dz at z = gamma - distance
    if kind == LAPLACE:
        return rate if distance > 0 else -rate
    return rate * rate * distance


@kernel
def _point(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
    width = (right - left) / sigma
    rate = constants[0] / width  # the noise's scale is a fixed fraction of the interval's width
    alpha, beta = (left - mu) / sigma, (right - mu) / sigma
    answer = (y - left) / sigma  # where y lies, as an offset
    beyond = (y - right) / sigma

    # The two atoms: everybody below l, everybody above r.
    noise_left, noise_right = _log_noise(kind, rate, answer), _log_noise(kind, rate, beyond)
    if noise_left == noise_right == -math.inf:  # an answer so far away that not even its logarithm is a number
        return -math.inf, 0.0, 0.0
    at_left = call(logcdf, alpha, shape, norm) + noise_left
    at_right = call(logsf, beta, shape, norm) + noise_right
    top = max(at_left, at_right)
    total, by_mu, by_sigma = math.exp(at_left - top) + math.exp(at_right - top), 0.0, 0.0

    # How much there is at least: the integrand near the density's centre or near y, less what a steep slope may cost.
    near_centre, near_answer = min(max(-alpha, 0.0), width), min(max(answer, 0.0), width)
    floor = max(
        call(logpdf, alpha + near_centre, shape, norm) + _log_noise(kind, rate, answer - near_centre),
        call(logpdf, alpha + near_answer, shape, norm) + _log_noise(kind, rate, answer - near_answer),
    )
    floor += math.log(min(width, 1.0)) - _STEEP

    # Between the atoms: panel by panel, cut at y, where the noise turns (and Laplace noise has its kink), and
    # halved until the log of the integrand runs no further than the nodes follow, or cannot be seen at all.
    start, panel = 0.0, np.searchsorted(edges, alpha, side="right")
    log_g, log_k = call(logpdf, alpha, shape, norm), _log_noise(kind, rate, answer)
    while start < width:
        stop, panel_width = width, 1.0
        if panel < edges.size:
            stop = min(width, edges[panel] - alpha)
            panel_width = edges[panel] - edges[max(panel - 1, 0)]
        if stop <= start:
            panel += 1
            continue
        if start < answer < stop:
            stop = answer
        while True:
            next_g, next_k = call(logpdf, alpha + stop, shape, norm), _log_noise(kind, rate, answer - stop)
            run = abs(next_g - log_g) + abs(next_k - log_k)
            # Neither factor turns inside a piece, but for the gentle top of the density.
            highest = max(log_g, next_g) + max(log_k, next_k)
            negligible = highest + math.log(stop - start) < max(top, floor) - _NEGLIGIBLE
            if negligible or run <= RUN or stop - start < 1e-14 * width:
                break
            stop = start + 0.5 * (stop - start)

        if not negligible:
            half = 0.5 * (stop - start)
            centre = start + half
            # Few nodes are enough on a small part of a panel over which nothing happens.
            few = run < 2.0 and 2 * half < 0.25 * panel_width
            mass, change, moment = 0.0, 0.0, 0.0
            for i in range(FEW_NODES.size if few else NODES.size):
                v = centre + half * (FEW_NODES[i] if few else NODES[i])
                z = alpha + v
                value = math.exp(call(logpdf, z, shape, norm) + _log_noise(kind, rate, answer - v) - highest)
                value *= FEW_WEIGHTS[i] if few else WEIGHTS[i]
                turned = value * _noise_slope(kind, rate, answer - v)
                mass += value
                change += turned
                moment += turned * z
            if highest > top:
                shrink = math.exp(top - highest)
                total, by_mu, by_sigma = total * shrink, by_mu * shrink, by_sigma * shrink
                top = highest
            half_scaled = half * math.exp(highest - top)
            total += half_scaled * mass
            by_mu += half_scaled * change
            by_sigma += half_scaled * moment
        start, log_g, log_k = stop, next_g, next_k

    normaliser = math.log(constants[0] / (right - left))
    normaliser -= math.log(2.0) if kind == LAPLACE else HALF_LOG_2PI
    return top + math.log(total) + normaliser, by_mu / (total * sigma), by_sigma / (total * sigma)


@kernel
def _evaluate(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
    """The likelihood and its score for each element of five arrays of one length; the result has shape (length, 3)."""
    out = np.empty((y.size, 3))
    for i in range(y.size):
        out[i, 0], out[i, 1], out[i, 2] = _point(
            logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y[i], left[i], right[i], mu[i], sigma[i]
        )
    return out


@kernel
def _total(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
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
                kind,
                constants,
                y[t],
                left[t],
                right[t],
                mu[j],
                sigma[j],
            )[0]
    return out
