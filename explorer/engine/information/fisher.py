"""Fisher information of one private answer about ``(mu, sigma)``: exact.

Everything is for the base distribution, mu = 0 and sigma = 1, with the interval ``[a, b]`` in its units. For
any other ``(mu, sigma)`` the interval is ``[mu + a sigma, mu + b sigma]`` and the information is divided by
``sigma**2`` (the paper's Theorem 3), so one computation serves a whole run.

    >>> fisher_information(-0.7281, 0.7281, epsilon=5)[0, 0].round(4)
    np.float64(0.6122)
"""

from functools import lru_cache

import numpy as np

from explorer.engine.compute.arguments import ordered_arrays
from explorer.engine.compute.quadrature import NODES, WEIGHTS
from explorer.engine.compute.threads import share, thread_count
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family

#: The narrowest interval whose information floating-point numbers can hold.
NARROWEST = 1e-100
#: Kernels do without the GIL; from so many intervals on, the threads' own cost is lost in what they save.
_WORTH_SHARING = 256


def fisher_information(
    a,
    b,
    epsilon: float,
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    delta: float = DEFAULT_DELTA,
) -> np.ndarray:
    """The information matrix of one answer to ``[a, b]``, shape (..., 2, 2), broadcast over ``a`` and ``b``.

    >>> fisher_information([-1, -0.5], [1, 0.5], epsilon=2)[:, 0, 0].round(4)
    array([0.2425, 0.2799])
    """
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    a, b = ordered_arrays(("a", "b"), a, b)
    if np.any(b - a < NARROWEST):
        raise ValueError(f"b - a must be at least {NARROWEST:g}, got {float(np.min(b - a)):g}")
    return information_of(chosen, mech, a, b)


def classical_information(family: str | Family = "normal") -> np.ndarray:
    """The information of the sensitive value itself: the limit without privacy, for mu = 0 and sigma = 1.

    >>> classical_information("normal").round(6) + 0.0
    array([[1., 0.],
           [0., 2.]])
    """
    return _classical_information(find_family(family)).copy()


@lru_cache(maxsize=64)
def _classical_information(family: Family) -> np.ndarray:
    edges = family.code[-1]
    low, half = edges[:-1, None], np.diff(edges)[:, None] / 2
    z = low + half * (1 + NODES)
    mass = half * WEIGHTS * family.pdf(z)
    score = family.score(z[mass > 0])  # a score may be infinite where there is nobody
    return np.einsum("n,ni,nj->ij", mass[mass > 0], score, score)


def information_of(
    family: Family, mechanism: Mechanism, a: np.ndarray, b: np.ndarray, rough: bool = False
) -> np.ndarray:
    """The same of objects and arrays that are known to be right.

    ``rough`` is enough for a search, see ``Mechanism.information``.
    """
    a, b = np.broadcast_arrays(a, b)
    flat = np.ascontiguousarray(a, dtype=float).ravel(), np.ascontiguousarray(b, dtype=float).ravel()
    if flat[0].size < _WORTH_SHARING or not mechanism.compiled:  # what is not compiled gains nothing from threads
        entries = mechanism.information(family, *flat, rough)
    else:
        # Wide intervals cost more than narrow ones: deal them out like cards.
        hands = thread_count()
        parts = share(
            lambda hand: mechanism.information(family, *(side[hand::hands].copy() for side in flat)), range(hands)
        )
        entries = np.empty((flat[0].size, 3))
        for hand, part in enumerate(parts):
            entries[hand::hands] = part
    return entries[:, [0, 1, 1, 2]].reshape(*a.shape, 2, 2)
