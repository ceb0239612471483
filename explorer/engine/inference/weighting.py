"""Weights, as logarithms: nothing underflows, whatever the answer."""

import math

import numpy as np

from explorer.engine.compute.compiled import kernel
from explorer.engine.compute.vector_math import exp_negative


@kernel
def reweight(log_weights, gain, exponent):
    """``log_weights + exponent * gain``, normalised: (log weights, weights, log of their former sum, ess).

    ``log_weights`` are normalised. The sum is ``-inf``, and the rest useless, if no particle has any weight left.
    """
    size = log_weights.size
    out, weights = np.empty(size), np.empty(size)
    top = -math.inf
    for i in range(size):
        value = log_weights[i] + exponent * gain[i]
        out[i] = value if value == value else -math.inf  # not a number: such a particle explains nothing
        top = max(top, out[i])
    if not -math.inf < top < math.inf:
        return out, weights, -math.inf, 0.0
    for i in range(size):  # a loop of its own, which the compiler vectorises
        weights[i] = exp_negative(out[i] - top)
    total = 0.0
    for i in range(size):
        total += weights[i]
    log_total, squares = top + math.log(total), 0.0
    for i in range(size):
        weights[i] /= total
        out[i] -= log_total
        squares += weights[i] * weights[i]
    return out, weights, log_total, 1 / squares


@kernel
def largest_exponent(log_weights, gain, least):
    """The largest power of the new likelihood, at most 1, that leaves an effective sample of ``least``.

    It is 1 if no power does: most particles cannot explain the answer at all, so steps would not help.
    """
    if reweight(log_weights, gain, 1.0)[3] >= least:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        if reweight(log_weights, gain, middle)[3] >= least:
            low = middle
        else:
            high = middle
    return low if low > 0 else 1.0
