"""Resampling: which particle each new one descends from.

Multinomial is the paper's; the others give every particle its expected number of offspring more closely.
"""

from collections.abc import Callable

import numpy as np


def multinomial(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Independent draws."""
    return _invert(weights, rng.random(weights.size))


def systematic(rng: np.random.Generator, weights: np.ndarray, size: int | None = None) -> np.ndarray:
    """One uniform number, and even steps from it."""
    size = weights.size if size is None else size
    return _invert(weights, (np.arange(size) + rng.random()) / size)


def stratified(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """One uniform number in each of N equal strata."""
    return _invert(weights, (np.arange(weights.size) + rng.random(weights.size)) / weights.size)


def residual(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """The whole part of each expected number of offspring for certain, the rest by multinomial draws."""
    expected = weights.size * weights / weights.sum()
    certain = np.floor(expected).astype(np.int64)
    ancestors = np.repeat(np.arange(weights.size), certain)
    missing = weights.size - ancestors.size
    if missing == 0:
        return ancestors
    return np.concatenate([ancestors, _invert(expected - certain, rng.random(missing))])


def _invert(weights: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    cumulative = np.cumsum(weights)
    at = np.searchsorted(cumulative, uniform * cumulative[-1], side="right")
    return np.minimum(at, weights.size - 1)  # rounding may leave the last uniform number beyond the last weight


RESAMPLING: dict[str, Callable[[np.random.Generator, np.ndarray], np.ndarray]] = {
    function.__name__: function for function in (multinomial, systematic, stratified, residual)
}
