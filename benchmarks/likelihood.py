"""The vectorised normal-Laplace kernel against SciPy's closed form and against the kernel that serves every family."""

import numpy as np
from scipy import special

import explorer as ex
from benchmarks.timing import line, seconds
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.mechanisms.additive import AdditiveMechanism

PARTICLES, ANSWERS = 1000, 200


def run(small: bool = False) -> None:
    rng = np.random.default_rng(1)
    family, mechanism = ex.family("normal"), ex.mechanism("laplace", 1.0)
    mu, sigma = 50 + rng.normal(0, 0.3, PARTICLES), 3.2 * np.exp(rng.normal(0, 0.1, PARTICLES))
    left = 50 - 0.22 + rng.normal(0, 0.3, ANSWERS)
    right = left + 0.44
    y = left + rng.laplace(0.2, 0.44, ANSWERS)
    arguments = y, left, right, mu, sigma
    fast = seconds(lambda: total_log_likelihood(*arguments, family, mechanism))
    general = seconds(lambda: AdditiveMechanism.total(mechanism, family, *arguments))
    scipy_ = seconds(lambda: _with_scipy(*arguments, 1.0), 3)
    work = PARTICLES * ANSWERS
    difference = np.abs(total_log_likelihood(*arguments, family, mechanism) - _with_scipy(*arguments, 1.0)).max()
    line(
        "likelihood, one particle x answer, vectorised kernel",
        f"{fast / work * 1e9:.0f} ns",
        "<= 60 ns",
        fast / work < 60e-9,
    )
    line("  against the same closed form in SciPy", f"{scipy_ / fast:.1f}x", ">= 4x", scipy_ / fast >= 4)
    line("  against the kernel for every family", f"{general / fast:.1f}x", ">= 4x", general / fast >= 4)
    line("  difference from SciPy's, summed over the answers", f"{difference:.1e}", "<= 1e-9", difference <= 1e-9)


def _with_scipy(y, left, right, mu, sigma, epsilon) -> np.ndarray:
    y, left, right = y[:, None], left[:, None], right[:, None]
    scale = (right - left) / epsilon
    inside = np.clip(y, left, right)
    s = sigma / scale

    def smoothed(t):
        bell = np.exp(-0.5 * t * t)
        tail = 0.5 * special.erfcx(np.abs(s - t) / np.sqrt(2)) * bell
        return np.where(s >= t, tail, np.exp(np.minimum(-s * (t - 0.5 * s), 0)) - tail)

    alpha, beta, gamma = ((end - mu) / sigma for end in (left, right, inside))
    p = smoothed(gamma) + smoothed(-gamma)
    p += np.exp((left - inside) / scale) * (special.ndtr(alpha) - smoothed(alpha))
    p += np.exp((inside - right) / scale) * (special.ndtr(-beta) - smoothed(-beta))
    return np.sum(np.log(p / (2 * scale)) - np.abs(y - inside) / scale, axis=0)
