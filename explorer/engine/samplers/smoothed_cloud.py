"""A cloud of particles, smoothed into a density that one can draw from: the proposals of the samplers' moves.

A mixture of Student kernels around some of the particles, drawn towards the mean so that the mixture has the
cloud's covariance (Liu & West 2001). It follows the cloud's shape, also where it is bent or has two humps, and its
tails are heavier than those of a posterior. In two dimensions a Student density with an even number of degrees of
freedom is a whole power, so the mixture's density is plain arithmetic that the compiler vectorises.
"""

import math

import numpy as np

from explorer.engine.compiled import kernel
from explorer.engine.samplers.resampling import systematic

_CENTRES = 128
_DF = 6


class SmoothedCloud:
    """The density fitted to weighted points of shape (N, 2); no standard deviation is below ``floor``."""

    def __init__(self, rng: np.random.Generator, points: np.ndarray, weights: np.ndarray, floor: np.ndarray) -> None:
        self._mean = weights @ points
        centred = points - self._mean
        covariance = (centred * weights[:, None]).T @ centred
        self._root = _cholesky(covariance, floor)
        self._inverse = _inverse(self._root)
        size = min(_CENTRES, len(points))
        chosen = systematic(rng, weights, size)
        bandwidth = size ** (-1 / 6)  # the rule for two dimensions
        self._centres = np.ascontiguousarray((centred[chosen] @ self._inverse.T).T) * math.sqrt(1 - bandwidth**2)
        self._scale = bandwidth * math.sqrt((_DF - 2) / _DF) if size > 1 else 1.0

    def draw(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """Independent draws, shape (size, 2)."""
        # The first numbers of a stream belong to the first particles, however many there are.
        uniform = rng.random((size, 4))
        centre = (uniform[:, 0] * self._centres.shape[1]).astype(np.int64)
        angle = 2 * math.pi * uniform[:, 1]
        # |t|^2 / 2 of a bivariate Student variable is F(2, df)-distributed, which inverts in closed form
        radius = np.sqrt(_DF * ((1 - uniform[:, 2]) ** (-2 / _DF) - 1)) * self._scale
        whitened = self._centres[:, centre] + radius * np.stack([np.cos(angle), np.sin(angle)])
        return self._mean + whitened.T @ self._root.T

    def log_density(self, points: np.ndarray) -> np.ndarray:
        """Up to a constant."""
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
    out = np.zeros(x.size)
    factor = 1 / (_DF * scale * scale)
    for k in range(centre_x.size):
        for i in range(x.size):
            dx, dy = x[i] - centre_x[k], y[i] - centre_y[k]
            square = 1 / (1 + (dx * dx + dy * dy) * factor)
            square *= square
            out[i] += square * square  # (df + 2)/2 = 4
    return out
