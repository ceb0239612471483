"""How the next interval is chosen."""

import numpy as np
import pytest

import explorer as ex
from explorer.engine.policy import policy

FAMILY, MECHANISM = ex.family("normal"), ex.mechanism("laplace", 2.0)


def cloud(mu, sigma, weights=None):
    mu, sigma = np.broadcast_arrays(np.asarray(mu, float), np.asarray(sigma, float))
    weights = np.full(mu.size, 1 / mu.size) if weights is None else np.asarray(weights, float)
    return ex.Posterior(np.stack([mu.ravel(), sigma.ravel()], axis=1), weights, 0.0)


def test_thompson_places_the_best_interval_around_a_particle_drawn_by_weight():
    a, b, _ = ex.best_interval(2.0)
    posterior = cloud([3.0, 1.0, 2.0], [0.5, 1.0, 2.0], [0.2, 0.5, 0.3])
    chosen = policy("thompson", FAMILY, MECHANISM)
    drawn = [chosen.choose(posterior, u).midpoint for u in (np.arange(1000) + 0.5) / 1000]
    values, counts = np.unique(np.round(drawn, 9), return_counts=True)
    np.testing.assert_allclose(values, [1, 2, 3], atol=1e-9)  # the interval is symmetric: its midpoint is mu
    np.testing.assert_allclose(counts / 1000, [0.5, 0.3, 0.2], atol=1e-3)
    np.testing.assert_allclose(chosen.choose(posterior, 0.6), [2 + 2 * a, 2 + 2 * b])
    assert list(drawn) == sorted(drawn)  # close uniform numbers give close draws


def test_a_particle_without_weight_is_never_drawn():
    posterior = cloud([1.0, 2.0, 3.0], 1.0, [0.0, 1.0, 0.0])
    chosen = policy("thompson", FAMILY, MECHANISM)
    for u in (0.0, 0.5, 1 - 2**-53):
        assert chosen.choose(posterior, u).midpoint == pytest.approx(2)


def test_intervals_that_are_not_symmetric_stay_so():
    a, b, _ = ex.best_interval(2.0, score="trace")
    assert a > 0
    interval = policy("plug_in", FAMILY, MECHANISM, "trace").choose(cloud(5.0, 2.0), 0.3)
    np.testing.assert_allclose(interval, [5 + 2 * a, 5 + 2 * b])


def test_plug_in_uses_the_posterior_mean():
    interval = policy("plug_in", FAMILY, MECHANISM).choose(cloud([0.0, 4.0], [1.0, 3.0]), 0.9)
    a, b, _ = ex.best_interval(2.0)
    np.testing.assert_allclose(interval, [2 + 2 * a, 2 + 2 * b])


@pytest.mark.parametrize("name", ["laplace", "piecewise", "randomized_response"])
def test_pseudo_bayesian_maximises_the_average_score(name):
    rng = np.random.default_rng(1)
    posterior = cloud(rng.normal(3, 1.5, 2000), np.exp(rng.normal(0, 0.3, 2000)))
    mechanism = ex.mechanism(name, 2.0)
    chosen = policy("pseudo_bayesian", FAMILY, mechanism).choose(posterior, 0.0)
    mu, sigma = posterior.particles.T

    def average(left, right):
        scores = ex.fisher_information((left - mu) / sigma, (right - mu) / sigma, 2.0, mechanism=mechanism)[:, 0, 0]
        return np.mean(scores / sigma**2)

    middles, halves = np.linspace(0, 6, 13), np.geomspace(0.1, 6, 13)
    best = max(average(m - h, m + h) for m in middles for h in halves)
    # Some particles stand for all, which costs a little.
    assert average(*chosen) > 0.98 * best
    sure = policy("thompson", FAMILY, mechanism).choose(posterior, 0.95)
    assert average(*chosen) > 1.2 * average(*sure)


def test_pseudo_bayesian_is_the_best_interval_when_all_is_known():
    a, b, _ = ex.best_interval(2.0)
    interval = policy("pseudo_bayesian", FAMILY, MECHANISM).choose(cloud(np.full(50, 5.0), 2.0), 0.0)
    found = ex.fisher_information(*((np.array(interval) - 5) / 2), 2.0)[0, 0]
    assert found == pytest.approx(ex.fisher_information(a, b, 2.0)[0, 0], rel=1e-4)


def test_fixed_and_oracle():
    posterior = cloud([1.0, 2.0], 1.0)
    assert policy("fixed", FAMILY, MECHANISM, interval=(1, 2)).choose(posterior, 0.2) == ex.Interval(1, 2)
    a, b, _ = ex.best_interval(2.0)
    oracle = policy("oracle", FAMILY, MECHANISM, truth=(50.0, 3.0))
    np.testing.assert_allclose(oracle.choose(posterior, 0.2), [50 + 3 * a, 50 + 3 * b])
    mine = ex.Fixed(ex.Interval(0, 1))
    assert policy(mine, FAMILY, MECHANISM) is mine


def test_the_search_is_done_once(monkeypatch):
    from explorer.engine.information import optimum

    mechanism = ex.mechanism("laplace", 2.345)
    policy("thompson", FAMILY, mechanism)

    def again(*arguments):
        raise AssertionError("searched again")

    monkeypatch.setattr(optimum, "_best_interval", again)
    policy("thompson", ex.family("normal"), ex.mechanism("laplace", 2.345))
    policy("oracle", FAMILY, mechanism, truth=(0, 1))


@pytest.mark.parametrize("sigma", [1e-300, 1e-100, 1e-20, 1e100])
@pytest.mark.parametrize("mu", [0.0, 50.0, -1e12])
def test_an_interval_is_one_even_at_the_edge_of_the_floating_point_range(mu, sigma):
    interval = policy("thompson", FAMILY, MECHANISM).choose(cloud(mu, sigma), 0.5)
    assert interval.left < interval.right
    assert interval.left <= mu <= interval.right


@pytest.mark.parametrize("name", ["thompson", "plug_in", "pseudo_bayesian", "oracle", "fixed"])
def test_every_policy_makes_a_run(name):
    trace = ex.simulate(50, 3, 40, 5.0, policy=name, particles=300, seed=2, prior=ex.SemiConjugatePrior(45, 100))
    assert len(trace) == 40
    if name != "fixed":
        assert abs(trace.mean[-1, 0] - 50) < 3
    widths = trace.right - trace.left
    assert (np.ptp(widths) == 0) == (name in ("oracle", "fixed"))


def test_a_registered_policy_is_made_by_its_name():
    from explorer.engine.policy import POLICIES, register

    @register
    class Zero(ex.Policy):
        name = "zero"

        def choose(self, posterior, uniform):
            return ex.Interval(-1.0, 1.0)

    try:
        trace = ex.simulate(mu=0, sigma=1, n=3, particles=20, policy="zero", seed=1)
    finally:
        del POLICIES["zero"]
    assert set(trace.left) == {-1.0}
