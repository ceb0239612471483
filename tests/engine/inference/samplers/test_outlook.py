"""A sampler that notices when it is lost: truths anywhere in the prior, intervals far from every particle."""

from functools import partial

import numpy as np
import pytest
from lost_runs import Found, found

import explorer as ex
from explorer.engine.inference.samplers.outlook import next_look


@pytest.mark.parametrize("mechanism", ["laplace", "randomized_response", "piecewise", "gaussian"])
def test_no_run_ends_with_the_prior(pool, mechanism):
    """Against quadrature: fixed intervals around truths from the prior. ``python -m tests.fuzz`` does 3000."""
    seeds = range(4 if mechanism == "gaussian" else 40)  # whose likelihood is the slowest
    runs: list[Found] = list(pool.map(partial(found, mechanism=mechanism, particles=1000), seeds))
    assert not any(run.lost for run in runs)
    assert max(abs(run.evidence_error) for run in runs) < 0.5
    assert max(abs(run.mean_error) for run in runs) < 0.5


def test_a_hundred_particles_find_it_or_say_that_they_are_lost(pool):
    runs: list[Found] = list(pool.map(partial(found, mechanism="laplace", particles=100), range(60)))
    assert not [run for run in runs if not run.lost and (abs(run.evidence_error) > 2 or abs(run.mean_error) > 1)]
    assert sum(run.lost for run in runs) < 3


def test_the_example_of_a_truth_four_deviations_away():
    """All particles lie below the interval: their weights stay even, and nothing would move them."""
    trace = ex.simulate(mu=400, sigma=5, n=500, epsilon=10, policy="fixed", seed=3, levels=(), keep=())
    assert abs(trace.mean[-1, 0] - 400.6) < 1.5
    assert not trace.lost[-1]


def test_when_it_looks_around():
    looks = [t for t in range(1, 600) if t == next_look(t - 1)]
    assert looks[:13] == [4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32]
    assert looks[13:] == [40, 48, 56, 64, 80, 96, 112, 128, 192, 256, 384, 512]


@pytest.mark.parametrize("seed", [4, 8, 10, 45])
def test_a_wide_prior_and_one_interval(seed):
    """A ridge of parameters explains yes and no equally well; particles on the wrong side of it must notice."""
    prior = ex.SemiConjugatePrior(0, 1e6, 1, 1)
    asked = {"policy": "fixed", "first_interval": (36.8377223398316, 56.8377223398316), "prior": prior}
    trace = ex.simulate(n=256, epsilon=2.0, mechanism="randomized_response", seed=seed, keep=(), levels=(0.5,), **asked)
    assert 45 < trace.quantiles[-1, 0, 0] < 55  # by quadrature: 48.7 to 51.5


def test_the_evidence_of_randomised_response_far_away():
    trace = ex.simulate(
        mu=300, sigma=3, n=150, epsilon=10, mechanism="randomized_response", policy="fixed", seed=1, levels=(), keep=()
    )
    settings = {"epsilon": 10.0, "mechanism": "randomized_response", "sampler": "grid"}
    grid = ex.OnlineEstimator(**settings)
    for y, left, right in zip(trace.y, trace.left, trace.right, strict=True):
        grid.observe(y, (left, right))
    assert trace.log_evidence[-1] == pytest.approx(grid.posterior.log_evidence, abs=0.5)


@pytest.mark.parametrize("seed", range(5))
def test_answers_far_from_where_the_prior_expects_them(seed):
    """With little noise each answer is a needle, and all particles may explain none but one of them."""
    far = {
        "mu": 50,
        "sigma": 600,
        "epsilon": 20.0,
        "mechanism": "piecewise",
        "prior": ex.SemiConjugatePrior(0, 1e4, 5, 500),
    }
    asked = {"n": 12, "policy": "fixed", "first_interval": (-10_000, 10_000), "seed": seed, "levels": (), "keep": ()}
    found, exact = (ex.simulate(**far, **asked, sampler=sampler) for sampler in ("marginal", "grid"))
    np.testing.assert_allclose(found.log_evidence[4:], exact.log_evidence[4:], atol=0.6)
    assert not found.lost[4:].any()


def test_a_surprise_between_two_looks():
    """The interval is so wide that every particle takes every answer for a lie."""
    far = {"mu": 506.497, "sigma": 649.36, "epsilon": 48.1705, "mechanism": "piecewise"}
    prior = ex.SemiConjugatePrior(16.85173, 251.19443**2, 5.13927, 474.17097)
    asked = {"n": 20, "policy": "oracle", "seed": 1106, "prior": prior, "levels": (), "keep": ()}
    found, exact = (ex.simulate(**far, **asked, sampler=sampler) for sampler in ("marginal", "grid"))
    np.testing.assert_allclose(found.log_evidence, exact.log_evidence, atol=0.7)


def test_looking_around_changes_nothing_where_nothing_is_lost(monkeypatch):
    """No random number is taken, no particle moved."""
    from explorer.engine.inference.samplers import marginal

    settings = {"n": 200, "epsilon": 2.0, "seed": 4, "particles": 300, "levels": ()}
    looked = ex.simulate(**settings)
    monkeypatch.setattr(marginal, "next_look", lambda answers: -1)
    np.testing.assert_array_equal(ex.simulate(**settings).particles, looked.particles)


def test_who_is_lost_says_so(monkeypatch, tmp_path):
    """If a new start finds nothing better, the posterior cannot be trusted, and everything says so."""
    from explorer.engine.inference.samplers import marginal

    for name in ("CLEARLY", "CLEARLY_REPEATED"):
        monkeypatch.setattr(marginal, name, np.inf)  # no new start is good enough
    trace = ex.simulate(mu=400, sigma=5, n=64, epsilon=10, policy="fixed", seed=3)
    assert trace.lost[-1]
    trace.save(tmp_path / "trace.npz")
    assert ex.Trace.load(tmp_path / "trace.npz").lost[-1]
    estimator = ex.OnlineEstimator(10.0, policy="fixed", first_interval=(350, 450), seed=3)
    for y in trace.y:
        estimator.observe(y)
    assert estimator.posterior.lost
    assert "lost" in repr(estimator.posterior)
    estimator.save(tmp_path / "estimator.npz")
    assert ex.OnlineEstimator.load(tmp_path / "estimator.npz").posterior.lost


@pytest.mark.parametrize(
    ("seed", "mechanism", "particles"),
    [(615, "laplace", 100), (230, "laplace", 100), (566, "randomized_response", 1000)],
)
def test_what_grows_between_two_looks_is_found(seed, mechanism, particles):
    """The same question again and again: the evidence for what was overlooked grows until somebody looks."""
    run = found(seed, mechanism=mechanism, particles=particles)
    assert abs(run.evidence_error) < 1
    assert abs(run.mean_error) < 1
