"""The hot path of the other pure mechanisms: a normal population under RandomizedResponse and Piecewise.

An answer of either says one thing: the value lies in a window, or rather not. With the window's probability P,
the likelihood is ``base (1 + (e^epsilon - 1) P)``, so that a product of bounded factors is all there is to compute.

The loops over particles are plain arithmetic without calls, so that the compiler vectorises them.
"""

import math

import numpy as np

from explorer.engine.compiled import inlined, kernel
from explorer.engine.kernels import RANDOMIZED_RESPONSE
from explorer.engine.normal_laplace import below
from explorer.engine.vector_math import exp_negative, log_positive

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(6)
_WEIGHTS /= math.sqrt(2 * math.pi)
#: A window of fewer sigmas to either side is integrated by nodes: the difference of two Phi would cancel.
_NARROW = 0.5


@inlined
def _up_to(t):
    """``Phi(t)``."""
    return below(t, exp_negative(-0.5 * t * t))


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
def normal_window_total(kind, constants, y, left, right, mu, sigma, epsilon):
    """The log-likelihood of all answers together, for each (mu, sigma): shape (particles,)."""
    particles = mu.size
    precision = 1 / sigma
    product = np.ones(particles)  # of the answers since the last logarithm
    out = np.zeros(particles)
    constant, gain = 0.0, math.expm1(epsilon)
    together = max(1, int(500.0 / (epsilon + 1)))  # no factor is above e^epsilon
    narrowest, widest = (sigma.min(), sigma.max()) if particles else (1.0, 1.0)
    for t in range(y.size):
        half = 0.5 * (right[t] - left[t])
        middle = left[t] + half
        side, end, radius = 0.0, middle, 0.0
        if kind == RANDOMIZED_RESPONSE:
            possible = abs(y[t]) == 1
            constant += math.log(constants[0])
            side = -y[t]
        else:
            shrink, rest, outside, _ = constants
            reach = (1 + shrink) / rest * half
            possible = abs(y[t] - middle) <= reach * (1 + 1e-13)  # however the ends were rounded
            constant += math.log(outside / half)
            if y[t] <= left[t]:
                side, end = 1.0, left[t] + rest * max(y[t] - middle + reach, 0.0)
            elif y[t] >= right[t]:
                side, end = -1.0, right[t] - rest * max(middle + reach - y[t], 0.0)
            else:
                end, radius = middle + rest * (y[t] - middle), shrink * half
        if not possible:
            constant = -math.inf
        if side != 0:  # one end of the window lies beyond all values
            for j in range(particles):
                product[j] *= 1 + gain * _up_to(side * (end - mu[j]) * precision[j])
        elif radius <= _NARROW * narrowest:
            for j in range(particles):
                product[j] *= 1 + gain * _by_nodes((end - mu[j]) * precision[j], radius * precision[j])
        elif radius > _NARROW * widest:
            for j in range(particles):
                product[j] *= 1 + gain * _by_ends((end - mu[j]) * precision[j], radius * precision[j])
        else:
            for j in range(particles):
                centre, reach = (end - mu[j]) * precision[j], radius * precision[j]
                nodes, ends = _by_nodes(centre, reach), _by_ends(centre, reach)
                product[j] *= 1 + gain * (nodes if reach <= _NARROW else ends)
        if (t + 1) % together == 0 or t + 1 == y.size:
            for j in range(particles):
                out[j] += log_positive(product[j])
                product[j] = 1.0
    return out + constant
