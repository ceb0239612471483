"""Simulation-based calibration: parameters from the prior, adaptive runs, and the ranks of the truth uniform."""

from functools import partial

import numpy as np
import pytest
from scipy import stats

import explorer as ex

#: Wide beside what 25 answers tell, but all of it within reach of intervals that adapt.
PRIOR = ex.SemiConjugatePrior(mean=3, variance=25, shape=3, scale=8)
BINS = 10


def ranks(pool, sampler: str, runs: int, **settings) -> np.ndarray:
    """The posterior probability below the true mu and sigma, for each run."""
    truths = PRIOR.sample(np.random.default_rng(7), runs).tolist()
    return np.array(list(pool.map(partial(_rank, sampler, settings), truths, range(runs), chunksize=20)))


def _rank(sampler: str, settings: dict, truth: list[float], run: int) -> np.ndarray:
    *_, last = ex.iter_simulation(*truth, n=25, prior=PRIOR, sampler=sampler, seed=run, **settings)
    return last.posterior.weights @ (last.posterior.particles < truth)


@pytest.mark.parametrize(
    ("sampler", "runs", "settings"),
    [
        ("marginal", 1000, {"epsilon": 5, "particles": 300}),
        ("marginal", 600, {"epsilon": 3, "mechanism": "piecewise", "score": "trace", "particles": 300}),
        ("resample_move", 600, {"epsilon": 5, "particles": 300}),
        ("resample_move", 400, {"epsilon": 3, "mechanism": "piecewise", "score": "trace", "particles": 300}),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_ranks_are_uniform(pool, sampler, runs, settings):
    found = ranks(pool, sampler, runs, **settings)
    for column in (0, 1):
        counts = np.histogram(found[:, column], bins=BINS, range=(0, 1))[0]
        assert stats.chisquare(counts).pvalue > 0.001, counts
        assert stats.kstest(found[:, column], "uniform").pvalue > 0.001
        # So the 95 % interval holds the truth in 95 % of the runs, within the error of a binomial count.
        covered = np.mean((found[:, column] > 0.025) & (found[:, column] < 0.975))
        assert abs(covered - 0.95) < 3 * np.sqrt(0.95 * 0.05 / runs)


def test_the_ranks_would_show_too_little_noise():
    """The test has teeth: individuals who add a third of the noise that the likelihood believes in are found out."""
    found = []
    for run, (mu, sigma) in enumerate(PRIOR.sample(np.random.default_rng(7), 400)):
        rng = np.random.default_rng(run)
        estimator = ex.OnlineEstimator(1.0, prior=PRIOR, particles=300, seed=run)
        for _ in range(25):
            interval = estimator.interval
            estimator.observe(float(interval.clip(rng.normal(mu, sigma)) + rng.laplace(0, interval.width / 3)))
        found.append(estimator.posterior.weights @ (estimator.posterior.particles[:, 0] < mu))
    assert stats.kstest(found, "uniform").pvalue < 1e-4
