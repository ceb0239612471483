"""The audit finds nothing where there is nothing, and each of the slips that people make."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import explorer as ex
from explorer.cli import main
from explorer.engine.mechanisms import LaplaceMechanism
from explorer.engine.privacy.event import Event, _bound

INTERVAL = ex.Interval(-1.0, 2.0)


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


ODD = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf, "-0.0": -0.0, "0.0": 0.0, "5.0": 5.0}
ODD_PAIRS = [(one, other) for one in ODD for other in ODD if one < other]


@pytest.mark.parametrize(("high", "low"), ODD_PAIRS)
def test_every_odd_answer_is_one_of_its_own(high, low):
    """NaN, the infinities and -0.0 are told from each other and from any number."""

    def telltale(x, interval, rng):
        return np.where(x > interval.midpoint, ODD[high], ODD[low])

    report = ex.audit(telltale, INTERVAL, epsilon=4.0, trials=2000, seed=1)
    assert report.violation, report
    assert (report.event.count, report.event.other_count) == (1000, 0)
    name = high if report.event.x > INTERVAL.midpoint else low
    if name not in ("0.0", "5.0"):
        assert str(report.event) == f"y = {name}"
        assert f"by the event y = {name}: 1000 of 1000 times" in str(report)


def odd_coin(high, low, epsilon):
    def coin(x, interval, rng):
        truly = rng.random(x.shape) < 1 / (1 + np.exp(-epsilon))
        return np.where(truly == (x >= interval.midpoint), ODD[high], ODD[low])

    return coin


@pytest.mark.parametrize(("high", "low"), [("nan", "inf"), ("inf", "-inf"), ("-inf", "5.0"), ("-0.0", "0.0")])
def test_a_coin_with_odd_sides_is_judged_as_any_other(high, low):
    """Its stated error is 1e-5 each time."""
    for seed in range(10):
        settings = {"epsilon": 1.0, "trials": 20_000, "confidence": 1 - 1e-5, "seed": seed}
        fair = ex.audit(odd_coin(high, low, 1.0), INTERVAL, **settings)
        assert not fair.violation
        assert fair.epsilon_lower > 0.8
        assert ex.audit(odd_coin(high, low, 1.3), INTERVAL, **settings).violation


def test_the_error_rate_is_the_stated_one():
    """Of 400 audits at 80 % confidence, of a mechanism that is just private, 80 may be wrong: 112 are four sd more."""
    coin = odd_coin("nan", "inf", 1.0)
    settings = {"epsilon": 1.0, "trials": 400, "confidence": 0.8}
    assert sum(ex.audit(coin, INTERVAL, seed=seed, **settings).violation for seed in range(400)) <= 112


def holds(event, y):
    """Whether an answer belongs to the event, by its ranges alone."""
    if math.isnan(y) or math.isinf(y) or (y == 0 and math.copysign(1, y) < 0):
        return any(repr(y) == repr(low) == repr(high) for low, high in event.ranges)
    return any(low <= y < high for low, high in event.ranges)


def test_the_ranges_of_an_event_say_exactly_what_was_counted():
    drawn = {}

    def mixed(x, interval, rng):
        y = x[0] + rng.laplace(0, 10, x.shape)
        odd = rng.choice([math.nan, math.inf, -math.inf, -0.0, 0.0], x.shape)
        drawn[x[0]] = np.where(rng.random(x.shape) < (0.6 if x[0] > 0 else 0.1), odd, y)
        return drawn[x[0]]

    for seed in range(5):
        event = ex.audit(mixed, INTERVAL, epsilon=1.0, trials=2000, seed=seed, values=(-1.0, 2.0)).event
        for value, count in ((event.x, event.count), (event.other, event.other_count)):
            assert count == sum(holds(event, y) for y in drawn[value][1000:].tolist())
        assert all(f"y = {odd}" in str(event) for odd in ("nan", "inf", "-inf", "-0.0"))


def test_ranges_and_odd_answers_read_well():
    ranges = ((-math.inf, -2.0), (0.5, 1.0), (3.0, 4.0), (5.0, math.inf), (math.inf, math.inf), (math.nan, math.nan))
    event = Event(0.0, 1.0, ranges, 3, 2, 10)
    assert str(event) == "y in (-inf, -2) or [0.5, 1) or [3, 4) or 1 more or y = inf or y = nan"


def test_numbers_far_from_zero_are_told_apart():
    report = ex.audit(
        ex.mechanism("randomized_response", 1.0), (1e9, 1e9 + 1), values=(1e9, 1e9 + 1), trials=40, seed=1
    )
    assert "for the values 1000000000 and 1000000001" in str(report)
    assert str(Event(0.0, 1.0, ((1e9, 1e9 + 0.25),), 1, 1, 2)) == "y in [1000000000, 1000000000.2)"


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


def test_a_run_that_reveals_odd_numbers_is_judged_as_any_other():
    def reveal(coin):
        return lambda people, rng: [0.5, float(coin(people[:1], INTERVAL, rng)[0])]

    for high, low in (("nan", "inf"), ("-inf", "inf"), ("nan", "5.0"), ("-0.0", "0.0")):
        settings = {"epsilon": 1.0, "trials": 2000, "seed": 1}
        report = ex.audit_run(reveal(odd_coin(high, low, 3.0)), PEOPLE, 0, 50.0, **settings)
        assert report.violation, report
        assert "number 1 of what it reveals" in report.claim
        assert not ex.audit_run(reveal(odd_coin(high, low, 1.0)), PEOPLE, 0, 50.0, **settings).violation


def test_a_run_cannot_hand_its_people_on():
    """One that changes them in place would otherwise make later runs depend on earlier ones."""

    def greedy(people, rng):
        seen = float(people.sum())
        people += 1
        return [seen]

    report = ex.audit_run(greedy, PEOPLE, 0, 50.0, epsilon=1.0, trials=100, seed=1)
    assert (report.event.count, report.event.other_count) == (24, 0)


def test_a_confidence_close_to_one_is_not_shown_as_certainty():
    report = ex.audit(ex.mechanism("laplace", 1.0), INTERVAL, trials=20, confidence=1 - 1e-8, seed=1)
    assert "with 99.999999 % confidence" in str(report)


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


class Unclipped(LaplaceMechanism):
    """Its noise is right for values within the interval."""

    def release(self, x, interval, rng):
        return laplace(x, interval, rng, 1 / self.epsilon)


class Checked(LaplaceMechanism):
    """Releases as its base does."""

    def release(self, x, interval, rng):
        return super().release(x, interval, rng)


def test_a_mechanism_that_releases_in_its_own_way_is_judged_by_that():
    report = ex.audit(Unclipped(1.0), INTERVAL, seed=1)
    assert report.violation, report
    assert report.analytic is None  # its base's would say nothing about it
    assert not ex.audit(Checked(1.0), INTERVAL, seed=1).violation


def test_a_leak_between_the_usual_places_is_found_whatever_the_mechanism_tells_about_its_density():
    """Exact logarithms of a density are no proof that its largest ratio is at an end of the interval."""

    class Leaky(ex.Mechanism):
        name = "leaky"
        answers = (-1.0, 1.0)

        def _density(self, y, x, interval):
            return np.exp(self.log_density(y, x, interval))

        def log_density(self, y, x, interval):
            place = (interval.clip(x) - interval.left) / interval.width
            sharp = np.where(np.abs(place - 0.25) < 0.1, 3.0, 0.5)
            return -np.logaddexp(0, -y * sharp * self.epsilon)

        def _quantile(self, u, x, interval):
            return np.where(u < self._density(np.array(-1.0), x, interval), -1.0, 1.0)

        def _support(self, interval):
            return -1.0, 1.0

    report = ex.audit(Leaky(1.0), (0, 1), seed=1)
    assert report.analytic is None
    assert report.violation
