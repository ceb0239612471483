"""What samplers are made of: resampling, weights, the smoothed cloud, the posterior's summaries, latent kernels."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

import explorer as ex
from explorer.engine.compute.compiled import log_release
from explorer.engine.inference.resampling import RESAMPLING
from explorer.engine.inference.samplers.smoothed_cloud import SmoothedCloud
from explorer.engine.inference.weighting import largest_exponent, reweight


@pytest.mark.parametrize("name", RESAMPLING)
def test_offspring_are_as_many_as_weights_say(name):
    weights = np.array([0.05, 0.0, 0.35, 0.25, 0.35])
    rng = np.random.default_rng(1)
    counts = np.array([np.bincount(RESAMPLING[name](rng, weights), minlength=5) for _ in range(4000)])
    assert np.all(counts.sum(axis=1) == 5)
    np.testing.assert_allclose(counts.mean(axis=0), 5 * weights, atol=0.05)
    assert np.all(counts[:, 1] == 0)
    if name in ("systematic", "residual"):  # nobody gets fewer than the whole part of what is expected
        assert np.all(counts >= np.floor(5 * weights))
    if name == "systematic":
        assert np.all(counts <= np.ceil(5 * weights))
    if name == "multinomial":
        np.testing.assert_allclose(counts.var(axis=0), 5 * weights * (1 - weights), atol=0.1)


@pytest.mark.parametrize("name", RESAMPLING)
def test_resampling_at_the_edges(name):
    rng = np.random.default_rng(1)
    assert RESAMPLING[name](rng, np.array([1.0])).tolist() == [0]
    assert RESAMPLING[name](rng, np.array([0.0, 0.0, 1.0])).tolist() == [2, 2, 2]
    even = RESAMPLING[name](rng, np.full(7, 1 / 7))
    assert even.size == 7


def test_reweighting_far_below_underflow():
    rng = np.random.default_rng(1)
    gain = rng.normal(-10_000, 3, 50)  # known to about 1e-12
    log_weights = np.log(rng.dirichlet(np.ones(50)))
    out, weights, log_sum, ess = reweight(log_weights, gain, 1.0)
    np.testing.assert_allclose(log_sum, special.logsumexp(log_weights + gain), rtol=1e-14)
    np.testing.assert_allclose(out, log_weights + gain - log_sum, atol=1e-9)
    np.testing.assert_allclose(weights, np.exp(out), rtol=1e-11)
    assert ess == pytest.approx(1 / np.sum(weights**2))


def test_reweighting_where_some_or_all_have_nothing():
    even = np.log(np.full(3, 1 / 3))
    _, weights, log_sum, _ = reweight(even, np.array([-np.inf, 0.0, np.nan]), 1.0)
    np.testing.assert_allclose(weights, [0, 1, 0], atol=1e-200)
    assert log_sum == pytest.approx(math.log(1 / 3))
    assert reweight(even, np.full(3, -np.inf), 1.0)[2] == -np.inf


def test_the_largest_exponent_keeps_an_effective_sample():
    gain = np.linspace(-500, 0, 200)
    even = np.log(np.full(200, 1 / 200))
    exponent = largest_exponent(even, gain, 20.0)
    assert 0 < exponent < 1
    assert reweight(even, gain, exponent)[3] == pytest.approx(20, rel=1e-6)
    assert largest_exponent(even, 1e-3 * gain, 20.0) == 1


def test_a_smoothed_cloud_draws_what_its_density_says():
    rng = np.random.default_rng(1)
    points = np.stack([rng.normal(5, 2, 400), rng.normal(0, 0.3, 400)], axis=1)
    points[:, 1] += 0.1 * (points[:, 0] - 5) ** 2  # bent
    cloud = SmoothedCloud(rng, points, np.full(400, 1 / 400), np.full(2, 1e-9))
    draws = cloud.draw(rng, 40_000)

    def density(y, x):
        return float(np.exp(cloud.log_density(np.array([[x, y]])))[0])

    whole, _ = integrate.dblquad(density, -60, 70, -60, 60, epsabs=1e-3)
    for low, high in (((4, 6), (-0.5, 0.5)), ((7, 9), (0.5, 2)), ((5, 15), (-20, 0))):
        mass, _ = integrate.dblquad(density, low[0], low[1], high[0], high[1], epsabs=1e-6)
        inside = np.all((draws > [low[0], high[0]]) & (draws < [low[1], high[1]]), axis=1)
        assert inside.mean() == pytest.approx(mass / whole, abs=4 * math.sqrt(0.25 / 40_000) + 0.003)


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.zeros((5, 2)), np.arange(10.0).repeat(2).reshape(10, 2)])
def test_a_cloud_that_has_collapsed_can_still_spread(points):
    rng = np.random.default_rng(1)
    weights = np.full(len(points), 1 / len(points))
    cloud = SmoothedCloud(rng, points, weights, np.array([0.1, 0.2]))
    draws = cloud.draw(rng, 500)
    assert np.all(np.isfinite(draws))
    assert np.all(draws.std(axis=0) > 0.05)
    assert np.all(np.isfinite(cloud.log_density(draws)))


def test_summaries_of_weighted_particles():
    rng = np.random.default_rng(1)
    particles, weights = rng.normal(size=(300, 2)), rng.dirichlet(np.ones(300))
    posterior = ex.Posterior(particles, weights, -3.0)
    mean = weights @ particles
    np.testing.assert_allclose(posterior.mean, mean)
    np.testing.assert_allclose(posterior.sd, np.sqrt(weights @ (particles - mean) ** 2))
    assert posterior.ess == pytest.approx(1 / np.sum(weights**2))
    quantiles = posterior.quantiles([[0.1, 0.5], [0.9, 1.0]])
    assert quantiles.shape == (2, 2, 2)
    for level, value in ((0.1, quantiles[0, 0]), (0.9, quantiles[1, 0])):
        for column in (0, 1):
            below = weights[particles[:, column] < value[column]].sum()
            up_to = weights[particles[:, column] <= value[column]].sum()
            assert below < level <= up_to + 1e-12
    with pytest.raises(ValueError, match="q must lie between 0 and 1"):
        posterior.quantiles([0.5, 1.5])
    with pytest.raises(ValueError, match="q must lie between 0 and 1"):
        posterior.quantiles(np.nan)


@pytest.mark.parametrize("name", ex.MECHANISMS)
def test_the_density_of_an_answer_given_a_value(name):
    """The samplers' kernel is the mechanism's own density."""
    mechanism, interval = ex.mechanism(name, 1.7), ex.Interval(-1.0, 2.0)
    rng = np.random.default_rng(1)
    for x in (-3.0, -1.0, 0.3, 1.9, 5.0):
        for y in mechanism.release(np.full(40, x), interval, rng):
            expected = math.log(mechanism.density(y, x, interval))
            assert log_release(*mechanism.release_code, y, x, *interval) == pytest.approx(expected, abs=1e-12)


def test_the_population_of_a_run_has_its_distribution():
    trace = ex.simulate(5, 2, 2000, 5.0, particles=2, seed=1, family="logistic", policy="fixed")
    assert stats.kstest(trace.x, stats.logistic(5, 2).cdf).pvalue > 0.001
    noise = (trace.y - np.clip(trace.x, trace.left, trace.right)) * 5 / (trace.right - trace.left)
    assert stats.kstest(noise, stats.laplace.cdf).pvalue > 0.001
