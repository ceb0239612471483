"""Fisher information of one private answer about ``(mu, sigma)``: exact, as a surface, and where it is largest.

Everything is for the base distribution, mu = 0 and sigma = 1, with the interval ``[a, b]`` in its units. For
any other ``(mu, sigma)`` the interval is ``[mu + a sigma, mu + b sigma]`` and the information is divided by
``sigma**2`` (the paper's Theorem 3), so one computation serves a whole run.

    >>> fisher_information(-0.7281, 0.7281, epsilon=5)[0, 0].round(4)
    np.float64(0.6122)
    >>> best = best_interval(epsilon=5)
    >>> round(best.a, 3), round(best.b, 3), round(best.value, 4)
    (-0.728, 0.728, 0.6122)
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when first used: it would double the time of `import explorer`

from explorer.engine import information_kernels as kernels
from explorer.engine.arguments import finite_array, one_of, ordered_arrays, seeded, whole
from explorer.engine.families import Family, family as find_family
from explorer.engine.interval import Interval
from explorer.engine.mechanisms import (
    DEFAULT_DELTA,
    GaussianMechanism,
    LaplaceMechanism,
    Mechanism,
    RandomizedResponse,
    mechanism as find_mechanism,
)
from explorer.engine.quadrature import NODES, WEIGHTS
from explorer.engine.threads import share, stop_if_asked, thread_count

Score = str | tuple[float, float] | Callable[[np.ndarray], np.ndarray]

#: The narrowest half-width that ``best_interval`` returns. For some families the information still grows,
#: by less than one part in a million, as the interval shrinks to a point.
NARROWEST = 1e-6
#: Kernels do without the GIL; from so many intervals on, the threads' own cost is lost in what they save.
_WORTH_SHARING = 256


class BestInterval(NamedTuple):
    """The interval with the largest score, in units of the base distribution, and that score."""

    a: float
    b: float
    value: float


class NoBestIntervalError(ValueError):
    """The score is 0 for every interval, so that none is better than the others."""


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
    return _information(chosen, mech, a, b)


def classical_information(family: str | Family = "normal") -> np.ndarray:
    """The information of the sensitive value itself: the limit without privacy, for mu = 0 and sigma = 1.

    >>> classical_information("normal").round(6) + 0.0
    array([[1., 0.],
           [0., 2.]])
    """
    chosen = find_family(family)
    edges = chosen.code[-1]
    low, half = edges[:-1, None], np.diff(edges)[:, None] / 2
    z = low + half * (1 + NODES)
    mass = half * WEIGHTS * chosen.pdf(z)
    score = chosen.score(z[mass > 0])  # a score may be infinite where there is nobody
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
    values[defined] = sc(_information(chosen, mech, a[rows], b[columns]))
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


def best_interval(
    epsilon: float,
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
    score: Score = "mu",
    delta: float = DEFAULT_DELTA,
    symmetric: bool = False,
) -> BestInterval:
    """The paper's ``(a*, b*)``, eq. (13): the global maximum of the score over all intervals, not over a grid.

    For a symmetric family an interval and its mirror image score the same; the one whose midpoint is
    positive is returned. ``symmetric=True`` looks at intervals around 0 alone. Randomised response depends
    on the midpoint alone; its interval is returned with half-width 1.

    >>> best_interval(epsilon=2, mechanism="piecewise", score="trace").b.__round__(3)
    1.44
    """
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    sc = score_function(score)
    if isinstance(score, str):
        return _best_named_interval(chosen, mech, score, bool(symmetric))
    return _best_interval(chosen, mech, sc, bool(symmetric))


@lru_cache(maxsize=4096)
def _best_named_interval(family: Family, mechanism: Mechanism, score: str, symmetric: bool) -> BestInterval:
    return _best_interval(family, mechanism, score_function(score), symmetric)


class _Search:
    """The score over (midpoint, log of the half-width), in which a search for the best interval moves."""

    def __init__(self, family: Family, mechanism: Mechanism, sc: Callable) -> None:
        self.family, self.mechanism, self.sc = family, mechanism, sc
        self.by_sign = isinstance(mechanism, RandomizedResponse)

    def value(self, middle, half):
        stop_if_asked()
        scores = self.sc(
            _information(self.family, self.mechanism, np.asarray(middle) - half, np.asarray(middle) + half)
        )
        if np.any(np.isnan(scores)):
            raise ValueError("score must give a number for every information matrix, got nan")
        return scores

    def loss(self, point) -> float:
        return -float(self.value(point[0], self.half_width(point[1])))

    def half_width(self, log_half: float) -> float:
        return 1.0 if self.by_sign else max(float(np.exp(log_half)), NARROWEST)

    def climb(self, middle: float, half: float) -> tuple[np.ndarray, float]:
        """The top of the hill that the interval ``middle ± half`` stands on."""
        start = np.array([middle, np.log(half)])
        simplex = start + np.vstack([np.zeros(2), np.diag([0.1 if self.by_sign else 0.3 * half, 0.1])])
        options = {"xatol": 1e-8, "fatol": 1e-14, "maxiter": 800, "initial_simplex": simplex}
        found = scipy.optimize.minimize(self.loss, start, method="Nelder-Mead", options=options)
        return found.x, -float(found.fun)

    def close_in(self, middle: float, half: float, step: float) -> tuple[np.ndarray, float]:
        """The same hill's top, good for a picture: one look at 25 neighbours at a time, ever closer ones."""
        offsets = np.linspace(-1, 1, 5)
        point, steps = np.array([middle, np.log(half)]), np.array([step, min(step / half, 1.0)])
        for _ in range(100):
            middles, logs = np.meshgrid(*(at + reach * offsets for at, reach in zip(point, steps, strict=True)))
            halves = np.ones_like(logs) if self.by_sign else np.maximum(np.exp(logs), NARROWEST)
            values = self.value(middles, halves)
            row, column = np.unravel_index(int(np.argmax(values)), values.shape)
            point, top = np.array([middles[row, column], logs[row, column]]), float(values[row, column])
            if steps[1] <= 1e-3:
                break
            # At the rim of its neighbours: farther ones may be better. In their middle: only closer ones can be.
            rim, centre = {row, column} & {0, 4}, row == column == 2
            steps *= 1.5 if rim else 0.5 if centre else 0.8
        return point, top

    def interval(self, point, value: float) -> BestInterval:
        middle = abs(point[0]) if self.family.symmetric else point[0]
        half = self.half_width(point[1])
        return BestInterval(float(middle - half), float(middle + half), value)


def _best_interval(family: Family, mechanism: Mechanism, sc: Callable, symmetric: bool) -> BestInterval:
    search = _Search(family, mechanism, sc)
    best = _best_centred(search.loss, search.by_sign, family)
    if not symmetric:
        for middle, half in _starts(family, search.value, search.by_sign):
            found = search.climb(middle, half)
            # A search cannot tell the centred optimum from a point a rounding error beside it: it must win clearly.
            if found[1] > best[1] + 1e-12 * abs(best[1]):
                best = found
    if best[1] == 0:
        raise NoBestIntervalError(f"score must differ from 0 for some interval, but with {mechanism!r} it is 0 for all")
    return search.interval(*best)


def best_near(
    surface: Surface,
    epsilon: float,
    family: str | Family = "normal",
    mechanism: str | Mechanism = "laplace",
    score: Score = "mu",
    delta: float = DEFAULT_DELTA,
) -> BestInterval | None:
    """The top of the hill that a surface's highest point stands on, to three digits: in some milliseconds.

    Often it is the best of all intervals. None if the surface is 0 everywhere.

    >>> best_near(score_surface(2.0), 2.0).b.__round__(2)
    0.22
    """
    search = _Search(find_family(family), find_mechanism(mechanism, epsilon, delta), score_function(score))
    values = np.nan_to_num(surface.values, nan=-np.inf)
    i, j = np.unravel_index(int(np.argmax(values)), values.shape)
    if not values[i, j] > 0:
        return None
    a, b = surface.a[i], surface.b[j]
    return search.interval(*search.close_in((a + b) / 2, (b - a) / 2, step=surface.a[1] - surface.a[0]))


def _best_centred(loss: Callable, by_sign: bool, family: Family) -> tuple[np.ndarray, float]:
    """The best interval around 0: a search along one line, from the best point of a scan."""
    if by_sign:
        return np.zeros(2), -loss(np.zeros(2))
    logs = np.log(_half_widths(family))
    at = int(np.argmin([loss((0.0, log)) for log in logs]))
    bounds = logs[max(at - 1, 0)], logs[min(at + 1, logs.size - 1)]
    line = scipy.optimize.minimize_scalar(
        lambda log: loss((0.0, log)), bounds=bounds, method="bounded", options={"xatol": 1e-10}
    )
    return np.array([0.0, line.x]), -float(line.fun)


def _half_widths(family: Family) -> np.ndarray:
    return np.geomspace(NARROWEST, 20 * np.abs(family.ppf(np.array([0.005, 0.995]))).max(), 60)


def _starts(family: Family, value: Callable, by_sign: bool) -> list[tuple[float, float]]:
    """Where the search begins: the highest peaks of three coarse maps.

    One map is over midpoint and half-width. Two are over one end and the half-width, for intervals that
    reach far beyond the population on one side (there the Piecewise mechanism's stray answers show themselves).
    """
    points = np.append(family.ppf(np.linspace(0.005, 0.995, 60)), 0.0)
    points = np.sort(points[points >= 0] if family.symmetric else points)
    halves = np.ones(1) if by_sign else _half_widths(family)
    maps = [points[:, None] + np.zeros(halves.size)]
    if not by_sign:
        ends = family.ppf(np.linspace(1e-4, 0.5, 40))
        maps.append(ends[:, None] + halves)
        if not family.symmetric:
            ends = family.ppf(np.linspace(0.5, 1 - 1e-4, 40))
            maps.append(ends[:, None] - halves)
    starts = []
    for middles in maps:
        widths = np.broadcast_to(halves, middles.shape)
        grid = value(middles, widths)
        starts += [(grid[cell], middles[cell], widths[cell]) for cell in _peaks(grid)[:4]]
    starts.sort(reverse=True)
    return [(float(middle), float(half)) for _, middle, half in starts[:6]]


def _peaks(grid: np.ndarray) -> list[tuple[int, int]]:
    """Cells that no neighbour exceeds, highest first."""
    padded = np.pad(grid, 1, constant_values=-np.inf)
    rows, columns = grid.shape
    neighbours = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    peak = np.all([grid >= neighbour for neighbour in neighbours], axis=0)
    found = np.argwhere(peak)
    return [tuple(map(int, cell)) for cell in found[np.argsort(-grid[peak], kind="stable")]]


def _information(family: Family, mechanism: Mechanism, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = np.broadcast_arrays(a, b)
    flat = np.ascontiguousarray(a, dtype=float).ravel(), np.ascontiguousarray(b, dtype=float).ravel()
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
