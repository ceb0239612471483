"""The score of an information matrix: the paper's ``sc``, which a question is to maximise."""

from collections.abc import Callable

import numpy as np

from explorer.engine.compute.arguments import finite_array, one_of

Score = str | tuple[float, float] | Callable[[np.ndarray], np.ndarray]

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
