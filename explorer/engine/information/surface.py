"""The score over a grid of intervals (a, b): the paper's Figure 1, exact.

>>> score_surface(1.0, a=[-1, 0], b=[0, 1]).values.shape
(2, 2)
"""

from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite_array, whole
from explorer.engine.information.fisher import information_of
from explorer.engine.information.scores import Score, score_function
from explorer.engine.mechanisms import DEFAULT_DELTA, Interval, Mechanism, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family


class Surface(NamedTuple):
    """``values[i, j]`` is the score at ``(a[i], b[j])``; NaN where a >= b."""

    a: np.ndarray
    b: np.ndarray
    values: np.ndarray


def score_surface(
    epsilon: float,
    *,
    resolution: int = 50,
    limits: tuple[float, float] = (-3, 3),
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
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
