"""Checks of what callers hand in: one sentence that names the argument, its value and what is allowed.

Every public function of the engine checks its arguments here before it computes,
so that a wrong value is told at the door and never becomes a NaN further in::

    epsilon = positive("epsilon", epsilon)
"""

import math
from collections.abc import Iterable

import numpy as np


def positive(name: str, value: float) -> float:
    """A finite number above zero."""
    number = _number(name, value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")
    return number


def finite(name: str, value: float) -> float:
    """A finite number."""
    number = _number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {value!r}")
    return number


def probability(name: str, value: float) -> float:
    """A number strictly between 0 and 1."""
    number = _number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return number


def generator(name: str, value) -> np.random.Generator:
    """A NumPy generator of random numbers."""
    if not isinstance(value, np.random.Generator):
        raise ValueError(f"{name} must be a numpy.random.Generator, got {value!r}")
    return value


def seeded(name: str, value) -> np.random.Generator:
    """A new generator from a seed: None, a whole number or what NumPy takes beside that."""
    try:
        return np.random.default_rng(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be None or a whole number that is not negative, got {value!r}") from None


def seed_sequence(name: str, value) -> np.random.SeedSequence:
    """What independent streams of random numbers are made from."""
    if isinstance(value, np.random.SeedSequence):
        # Spawning counts up in the object itself: with one of our own, the same seed gives the same streams again.
        return np.random.SeedSequence(value.entropy, spawn_key=value.spawn_key, pool_size=value.pool_size)
    if value is not None:
        whole(name, value, 0)
    return np.random.SeedSequence(value)


def whole(name: str, value: int, least: int) -> int:
    """A whole number that is at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def finite_array(name: str, value) -> np.ndarray:
    """An array of finite numbers, as float64."""
    array = _array(name, value)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got {_culprit(array, ~np.isfinite(array))}")
    return array


def positive_array(name: str, value) -> np.ndarray:
    """An array of finite numbers above zero, as float64."""
    array = _array(name, value)
    wrong = ~(np.isfinite(array) & (array > 0))
    if np.any(wrong):
        raise ValueError(f"{name} must be finite and above 0, got {_culprit(array, wrong)}")
    return array


def ordered_arrays(names: tuple[str, str], low, high) -> tuple[np.ndarray, np.ndarray]:
    """Two broadcastable arrays of finite numbers, the first below the second everywhere."""
    low, high = finite_array(names[0], low), finite_array(names[1], high)
    common_shape(dict(zip(names, (low, high), strict=True)))
    wrong = ~(low < high)
    if np.any(wrong):
        where = np.broadcast_arrays(low, high)
        pair = tuple(float(side[wrong].flat[0]) for side in where)
        raise ValueError(f"{names[0]} must be below {names[1]}, got {names[0]}={pair[0]:g} and {names[1]}={pair[1]:g}")
    return low, high


def common_shape(arrays: dict[str, np.ndarray]) -> tuple[int, ...]:
    """The shape to which all of them broadcast."""
    try:
        return np.broadcast_shapes(*(array.shape for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the arguments' shapes must fit together, got {shapes}") from None


def secret_array(name: str, value) -> np.ndarray:
    """The same for values that nobody may see: no message holds one of them."""
    if np.ma.is_masked(value):
        raise ValueError(f"{name} must have no masked elements: leave those people out")
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number or an array of numbers") from None
    wrong = np.count_nonzero(~np.isfinite(array))
    if wrong or value is None:
        raise ValueError(f"{name} must be finite numbers, and {wrong} of {array.size} are not")
    return array


def one_of(name: str, value, known: Iterable[str]) -> str:
    """One of the known names."""
    known = list(known)
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, got {value!r}")
    return value


def _number(name: str, value) -> float:
    if isinstance(value, str | bool):
        raise ValueError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, got {value!r}") from None


def _array(name: str, value) -> np.ndarray:
    if value is None:
        raise ValueError(f"{name} must be a number or an array of numbers, got None")
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number or an array of numbers, got {value!r}") from None


def _culprit(array: np.ndarray, wrong: np.ndarray) -> str:
    return f"{float(array[wrong].flat[0]):g}"
