"""The exact likelihood of private answers: ``p(y | mu, sigma; l, r)`` with the sensitive value integrated out.

    >>> log_likelihood(0.3, mu=0.0, sigma=1.0, left=-1.0, right=1.0, epsilon=2.0).round(4)
    np.float64(-1.2827)

``log_likelihood`` and ``log_likelihood_gradient`` broadcast over everything but the mechanism and the family.
``total_log_likelihood`` is the samplers' hot path: all answers summed, for many parameters at once.
"""

import numpy as np

from explorer.engine.arguments import common_shape, finite_array, ordered_arrays, positive_array
from explorer.engine.families import Family, Normal, family as find_family
from explorer.engine.kernels import OWN, evaluate, total
from explorer.engine.mechanisms import (
    DEFAULT_DELTA,
    LaplaceMechanism,
    Mechanism,
    Piecewise,
    RandomizedResponse,
    mechanism as find_mechanism,
)
from explorer.engine.normal_laplace import normal_laplace_total
from explorer.engine.normal_window import normal_window_total
from explorer.engine.own_mechanism import own_evaluate, own_total
from explorer.engine.threads import share

#: The vectorised kernels multiply likelihoods, of which none is below e^-epsilon of the largest.
_LARGEST_EPSILON = 200.0


def log_likelihood(
    y,
    mu,
    sigma,
    left,
    right,
    epsilon: float,
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
    delta: float = DEFAULT_DELTA,
) -> np.ndarray | np.float64:
    """``log p(y | mu, sigma; left, right)``, broadcast over the first five arguments.

    An answer that the mechanism cannot give has log-likelihood ``-inf``. For ``"randomized_response"``
    the answers are -1 and +1 and the value is a log-probability.
    """
    return _evaluate(y, mu, sigma, left, right, epsilon, family, mechanism, delta)[..., 0][()]


def log_likelihood_gradient(
    y,
    mu,
    sigma,
    left,
    right,
    epsilon: float,
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
    delta: float = DEFAULT_DELTA,
) -> np.ndarray:
    """The gradient of ``log_likelihood`` in ``(mu, sigma)``, along a last axis of length 2."""
    return _evaluate(y, mu, sigma, left, right, epsilon, family, mechanism, delta)[..., 1:]


def has_closed_form(family: Family, mechanism: Mechanism) -> bool:
    """Whether ``normal_laplace`` computes the likelihood."""
    return (
        isinstance(family, Normal)
        and isinstance(mechanism, LaplaceMechanism)
        and (mechanism.epsilon <= _LARGEST_EPSILON)
    )


def total_log_likelihood(y, left, right, mu, sigma, family: Family, mechanism: Mechanism) -> np.ndarray:
    """Log-likelihood of the answers ``y[t]`` to ``[left[t], right[t]]`` together, for each ``(mu[j], sigma[j])``.

    For the samplers: contiguous float arrays in, no checks, all cores where it is worth it.
    """
    closed_form, window = has_closed_form(family, mechanism), isinstance(mechanism, RandomizedResponse | Piecewise)
    normal = isinstance(family, Normal)

    def block(mu, sigma):
        if closed_form:
            return normal_laplace_total(y, left, right, mu, sigma, mechanism.epsilon)
        if window and normal and mechanism.epsilon <= _LARGEST_EPSILON:
            return normal_window_total(*mechanism.code, y, left, right, mu, sigma, mechanism.epsilon)
        if mechanism.kind == OWN:
            return own_total(family, mechanism, y, left, right, mu, sigma)
        return total(*family.code, *mechanism.code, y, left, right, mu, sigma)

    cheap = closed_form or window
    # Of a block: by the work alone, whatever the number of threads. Between two blocks a run can be stopped, so that
    # none takes longer than some twenty milliseconds.
    most = 250_000 if closed_form else 50_000 if cheap else 10_000
    size = min(max(250, -(-mu.size // 8)), max(1, most // max(y.size, 1)))
    if y.size * mu.size < (40_000 if cheap else 1_000) or mu.size <= size:
        return block(mu, sigma)
    order = np.argsort(sigma, kind="stable")  # alike together: what cannot matter to any of a block is left out
    mu, sigma = mu[order], sigma[order]
    starts = range(0, mu.size, size)
    parts = share(lambda start: block(mu[start : start + size], sigma[start : start + size]), starts)
    out = np.empty(mu.size)
    out[order] = np.concatenate(parts)
    return out


def _evaluate(y, mu, sigma, left, right, epsilon, family, mechanism, delta) -> np.ndarray:
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    left, right = ordered_arrays(("left", "right"), left, right)
    arrays = {
        "y": finite_array("y", y),
        "left": left,
        "right": right,
        "mu": finite_array("mu", mu),
        "sigma": positive_array("sigma", sigma),
    }
    shape = common_shape(arrays)
    flat = [np.broadcast_to(array, shape).ravel() for array in arrays.values()]
    return evaluate_all(chosen, mech, *flat).reshape(*shape, 3)


def evaluate_all(family: Family, mechanism: Mechanism, y, left, right, mu, sigma) -> np.ndarray:
    """``(log p, dlog p/dmu, dlog p/dsigma)`` for each element of five float arrays of one length, unchecked."""
    if mechanism.kind == OWN:
        return own_evaluate(family, mechanism, y, left, right, mu, sigma)
    return evaluate(*family.code, *mechanism.code, y, left, right, mu, sigma)
