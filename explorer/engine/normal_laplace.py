"""The hot path: a normal population under the Laplace mechanism, many particles against many answers.

The likelihood in closed form. With ``s = sigma/scale`` let ``H(t) = int_{-inf}^t phi(z) e^{-s(t-z)} dz``,
the normal density smoothed by one side of the noise. Then for an answer ``y`` in ``[l, r]``::

    2 scale p(y) = H(gamma) + H(-gamma) + e^{-(y-l)/scale} (Phi(alpha) - H(alpha))
                                        + e^{-(r-y)/scale} (Phi(-beta) - H(-beta))

with ``alpha, gamma, beta = (l, y, r - mu)/sigma``; outside ``[l, r]`` it decays as the noise does. Both
brackets are positive and every term is at most ``2 scale p``, so nothing cancels. Through
``erfcx(x) = e^{x^2} erfc(x)`` all exponents are at most 0, so nothing overflows.

The loop over particles is plain arithmetic without calls, so that the compiler vectorises it.
"""

import math

import numpy as np

from explorer.engine.compiled import inlined, kernel
from explorer.engine.vector_math import exp_negative, half_erfcx

# Both arms of each choice below are computed first: a choice between two finished numbers is one
# vector instruction, a branch would end the vectorisation.


@inlined
def _smoothed(t, s, bell):
    """``H(t)``; ``bell = exp(-t^2/2)``."""
    u = s - t
    tail = half_erfcx(abs(u)) * bell
    rest = exp_negative(min(-s * (t - 0.5 * s), 0.0)) - tail
    return tail if u >= 0 else rest


@inlined
def _below(t, s, bell):
    """``Phi(t) - H(t)``."""
    tail = half_erfcx(abs(t)) * bell
    rest = 1 - tail
    return (tail if t < 0 else rest) - _smoothed(t, s, bell)


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
    for t in range(y.size):
        low, high = left[t], right[t]
        rate = epsilon / (high - low)
        inside = min(max(y[t], low), high)
        at_low, at_high = math.exp(-(inside - low) * rate), math.exp(-(high - inside) * rate)
        constant += math.log(0.5 * rate) - abs(y[t] - inside) * rate
        for j in range(particles):
            alpha = (low - mu[j]) * precision[j]
            beta = (high - mu[j]) * precision[j]
            gamma = (inside - mu[j]) * precision[j]
            s = sigma[j] * rate
            bell = exp_negative(-0.5 * gamma * gamma)
            p = _smoothed(gamma, s, bell) + _smoothed(-gamma, s, bell)
            p += at_low * _below(alpha, s, exp_negative(-0.5 * alpha * alpha))
            p += at_high * _below(-beta, s, exp_negative(-0.5 * beta * beta))
            product[j] *= p
        if (t + 1) % together == 0 or t + 1 == y.size:
            for j in range(particles):
                out[j] += math.log(product[j])
                product[j] = 1.0
    return out + constant
