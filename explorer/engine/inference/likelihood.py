"""The exact likelihood of private answers: ``p(y | mu, sigma; l, r)`` with the sensitive value integrated out.

    >>> log_likelihood(0.3, mu=0.0, sigma=1.0, left=-1.0, right=1.0, epsilon=2.0).round(4)
    np.float64(-1.2827)

``log_likelihood`` and ``log_likelihood_gradient`` broadcast over everything but the mechanism and the family.
``total_log_likelihood`` is the samplers' hot path: all answers summed, for many parameters at once.
"""

import numpy as np

from explorer.engine.compute.arguments import common_shape, finite_array, ordered_arrays, positive_array
from explorer.engine.compute.threads import share
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.mechanisms.mechanism import COSTLY_BLOCK
from explorer.engine.population import Family, family as find_family


def log_likelihood(
    y,
    mu,
    sigma,
    left,
    right,
    epsilon: float,
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
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
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    delta: float = DEFAULT_DELTA,
) -> np.ndarray:
    """The gradient of ``log_likelihood`` in ``(mu, sigma)``, along a last axis of length 2."""
    return _evaluate(y, mu, sigma, left, right, epsilon, family, mechanism, delta)[..., 1:]


def total_log_likelihood(y, left, right, mu, sigma, family: Family, mechanism: Mechanism) -> np.ndarray:
    """Log-likelihood of the answers ``y[t]`` to ``[left[t], right[t]]`` together, for each ``(mu[j], sigma[j])``.

    For the samplers: contiguous float arrays in, no checks, all cores where it is worth it.
    """
    most = mechanism.block(family)
    # Of a block: by the work alone, whatever the number of threads. Between two blocks a run can be stopped, so that
    # none takes longer than some twenty milliseconds.
    size = min(max(250, -(-mu.size // 8)), max(1, most // max(y.size, 1)))
    little = 40_000 if most > COSTLY_BLOCK else 1_000  # not worth a thread
    if y.size * mu.size < little or mu.size <= size:
        return mechanism.total(family, y, left, right, mu, sigma)
    order = np.argsort(sigma, kind="stable")  # alike together: what cannot matter to any of a block is left out
    mu, sigma = mu[order], sigma[order]
    starts = range(0, mu.size, size)
    parts = share(
        lambda start: mechanism.total(family, y, left, right, mu[start : start + size], sigma[start : start + size]),
        starts,
    )
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
    return mech.evaluate(chosen, *flat).reshape(*shape, 3)
