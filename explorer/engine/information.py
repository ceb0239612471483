"""Fisher information of one private answer about ``(mu, sigma)``: exact, by the paper's Monte Carlo, and as a surface.

Everything is for the base distribution, mu = 0 and sigma = 1, with the interval ``[a, b]`` in its units. For
any other ``(mu, sigma)`` the interval is ``[mu + a sigma, mu + b sigma]`` and the information is divided by
``sigma**2`` (the paper's Theorem 3), so one computation serves a whole run.

    >>> fisher_information(-0.7281, 0.7281, epsilon=5)[0, 0].round(4)
    np.float64(0.6122)
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from explorer.engine import information_kernels as kernels
from explorer.engine.arguments import finite_array, one_of, ordered_arrays, seeded, whole
from explorer.engine.families import Family, family as find_family
from explorer.engine.interval import Interval
from explorer.engine.kernels import OWN
from explorer.engine.mechanisms import (
    DEFAULT_DELTA,
    GaussianMechanism,
    LaplaceMechanism,
    Mechanism,
    RandomizedResponse,
    mechanism as find_mechanism,
)
from explorer.engine.own_mechanism import own_information
from explorer.engine.quadrature import NODES, WEIGHTS
from explorer.engine.threads import share, stop_if_asked, thread_count

Score = str | tuple[float, float] | Callable[[np.ndarray], np.ndarray]

#: The narrowest interval whose information floating-point numbers can hold.
NARROWEST = 1e-100
#: Kernels do without the GIL; from so many intervals on, the threads' own cost is lost in what they save.
_WORTH_SHARING = 256


class Surface(NamedTuple):
    """``values[i, j]`` is the score at ``(a[i], b[j])``; NaN where a >= b."""

    a: np.ndarray
    b: np.ndarray
    values: np.ndarray


class Estimate(NamedTuple):
    """A Monte Carlo estimate of the information matrix and its standard error, entry by entry."""

    value: np.ndarray
    standard_error: np.ndarray


def fisher_information(
    a,
    b,
    epsilon: float,
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
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


def monte_carlo_information(
    a: float,
    b: float,
    epsilon: float,
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
    answers: int = 1000,
    samples: int = 10_000,
    seed: int | None = None,
    delta: float = DEFAULT_DELTA,
) -> Estimate:
    """The paper's own estimate of the same matrix: its eq. (8) with the gradients of its Algorithm 4.

    ``answers`` is M, ``samples`` the number of draws behind each gradient. The gradients' own noise is
    squared too, which biases the estimate upwards, by about (classical information - F)/samples.

    >>> estimate = monte_carlo_information(-1, 1, epsilon=2, answers=500, samples=1000, seed=1)
    >>> bool(abs(estimate.value - fisher_information(-1, 1, 2))[0, 0] < 3 * estimate.standard_error[0, 0])
    True
    """
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    interval = Interval(a, b)
    rng = seeded("seed", seed)
    squares = np.empty((whole("answers", answers, 2), 2, 2))
    whole("samples", samples, 1)
    for square, y in zip(squares, mech.release(chosen.sample(rng, answers), interval, rng), strict=True):
        stop_if_asked()
        x = chosen.sample(rng, samples)
        weights = mech.density(y, x, interval)
        if not weights.any():
            raise ValueError(f"samples must be larger for this epsilon, got {samples}: no draw comes near an answer")
        gradient = weights @ chosen.score(x) / weights.sum()
        square[:] = np.outer(gradient, gradient)
    return Estimate(squares.mean(axis=0), squares.std(axis=0, ddof=1) / np.sqrt(answers))


SCORES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mu": lambda f: f[..., 0, 0],
    "sigma": lambda f: f[..., 1, 1],
    "trace": lambda f: f[..., 0, 0] + f[..., 1, 1],
    "det": lambda f: f[..., 1, 1] * _about_mu_alone(f),
    "mu|sigma": lambda f: _about_mu_alone(f),
}


def _about_mu_alone(f: np.ndarray) -> np.ndarray:
    """``F00 - F01^2/F11``, and exactly 0 where only rounding is left of that difference."""
    # An answer that tells nothing about sigma (F11 = 0, hence F01 = 0) tells all of F00 about mu.
    lost = np.divide(f[..., 0, 1] ** 2, f[..., 1, 1], out=np.zeros(f.shape[:-2]), where=f[..., 1, 1] > 0)
    left = f[..., 0, 0] - lost
    return np.where(left > 1e-13 * f[..., 0, 0], left, 0.0)


def score_function(score: Score) -> Callable[[np.ndarray], np.ndarray]:
    """The paper's ``sc``: a name, two weights for the diagonal, or a callable on (..., 2, 2)."""
    if callable(score):
        return score
    if isinstance(score, str):
        return SCORES[one_of("score", score, SCORES)]
    weights = finite_array("score", score)
    if weights.shape != (2,) or np.any(weights < 0) or not np.any(weights):
        raise ValueError(f"score must be a name, two weights that are not negative, or a callable, got {score!r}")
    return lambda f: weights[0] * f[..., 0, 0] + weights[1] * f[..., 1, 1]


def score_surface(
    epsilon: float,
    resolution: int = 50,
    limits: tuple[float, float] = (-3, 3),
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
    score: Score = "mu",
    delta: float = DEFAULT_DELTA,
    a=None,
    b=None,
) -> Surface:
    """The score on a grid: ``resolution`` points between ``limits`` on each axis, or those given as ``a`` and ``b``.

    >>> score_surface(1.0, a=[-1, 0], b=[0, 1], score="trace").values.round(4)
    array([[0.1029, 0.09  ],
           [   nan, 0.1029]])
    """
    sc = score_function(score)
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    a, b = (_axis(name, given, resolution, limits) for name, given in (("a", a), ("b", b)))
    defined = a[:, None] < b[None, :]
    rows, columns = np.nonzero(defined)
    values = np.full(defined.shape, np.nan)
    values[defined] = sc(information_of(chosen, mech, a[rows], b[columns]))
    return Surface(a, b, values)


def _axis(name: str, given, resolution: int, limits: tuple[float, float]) -> np.ndarray:
    if given is None:
        try:
            low, high = Interval.of(limits)
        except ValueError as error:
            raise ValueError(f"limits must be two numbers, the first below the second, got {limits!r}") from error
        return np.linspace(low, high, whole("resolution", resolution, 2))
    axis = finite_array(name, given)
    if axis.ndim != 1 or axis.size == 0:
        raise ValueError(f"{name} must be a grid of at least one point along one axis, got shape {axis.shape}")
    return axis


def information_of(
    family: Family, mechanism: Mechanism, a: np.ndarray, b: np.ndarray, rough: bool = False
) -> np.ndarray:
    """The same of objects and arrays that are known to be right.

    ``rough`` is enough for a search: five digits for a mechanism of somebody's own, and no difference for others.
    """
    a, b = np.broadcast_arrays(a, b)
    flat = np.ascontiguousarray(a, dtype=float).ravel(), np.ascontiguousarray(b, dtype=float).ravel()
    if mechanism.kind == OWN:
        return own_information(family, mechanism, *flat, rough)[:, [0, 1, 1, 2]].reshape(*a.shape, 2, 2)
    if isinstance(mechanism, LaplaceMechanism):
        kernel, code = kernels.laplace_information, (*family.code, mechanism.epsilon)
    elif isinstance(mechanism, GaussianMechanism):
        kernel, code = kernels.gaussian_information, (*family.code, 1 / mechanism.noise_ratio)
    elif isinstance(mechanism, RandomizedResponse):
        kernel, code = kernels.sign_information, (*family.code, *mechanism.code)
    else:
        kernel, code = kernels.window_information, (*family.code, *mechanism.code)
    if flat[0].size < _WORTH_SHARING:
        entries = kernel(*code, *flat)
    else:
        # Wide intervals cost more than narrow ones: deal them out like cards.
        hands = thread_count()
        parts = share(lambda hand: kernel(*code, *(side[hand::hands].copy() for side in flat)), range(hands))
        entries = np.empty((flat[0].size, 3))
        for hand, part in enumerate(parts):
            entries[hand::hands] = part
    return entries[:, [0, 1, 1, 2]].reshape(*a.shape, 2, 2)
