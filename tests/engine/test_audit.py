"""The audit finds nothing where there is nothing, and each of the slips that people make."""

import json

import numpy as np
import pytest
from scipy import stats

import explorer as ex
from explorer.cli import main
from explorer.engine.audit import _bound, certificate

INTERVAL = ex.Interval(-1.0, 2.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", ["laplace", "randomized_response", "piecewise"])
def test_the_exact_epsilon_is_the_claimed_one_and_its_place_is_true(name, epsilon):
    mech = ex.mechanism(name, epsilon)
    found = certificate(mech, INTERVAL)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-12)
    ratio = mech.density(found.y, found.x, INTERVAL) / mech.density(found.y, found.other, INTERVAL)
    assert np.log(ratio) == pytest.approx(found.epsilon)
    # No answer and no pair of values does more.
    rng = np.random.default_rng(1)
    x, other = rng.uniform(-4, 5, (2, 2000))
    y = mech.release(x, INTERVAL, rng)
    ratios = np.log([mech.density(*three, INTERVAL) for three in zip(y, x, strict=True)])
    ratios -= np.log([mech.density(*three, INTERVAL) for three in zip(y, other, strict=True)])
    assert ratios.max() <= found.epsilon * (1 + 1e-9)


def test_the_bounds_are_those_of_clopper_and_pearson():
    low = stats.binomtest(60, 200).proportion_ci(0.99, "exact").low
    high = stats.binomtest(20, 200).proportion_ci(0.99, "exact").high
    assert _bound(60, 20, 200, 0.99, 0.0) == pytest.approx(np.log(low / high))
    assert _bound(60, 20, 200, 0.99, 0.05) == pytest.approx(np.log((low - 0.05) / high))
    assert _bound(0, 0, 10, 0.99, 0.0) == -np.inf
    assert _bound(10, 10, 10, 0.99, 0.0) < 0


def test_two_hundred_audits_of_a_correct_mechanism_find_nothing():
    """At 99.9 % confidence a fifth of a false alarm is expected."""
    mech = ex.mechanism("laplace", 1.0)
    lowers = [ex.audit(mech, INTERVAL, seed=seed, trials=5000).epsilon_lower for seed in range(200)]
    assert max(lowers) <= 1
    assert np.mean(lowers) > 0.75  # and yet it sees most of what is there


@pytest.mark.parametrize("name", ex.MECHANISMS)
def test_correct_mechanisms_pass(name):
    for epsilon in (0.5, 2.0):
        report = ex.audit(ex.mechanism(name, epsilon), INTERVAL, seed=1)
        assert not report.violation
        assert 0 < report.epsilon_lower < epsilon


def laplace(x, interval, rng, scale=1.0):
    return x + rng.laplace(0, scale * interval.width, x.shape)


def slip(x, interval, rng):
    return laplace(interval.clip(x), interval, rng, 1 / np.sqrt(2))


def no_clip(x, interval, rng):
    return laplace(x, interval, rng)


def wrong_width(x, interval, rng):
    return laplace(interval.clip(x), interval, rng, 0.5)


def wrong_coin(x, interval, rng):
    side = np.where(x >= interval.midpoint, 1, -1)
    return np.where(rng.random(x.shape) < 1 / (1 + np.exp(-1.3)), side, -side)


def crooked_piecewise(x, interval, rng):
    """The window is hit 5 % more often than it should be."""
    root = np.exp(0.5)
    reach = (root + 1) / (root - 1)
    t = (interval.clip(x) - interval.midpoint) / (interval.width / 2)
    start = t * (reach + 1) / 2 - (reach - 1) / 2
    inside = start + (reach - 1) * rng.random(x.shape)
    outside = -reach + (reach + 1) * rng.random(x.shape)
    outside = np.where(outside >= start, outside + reach - 1, outside)
    hit = rng.random(x.shape) < 1.05 * root / (root + 1)
    return interval.midpoint + interval.width / 2 * np.where(hit, inside, outside)


@pytest.mark.parametrize("release", [slip, no_clip, wrong_width, wrong_coin, crooked_piecewise])
def test_slips_are_caught_every_time(release):
    for seed in range(20):
        report = ex.audit(release, INTERVAL, epsilon=1.0, trials=20_000, seed=seed)
        assert report.violation, report
        assert report.event.count > report.event.other_count


def test_an_answer_that_is_not_a_number_tells_as_well():
    def broken(x, interval, rng):
        return np.where(x > interval.midpoint, np.nan, rng.normal(size=x.shape))

    assert ex.audit(broken, INTERVAL, epsilon=4.0, trials=2000, seed=1).violation


def test_delta_is_allowed_for():
    def rarely_honest(x, interval, rng):  # (0, 0.01)-private: with probability 0.01 it tells the truth
        return np.where(rng.random(x.shape) < 0.01, np.sign(x - interval.midpoint), 0.0)

    assert ex.audit(rarely_honest, INTERVAL, epsilon=0.5, seed=1).violation
    assert not ex.audit(rarely_honest, INTERVAL, epsilon=0.5, delta=0.01, seed=1).violation


PEOPLE = np.array([-50.0, 2.0, 0.5])
PRIOR = ex.SemiConjugatePrior(mean=1, variance=4, shape=3, scale=4)


def test_the_adaptive_loop_keeps_its_epsilon():
    run = ex.adaptive_run(epsilon=1.0, particles=20, prior=PRIOR)
    report = ex.audit_run(run, PEOPLE, 0, 50.0, epsilon=1.0, trials=1500, seed=1)
    assert not report.violation
    assert report.epsilon_lower > 0.3, "the audit sees the changed person"


def test_a_first_interval_that_depends_on_the_data_is_found_out():
    honest = ex.adaptive_run(epsilon=1.0, particles=20, prior=PRIOR)

    def leaky(people, rng):
        middle = float(np.mean(people))
        known = ex.adaptive_run(epsilon=1.0, particles=20, prior=PRIOR, first_interval=(middle - 1, middle + 1))
        return known(people, rng)

    assert ex.audit_run(leaky, PEOPLE, 0, 50.0, epsilon=1.0, trials=400, seed=1).violation
    assert not ex.audit_run(honest, PEOPLE, 0, 50.0, epsilon=1.0, trials=400, seed=1).violation


def test_reports_read_well_and_the_command_ends_with_their_verdict(capsys):
    assert main(["audit", "--seed", "1", "--trials", "4000"]) == 0
    told = capsys.readouterr().out
    assert told.count("no violation found") == 4
    assert "exact: the largest log-ratio is 1, at y = " in told
    assert main(["audit", "--as-coded", "--seed", "1"]) == 1
    assert "VIOLATION" in capsys.readouterr().out
    assert main(["audit", "--mechanism", "laplace", "--seed", "1", "--trials", "400", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["violation"] is False
    assert row["analytic"]["epsilon"] == pytest.approx(1)
    for wrong in (["--trials", "3"], ["--confidence", "1"], ["--interval", "2", "1"], ["--mechanism", "magic"]):
        assert main(["audit", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(ValueError, match="epsilon must be given"):
        ex.audit(slip, INTERVAL)
    assert "<pre>" in ex.audit(slip, INTERVAL, epsilon=1.0, trials=100, seed=1)._repr_html_()
