"""The best interval: where the information of one private answer is largest, over all intervals and not over a grid.

>>> best = best_interval(epsilon=5)
>>> round(best.a, 3), round(best.b, 3), round(best.value, 4)
(-0.728, 0.728, 0.6122)
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when first used: it would double the time of `import explorer`

from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.information.fisher import information_of
from explorer.engine.information.scores import Score, score_function
from explorer.engine.information.surface import Surface
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family

#: The narrowest half-width that ``best_interval`` returns. For some families the information still grows,
#: by less than one part in a million, as the interval shrinks to a point.
NARROWEST = 1e-6


class _Effort(NamedTuple):
    """How closely a search looks: points of its coarse maps, climbs from their peaks, and the climbs' precision."""

    points: int
    half_widths: int
    ends: int
    climbs: int
    steps: int
    precision: float
    tolerance: float


_MUCH = _Effort(points=60, half_widths=60, ends=40, climbs=6, steps=800, precision=1e-8, tolerance=1e-14)
#: For mechanisms of somebody's own, whose information takes a thousand times as long: to four digits.
_LITTLE = _Effort(points=14, half_widths=18, ends=8, climbs=2, steps=60, precision=1e-4, tolerance=1e-8)


class BestInterval(NamedTuple):
    """The interval with the largest score, in units of the base distribution, and that score."""

    a: float
    b: float
    value: float


class NoBestIntervalError(ValueError):
    """The score is 0 for every interval, so that none is better than the others."""


def best_interval(
    epsilon: float,
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    score: Score = "mu",
    delta: float = DEFAULT_DELTA,
    symmetric: bool = False,
) -> BestInterval:
    """The paper's ``(a*, b*)``, eq. (13): the global maximum of the score over all intervals, not over a grid.

    For a symmetric family an interval and its mirror image score the same; the one whose midpoint is
    positive is returned. ``symmetric=True`` looks at intervals around 0 alone. Randomised response depends
    on the midpoint alone; its interval is returned with half-width 1. For noise with an epsilon above 300, which says
    nearly all about a value, the interval of epsilon = 300 is returned.

    >>> best_interval(epsilon=2, mechanism="piecewise", score="trace").b.__round__(3)
    1.44
    """
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    sc = score_function(score)
    if mech.epsilon > mech.largest_searched:
        nearest = mech.with_epsilon(mech.largest_searched)
        near = best_interval(nearest.epsilon, family=chosen, mechanism=nearest, score=score, symmetric=symmetric)
        return near._replace(value=float(sc(information_of(chosen, mech, np.array(near.a), np.array(near.b)))))
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
        self.by_sign = mechanism.by_midpoint
        self.effort = _MUCH if mechanism.compiled else _LITTLE

    def value(self, middle, half):
        stop_if_asked()
        ends = np.asarray(middle) - half, np.asarray(middle) + half
        scores = self.sc(information_of(self.family, self.mechanism, *ends, rough=True))
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
        options = {
            "xatol": self.effort.precision,
            "fatol": 1e-14 if self.effort is _MUCH else 1e-8,
            "initial_simplex": simplex,
        }
        options["maxiter"] = self.effort.steps
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
        a, b = float(middle - half), float(middle + half)
        if self.effort is _LITTLE:  # whose searches look at rough values
            value = float(self.sc(information_of(self.family, self.mechanism, np.array(a), np.array(b))))
        return BestInterval(a, b, value)


def _best_interval(family: Family, mechanism: Mechanism, sc: Callable, symmetric: bool) -> BestInterval:
    search = _Search(family, mechanism, sc)
    best = _best_centred(search)
    if not symmetric:
        for middle, half in _starts(search):
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
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    score: Score = "mu",
    delta: float = DEFAULT_DELTA,
) -> BestInterval | None:
    """The top of the hill that a surface's highest point stands on, to three digits: in some milliseconds.

    Often it is the best of all intervals. None if the surface is 0 everywhere.

    >>> from explorer.engine.information import score_surface
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


def _best_centred(search: _Search) -> tuple[np.ndarray, float]:
    """The best interval around 0: a search along one line, from the best point of a scan."""
    loss = search.loss
    if search.by_sign:
        return np.zeros(2), -loss(np.zeros(2))
    logs = np.log(_half_widths(search))
    at = int(np.argmin([loss((0.0, log)) for log in logs]))
    bounds = logs[max(at - 1, 0)], logs[min(at + 1, logs.size - 1)]
    line = scipy.optimize.minimize_scalar(
        lambda log: loss((0.0, log)), bounds=bounds, method="bounded", options={"xatol": search.effort.precision / 100}
    )
    return np.array([0.0, line.x]), -float(line.fun)


def _half_widths(search: _Search) -> np.ndarray:
    farthest = np.abs(search.family.ppf(np.array([0.005, 0.995]))).max()
    return np.geomspace(NARROWEST, 20 * farthest, search.effort.half_widths)


def _starts(search: _Search) -> list[tuple[float, float]]:
    """Where the search begins: the highest peaks of three coarse maps.

    One map is over midpoint and half-width. Two are over one end and the half-width, for intervals that
    reach far beyond the population on one side (there the Piecewise mechanism's stray answers show themselves).
    """
    family, effort = search.family, search.effort
    points = np.append(family.ppf(np.linspace(0.005, 0.995, effort.points)), 0.0)
    points = np.sort(points[points >= 0] if family.symmetric else points)
    halves = np.ones(1) if search.by_sign else _half_widths(search)
    maps = [points[:, None] + np.zeros(halves.size)]
    if not search.by_sign:
        ends = family.ppf(np.linspace(1e-4, 0.5, effort.ends))
        maps.append(ends[:, None] + halves)
        if not family.symmetric:
            ends = family.ppf(np.linspace(0.5, 1 - 1e-4, effort.ends))
            maps.append(ends[:, None] - halves)
    starts = []
    for middles in maps:
        widths = np.broadcast_to(halves, middles.shape)
        grid = search.value(middles, widths)
        starts += [(grid[cell], middles[cell], widths[cell]) for cell in _peaks(grid)[:4]]
    starts.sort(reverse=True)
    return [(float(middle), float(half)) for _, middle, half in starts[: effort.climbs]]


def _peaks(grid: np.ndarray) -> list[tuple[int, int]]:
    """Cells that no neighbour exceeds, highest first."""
    padded = np.pad(grid, 1, constant_values=-np.inf)
    rows, columns = grid.shape
    neighbours = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    peak = np.all([grid >= neighbour for neighbour in neighbours], axis=0)
    found = np.argwhere(peak)
    return [tuple(map(int, cell)) for cell in found[np.argsort(-grid[peak], kind="stable")]]
