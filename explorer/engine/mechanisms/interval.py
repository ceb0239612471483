"""The truncation interval ``[l, r]`` that an individual clips to.

>>> left, right = Interval(-1, 2)
>>> Interval(-1, 2).clip([-5.0, 0.5, 5.0])
array([-1. ,  0.5,  2. ])
"""

import math
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import ordered_arrays


class _Pair(NamedTuple):
    left: float
    right: float


class Interval(_Pair):
    """An immutable pair ``left < right`` of finite numbers that unpacks."""

    __slots__ = ()

    def __new__(cls, left: float, right: float) -> "Interval":
        if type(left) is type(right) is float and left < right and right - left < math.inf:
            return super().__new__(cls, left, right)  # the common case, without the arrays below
        left, right = ordered_arrays(("left", "right"), left, right)
        if left.ndim or right.ndim:
            raise ValueError(f"an Interval takes two numbers, got arrays of shape {left.shape} and {right.shape}")
        with np.errstate(over="ignore"):
            width = right - left
        if not np.isfinite(width):
            raise ValueError(f"right - left must be finite, got left={left:g} and right={right:g}")
        return super().__new__(cls, float(left), float(right))

    @classmethod
    def _make(cls, pair) -> "Interval":
        return cls(*pair)  # also behind _replace: the checks hold for every way to make one

    @classmethod
    def of(cls, pair) -> "Interval":
        """An Interval, or any pair of numbers as one."""
        if isinstance(pair, cls):
            return pair
        try:
            left, right = pair
        except (TypeError, ValueError):
            raise ValueError(f"interval must be a pair of numbers, got {pair!r}") from None
        return cls(left, right)

    @property
    def width(self) -> float:
        """The sensitivity ``r - l`` of the clipped value."""
        return self.right - self.left

    @property
    def midpoint(self) -> float:
        return self.left + self.width / 2

    def clip(self, x):
        """The paper's ``T_l^r(x)``."""
        return np.minimum(np.maximum(x, self.left), self.right)
