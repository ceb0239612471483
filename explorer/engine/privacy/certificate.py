"""The analytic part of an audit: the largest log-ratio of the densities of one answer under two values.

>>> from explorer.engine.mechanisms import mechanism
>>> certificate(mechanism("randomized_response", 40.0), (-1, 1)).epsilon
40.0

Densities themselves would not do. They underflow at a large epsilon; and at a small one, logarithms of two of them
differ by less than their rounding. So constants that cancel are left out, and everything else is computed as a
logarithm from the start.
"""

from typing import NamedTuple

import numpy as np

from explorer.engine.mechanisms import Mechanism
from explorer.engine.mechanisms.interval import Interval

#: Between its least and its largest, answers are tried at so many places.
_PLACES = 4001
#: A density below this share of the largest may owe its leading digits to rounding, as 1 - truth does.
_WELL_KNOWN = 1e-6
#: What rounding may add to the log-ratio of two densities that are well known.
_ROUNDING = 1e-9


class Certificate(NamedTuple):
    """The largest log-ratio ``log p(y|x) - log p(y|x')`` of an answer, and where it is reached."""

    epsilon: float
    y: float
    x: float
    other: float


def certificate(release: Mechanism, interval: Interval) -> Certificate:
    """The supremum over answers and pairs of values, and where it is reached.

    The densities given x depend on the clipped x alone, and are piecewise monotone in it and in y: the supremum is at
    an end of the interval or where a density jumps. Values outside show a clip that is forgotten. Raises ValueError for
    the gaussian mechanism, which has no supremum.
    """
    interval = Interval.of(interval)
    if not release.pure:
        raise ValueError(f"the {release.name} mechanism has no finite log-ratio: it is (epsilon, delta)-private")
    with np.errstate(all="ignore"):  # of an interval so wide or so narrow that its scale is infinite or 0
        outside = np.nan_to_num([interval.left - interval.width, interval.right + interval.width])
        values = np.array([*interval, interval.midpoint, *outside])
        y = _answers(release, values, interval)
        ratio = _log_ratios(release, y, values, interval)
    i, j, k = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    return Certificate(float(ratio[i, j, k]), float(y[k]), float(values[i]), float(values[j]))


def _answers(release: Mechanism, values: np.ndarray, interval: Interval) -> np.ndarray:
    """The answers to look at."""
    if release.answers is not None:
        return np.asarray(release.answers, dtype=float)
    low, high = release.support(interval)
    reach = interval.width if np.isinf(high) else 0.0
    low, high = max(low, interval.left - reach), min(high, interval.right + reach)
    low, high = np.nan_to_num([low, high])
    share = np.linspace(0, 1, _PLACES)
    y = np.concatenate([values, low * (1 - share) + high * share])
    y = np.append(y, np.clip(release.jumps(values, interval), low, high))  # between which no grid may have a point
    return y[np.isfinite(y - interval.left) & np.isfinite(y - interval.right)]


def _log_ratios(release: Mechanism, y: np.ndarray, values: np.ndarray, interval: Interval) -> np.ndarray:
    """log p(y|x) - log p(y|x') for all pairs of values, shape (values, values, answers); -inf where y is impossible."""
    density = np.array([release.density(y, x, interval) for x in values])
    ratio = _differences(np.log(density))
    exact = [release.log_density(y, x, interval) for x in values]
    if exact[0] is not None:
        # The logarithms are those of the density that is coded, which is seen wherever rounding leaves it alone.
        known = np.isfinite(density) & (density > max(_WELL_KNOWN * density.max(), np.finfo(float).tiny))
        known = known[:, None] & known[None, :]
        logs = _differences(np.array(exact))
        ratio = np.where(known & (np.abs(ratio - logs) > _ROUNDING), ratio, logs)
    return np.where(np.isnan(ratio), -np.inf, ratio)


def _differences(logs: np.ndarray) -> np.ndarray:
    return logs[:, None] - logs[None, :]
