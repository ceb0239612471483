"""The compiled heart: one answer's log-likelihood and score, for any family and mechanism.

``point`` computes, for one answer ``y`` to one interval ``[l, r]`` and one ``(mu, sigma)``::

    log p(y | mu, sigma; l, r),   d/dmu log p,   d/dsigma log p

where ``p`` marginalises the clipped value: an atom at ``l``, an atom at ``r`` and the family's
density between them; no latent ``x`` is left. All sums are kept as ``exp(top) * sum`` with ``top``
the largest logarithm seen, so nothing over- or underflows.

For additive noise with kernel ``k(y - x)`` the derivatives are moved from the family onto the
noise, ``dp/dmu = int_l^r f(x) dk/dx dx`` and ``dp/dsigma = int_l^r f(x) (x-mu)/sigma dk/dx dx``:
the atoms' own derivatives cancel against the boundary terms of that integration by parts.

Below, ``z = (x - mu)/sigma`` is the base variable, ``alpha``/``beta`` are the interval's ends in it,
and positions inside the interval are offsets ``v = (x - l)/sigma``, which keeps full precision in
an interval that is narrow and far from the origin.
"""

import math

import numpy as np

from explorer.engine.compiled import call, kernel
from explorer.engine.quadrature import FEW_NODES, FEW_WEIGHTS, NODES, RUN, WEIGHTS

# The branches; the values are the mechanisms' ``kind``.
LAPLACE, GAUSSIAN, RANDOMIZED_RESPONSE, PIECEWISE = 0, 1, 2, 3
#: No branch here: a mechanism of somebody's own, see ``own_mechanism``.
OWN = -1
#: A piece this many e-folds below the rest cannot be seen in double precision.
_NEGLIGIBLE = 60.0
#: log of the steepest slope that a log-density of ours can have where it matters.
_STEEP = 40.0
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


@kernel
def point(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
    """``(log p, dlog p/dmu, dlog p/dsigma)`` for one answer and one parameter."""
    if kind == RANDOMIZED_RESPONSE:
        return _sign_point(logpdf, logcdf, logsf, slope, shape, norm, constants, y, left, right, mu, sigma)
    if kind == PIECEWISE:
        return _window_point(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, left, right, mu, sigma)
    return _additive_point(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma)


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
def _additive_point(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
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
    normaliser -= math.log(2.0) if kind == LAPLACE else _HALF_LOG_2PI
    return top + math.log(total) + normaliser, by_mu / (total * sigma), by_sigma / (total * sigma)


@kernel
def _sign_point(logpdf, logcdf, logsf, slope, shape, norm, constants, y, left, right, mu, sigma):
    if abs(y) != 1:
        return -math.inf, 0.0, 0.0
    wrong, gain = constants[0], constants[1]
    z = (left + 0.5 * (right - left) - mu) / sigma
    agree = math.exp(call(logsf, z, shape, norm) if y > 0 else call(logcdf, z, shape, norm))
    p = wrong + gain * agree
    by_mu = y * gain * math.exp(call(logpdf, z, shape, norm)) / (p * sigma)
    return math.log(p), by_mu, by_mu * z


@kernel
def _window_point(logpdf, logcdf, logsf, slope, shape, norm, edges, constants, y, left, right, mu, sigma):
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
def window_mass(logpdf, logcdf, logsf, slope, shape, norm, edges, centre, radius):
    """``P(|Z - centre| <= radius)`` and its derivatives in (mu, sigma) at sigma = 1.

    By the cdf and the density at both ends or, where these differences would cancel, by integrals.
    """
    low, high = centre - radius, centre + radius
    if radius > 0.5:
        if centre < 0:
            mass = math.exp(call(logcdf, high, shape, norm)) - math.exp(call(logcdf, low, shape, norm))
        else:
            mass = math.exp(call(logsf, low, shape, norm)) - math.exp(call(logsf, high, shape, norm))
        g_low, g_high = math.exp(call(logpdf, low, shape, norm)), math.exp(call(logpdf, high, shape, norm))
        return mass, g_low - g_high, g_low * low - g_high * high
    mass, by_mu, by_sigma = 0.0, 0.0, 0.0
    start = -radius
    panel = np.searchsorted(edges, low, side="right")
    while start < radius:
        stop = radius
        if panel < edges.size and edges[panel] < high:
            stop = max(edges[panel] - centre, start)
        panel += 1
        half = 0.5 * (stop - start)
        few = half < 0.1
        for i in range(FEW_NODES.size if few else NODES.size):
            z = centre + start + half * (1 + (FEW_NODES[i] if few else NODES[i]))
            g = half * (FEW_WEIGHTS[i] if few else WEIGHTS[i]) * math.exp(call(logpdf, z, shape, norm))
            fall = -g * call(slope, z, shape, norm) if g > 0 else 0.0  # a slope may be infinite where g is 0
            mass += g
            by_mu += fall
            by_sigma += fall * z - g
        start = stop
    return mass, by_mu, by_sigma


@kernel
def log_release(kind, constants, y, x, left, right):
    """The log-density of the answer ``y`` of an individual whose value is ``x``."""
    half = 0.5 * (right - left)
    middle = left + half
    if kind == RANDOMIZED_RESPONSE:
        wrong, gain = constants[0], constants[1]
        return math.log(wrong + gain if (y > 0) == (x >= middle) else wrong)
    clipped = min(max(x, left), right)
    if kind == PIECEWISE:
        shrink, rest, outside, rise = constants
        likely = abs(clipped - middle - rest * (y - middle)) <= shrink * half
        return math.log((outside + rise if likely else outside) / half)
    rate = constants[0] / (right - left)
    normaliser = math.log(rate) - (math.log(2.0) if kind == LAPLACE else _HALF_LOG_2PI)
    return normaliser + _log_noise(kind, rate, y - clipped)


@kernel
def evaluate(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
    """``point`` for each element of five arrays of one length; the result has shape (length, 3)."""
    out = np.empty((y.size, 3))
    for i in range(y.size):
        out[i, 0], out[i, 1], out[i, 2] = point(
            logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y[i], left[i], right[i], mu[i], sigma[i]
        )
    return out


@kernel
def total(logpdf, logcdf, logsf, slope, shape, norm, edges, kind, constants, y, left, right, mu, sigma):
    """The log-likelihood of all answers together, for each parameter: shape (parameters,)."""
    out = np.zeros(mu.size)
    for t in range(y.size):
        for j in range(mu.size):
            out[j] += point(
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
