"""A cloud of particles, smoothed into a density that one can draw from: the proposals of the samplers' moves.

A mixture of Student kernels. Most of it follows the cloud's shape, also where that is bent or has two humps: kernels
around some of the particles, drawn towards the mean so that together they have the cloud's covariance (Liu & West
2001). The rest is one wide kernel around the mean. Some hundred particles say little about a posterior's tails, and a
proposal that is thin there would cut them off, more and more with every move.

In two dimensions a Student density with an even number of degrees of freedom is a whole power, so the mixture's density
is plain arithmetic that the compiler vectorises.
"""

import math

import numpy as np

from explorer.engine.compute.compiled import inlined, kernel
from explorer.engine.inference.resampling import systematic

_CENTRES = 128
_DF = 6
#: The wide kernel's share, and its scale in units of the cloud's standard deviation.
_WIDE_SHARE, _WIDE_SCALE = 0.25, 1.6


class SmoothedCloud:
    """The density fitted to weighted points of shape (N, 2); no standard deviation is below ``floor``."""

    def __init__(self, rng: np.random.Generator, points: np.ndarray, weights: np.ndarray, floor: np.ndarray) -> None:
        # Not by matrix products, whose last digits may depend on the number of threads.
        self._mean = np.einsum("n,nk->k", weights, points)
        centred = points - self._mean
        covariance = np.einsum("n,nj,nk->jk", weights, centred, centred)
        self._root = _cholesky(covariance, floor)
        self._inverse = _inverse(self._root)
        size = min(_CENTRES, len(points))
        bandwidth = size ** (-1 / 6)  # the usual one in two dimensions
        chosen = centred[systematic(rng, weights, size)] @ self._inverse.T
        self._centres = np.ascontiguousarray(chosen.T) * math.sqrt(1 - bandwidth**2)
        self._scale = bandwidth * math.sqrt((_DF - 2) / _DF)

    @property
    def log_constant(self) -> float:
        """What is missing from ``log_density``."""
        return math.log(_DF / (2 * math.pi)) - math.log(self._root[0, 0] * self._root[1, 1])

    def draw(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Independent draws, shape (size, 2)."""
        # The first numbers of a stream belong to the first particles, however many there are.
        which, turn, distance = rng.random((size, 3)).T
        wide = which < _WIDE_SHARE
        centre = ((which - _WIDE_SHARE) / (1 - _WIDE_SHARE) * self._centres.shape[1]).astype(np.int64)
        at = np.where(wide, 0.0, self._centres[:, np.maximum(centre, 0)])
        # |t|^2 / 2 of a bivariate Student variable is F(2, df)-distributed, whose quantiles have a closed form.
        radius = np.sqrt(_DF * ((1 - distance) ** (-2 / _DF) - 1)) * np.where(wide, _WIDE_SCALE, self._scale)
        whitened = at + radius * np.stack([np.cos(2 * math.pi * turn), np.sin(2 * math.pi * turn)])
        return self._mean + whitened.T @ self._root.T

    def walk(self, rng: np.random.Generator, points: np.ndarray) -> np.ndarray:
        """Steps from the points, as likely as their opposites: some as wide as the cloud, some a thousandth of that."""
        size = 10 ** (-3 * rng.random((len(points), 1)))
        return points + size * rng.standard_normal(points.shape) @ self._root.T

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Up to ``log_constant``."""
        whitened = np.ascontiguousarray(((points - self._mean) @ self._inverse.T).T)
        return np.log(_mixture(whitened[0], whitened[1], self._centres[0], self._centres[1], self._scale))


def _cholesky(covariance: np.ndarray, floor: np.ndarray) -> np.ndarray:
    """A root of the covariance, with variances no smaller than ``floor**2`` and correlation clearly below 1."""
    sd = np.sqrt(np.maximum(np.diag(covariance), floor**2))
    correlation = np.clip(covariance[0, 1] / (sd[0] * sd[1]), -0.9999, 0.9999)
    return np.array([[sd[0], 0.0], [sd[1] * correlation, sd[1] * math.sqrt(1 - correlation**2)]])


def _inverse(root: np.ndarray) -> np.ndarray:
    a, c, d = root[0, 0], root[1, 0], root[1, 1]
    return np.array([[1 / a, 0.0], [-c / (a * d), 1 / d]])


@kernel
def _mixture(x, y, centre_x, centre_y, scale):
    out = np.empty(x.size)
    narrow, wide = 1 / (_DF * scale * scale), 1 / (_DF * _WIDE_SCALE * _WIDE_SCALE)
    for i in range(x.size):
        out[i] = _WIDE_SHARE * wide * _to_the_fourth(1 / (1 + (x[i] * x[i] + y[i] * y[i]) * wide))
    share = (1 - _WIDE_SHARE) / centre_x.size * narrow
    for k in range(centre_x.size):
        for i in range(x.size):
            dx, dy = x[i] - centre_x[k], y[i] - centre_y[k]
            out[i] += share * _to_the_fourth(1 / (1 + (dx * dx + dy * dy) * narrow))
    return out


@inlined
def _to_the_fourth(x):  # (df + 2)/2 = 4
    square = x * x
    return square * square
