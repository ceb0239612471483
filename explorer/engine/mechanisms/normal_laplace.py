"""The hot path: a normal population under the Laplace mechanism, many particles against many answers.

The likelihood in closed form. With ``s = sigma/scale`` let ``H(t) = int_{-inf}^t phi(z) e^{-s(t-z)} dz``,
the normal density smoothed by one side of the noise. Then for an answer ``y`` in ``[l, r]``::

    2 scale p(y) = H(gamma) + H(-gamma) + e^{-(y-l)/scale} (Phi(alpha) - H(alpha))
                                        + e^{-(r-y)/scale} (Phi(-beta) - H(-beta))

with ``alpha, gamma, beta = (l, y, r - mu)/sigma``. Below ``l`` it decays as the noise does, and at ``l`` two terms
cancel: ``H(-alpha) + Phi(alpha) + e^{-epsilon} (Phi(-beta) - H(-beta))``; above ``r`` it is the mirror image. Both
brackets are positive and every term is at most ``2 scale p``, so nothing cancels. Through
``erfcx(x) = e^{x^2} erfc(x)`` all exponents are at most 0, so nothing overflows.

The loops over particles are plain arithmetic without calls, so that the compiler vectorises them.
"""

import math

import numpy as np

from explorer.engine.compute.compiled import inlined, kernel
from explorer.engine.compute.vector_math import exp_negative, half_erfcx, log_positive, normal_cdf as below

# Both arms of each choice below are computed first: a choice between two finished numbers is one
# vector instruction, a branch would end the vectorisation.


@inlined
def _smoothed(t, s, factor, decay):
    """``factor * H(t)`` for a factor in [0, 1]: ``factor`` comes times the bell, and ``decay = factor e^{-s(t-s/2)}``.

    The decay is only looked at where t > s, where it is below 1.
    """
    u = s - t
    tail = half_erfcx(abs(u)) * factor
    rest = decay - tail
    return tail if u >= 0 else rest


@kernel
def normal_laplace_total(y, left, right, mu, sigma, epsilon):
    """The log-likelihood of all answers together, for each (mu, sigma): shape (particles,)."""
    particles = mu.size
    precision = 1 / sigma
    product = np.ones(particles)  # of the answers since the last logarithm
    out = np.zeros(particles)
    constant = 0.0
    # One factor is at least e^-epsilon: so many of them stay far from underflow.
    together = max(1, int(500.0 / (epsilon + 1)))
    # An end that lies so many sigmas away holds less than e^-36 of the smallest likelihood, e^-epsilon.
    out_of_sight = math.sqrt(2 * (epsilon + 36)) * sigma.max() if particles else 0.0
    lowest, highest = (mu.min() - out_of_sight, mu.max() + out_of_sight) if particles else (0.0, 0.0)
    for t in range(y.size):
        low, high = left[t], right[t]
        rate = epsilon / (high - low)
        constant += math.log(0.5 * rate)
        if low < lowest and highest < high and low < y[t] < high:
            for j in range(particles):
                gamma = (y[t] - mu[j]) * precision[j]
                s = sigma[j] * rate
                bell = exp_negative(-0.5 * gamma * gamma)
                rise = exp_negative(min(s * (0.5 * s - gamma), 0.0))
                fall = exp_negative(min(s * (0.5 * s + gamma), 0.0))
                product[j] *= _smoothed(gamma, s, bell, rise) + _smoothed(-gamma, s, bell, fall)
        elif low < y[t] < high:
            at_low, at_high = math.exp(-(y[t] - low) * rate), math.exp(-(high - y[t]) * rate)
            for j in range(particles):
                alpha = (low - mu[j]) * precision[j]
                beta = (high - mu[j]) * precision[j]
                gamma = (y[t] - mu[j]) * precision[j]
                s = sigma[j] * rate
                bell = exp_negative(-0.5 * gamma * gamma)
                low_bell = exp_negative(-0.5 * alpha * alpha)
                high_bell = exp_negative(-0.5 * beta * beta)
                # at_low e^{-s(alpha - s/2)} is e^{-s(gamma - s/2)}: one exponential serves both, on either side.
                rise = exp_negative(min(s * (0.5 * s - gamma), 0.0))
                fall = exp_negative(min(s * (0.5 * s + gamma), 0.0))
                p = _smoothed(gamma, s, bell, rise) + _smoothed(-gamma, s, bell, fall)
                p += at_low * below(alpha, low_bell) - _smoothed(alpha, s, at_low * low_bell, rise)
                p += at_high * below(-beta, high_bell) - _smoothed(-beta, s, at_high * high_bell, fall)
                product[j] *= p
        else:
            # Above r, everything is mirrored.
            side = 1.0 if y[t] <= low else -1.0
            near, far = (low, high) if y[t] <= low else (high, low)
            constant -= abs(y[t] - near) * rate
            at_far = math.exp(-epsilon)
            for j in range(particles):
                alpha = side * (near - mu[j]) * precision[j]
                beta = side * (far - mu[j]) * precision[j]
                s = sigma[j] * rate
                near_bell = exp_negative(-0.5 * alpha * alpha)
                far_bell = exp_negative(-0.5 * beta * beta)
                fall = exp_negative(min(s * (0.5 * s + alpha), 0.0))
                p = _smoothed(-alpha, s, near_bell, fall) + below(alpha, near_bell)
                p += at_far * below(-beta, far_bell) - _smoothed(-beta, s, at_far * far_bell, fall)
                product[j] *= p
        if (t + 1) % together == 0 or t + 1 == y.size:
            for j in range(particles):
                out[j] += log_positive(product[j])
                product[j] = 1.0
    return out + constant
