"""What answers have in common that say: my value lies in this window, or rather not.

With the window's probability P, the likelihood is ``base (1 + (e^epsilon - 1) P)``. ``normal_windows_total`` is the hot
path for a normal population: a product of bounded factors is all there is to compute, and its loops over particles are
plain arithmetic without calls, so that the compiler vectorises them.
"""

import math

import numpy as np

from explorer.engine.compute.compiled import call, inlined, kernel
from explorer.engine.compute.quadrature import FEW_NODES, FEW_WEIGHTS, NODES, WEIGHTS
from explorer.engine.compute.vector_math import exp_negative, log_positive, normal_cdf

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_WEIGHTS /= math.sqrt(2 * math.pi)
#: A window of fewer sigmas to either side is integrated by nodes: the difference of two Phi would cancel.
_NARROW = 0.5


@inlined
def _up_to(t):
    """``Phi(t)``."""
    return normal_cdf(t, exp_negative(-0.5 * t * t))


@inlined
def _by_ends(centre, radius):
    """``P(|Z - centre| < radius)``, in the tail where nothing cancels."""
    near = -abs(centre)
    return _up_to(near + radius) - _up_to(near - radius)


@inlined
def _by_nodes(centre, radius):
    mass = 0.0
    for k in range(_NODES.size):  # unrolled by the compiler
        z = centre + radius * _NODES[k]
        mass += _WEIGHTS[k] * exp_negative(-0.5 * z * z)
    return radius * mass


@kernel
def normal_windows_total(side, end, radius, mu, sigma, epsilon):
    """The sum of ``log(1 + (e^epsilon - 1) P_t)`` over all answers, for each (mu, sigma).

    The window of answer t is all values below ``end[t]`` if ``side[t]`` is 1, all above it if -1, and ``end[t]`` give
    or take ``radius[t]`` if 0.
    """
    particles = mu.size
    precision = 1 / sigma
    product = np.ones(particles)  # of the answers since the last logarithm
    out = np.zeros(particles)
    gain = math.expm1(epsilon)
    together = max(1, int(500.0 / (epsilon + 1)))  # no factor is above e^epsilon
    narrowest, widest = (sigma.min(), sigma.max()) if particles else (1.0, 1.0)
    for t in range(side.size):
        if side[t] != 0:  # one end of the window lies beyond all values
            for j in range(particles):
                product[j] *= 1 + gain * _up_to(side[t] * (end[t] - mu[j]) * precision[j])
        elif radius[t] <= _NARROW * narrowest:
            for j in range(particles):
                product[j] *= 1 + gain * _by_nodes((end[t] - mu[j]) * precision[j], radius[t] * precision[j])
        elif radius[t] > _NARROW * widest:
            for j in range(particles):
                product[j] *= 1 + gain * _by_ends((end[t] - mu[j]) * precision[j], radius[t] * precision[j])
        else:
            for j in range(particles):
                centre, reach = (end[t] - mu[j]) * precision[j], radius[t] * precision[j]
                nodes, ends = _by_nodes(centre, reach), _by_ends(centre, reach)
                product[j] *= 1 + gain * (nodes if reach <= _NARROW else ends)
        if (t + 1) % together == 0 or t + 1 == side.size:
            for j in range(particles):
                out[j] += log_positive(product[j])
                product[j] = 1.0
    return out


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
def add_square(out, weight, by_mu, by_sigma):
    out[0] += weight * by_mu * by_mu
    out[1] += weight * by_mu * by_sigma
    out[2] += weight * by_sigma * by_sigma
