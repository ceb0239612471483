"""The analytic epsilon is the claimed one: no alarm without a cause, and none missed, from 1e-6 to a million."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special

import explorer as ex
from explorer.engine.mechanisms import LaplaceMechanism, Piecewise, RandomizedResponse
from explorer.engine.privacy.audit import certificate

INTERVAL = ex.Interval(-1.0, 2.0)
PURE = ("laplace", "randomized_response", "piecewise")
EPSILONS = (1e-6, 1e-4, 0.01, 1.0, 10.0, 26.0, 40.0, 70.0, 100.0, 300.0, 372.0, 500.0, 1e3, 1e5, 1e6)
ALLOWED = [(name, epsilon) for name in ex.MECHANISMS for epsilon in EPSILONS if name != "piecewise" or epsilon <= 500]
INTERVALS = {
    "ordinary": INTERVAL,
    "tiny": ex.Interval(-1e-300, 1e-300),
    "huge": ex.Interval(-1e300, 1e300),
    "far": ex.Interval(1e9, 1e9 + 1),
    "far and narrow": ex.Interval(-1e12 - 0.5, -1e12),
    "narrow": ex.Interval(3.0, 3.0 + 1e-7),
}


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


@pytest.mark.parametrize("interval", INTERVALS.values(), ids=INTERVALS)
@pytest.mark.parametrize(("name", "epsilon"), [pair for pair in ALLOWED if pair[0] in PURE])
def test_no_false_alarm_and_one_per_cent_is_seen(name, epsilon, interval):
    mech = ex.mechanism(name, epsilon)
    found = certificate(mech, interval)
    assert found.epsilon == pytest.approx(epsilon, rel=1e-9)
    # That little is never seen by measuring: an alarm is the certificate's, all but once in 1e9 times.
    settings = {"trials": 40, "confidence": 1 - 1e-9, "seed": 1}
    assert not ex.audit(mech, interval, **settings).violation
    assert ex.audit(mech, interval, epsilon=epsilon / 1.01, **settings).violation


@pytest.mark.parametrize("interval", INTERVALS.values(), ids=INTERVALS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_place_is_true_in_exact_arithmetic(epsilon, interval):
    left, right = map(mpmath.mpf, interval)
    with mpmath.workdps(40):
        found = certificate(ex.mechanism("laplace", epsilon), interval)
        clipped = [min(max(mpmath.mpf(x), left), right) for x in (found.x, found.other)]
        own, other = (abs(mpmath.mpf(found.y) - x) * epsilon / (right - left) for x in clipped)
        assert float(other - own) == pytest.approx(epsilon, rel=1e-9)
        found = certificate(ex.mechanism("randomized_response", epsilon), interval)
        assert found.y == (1 if found.x >= interval.midpoint else -1)
        assert (found.x >= interval.midpoint) != (found.other >= interval.midpoint)


@pytest.mark.parametrize(("name", "epsilon"), ALLOWED)
def test_measuring_gives_no_false_alarm_either(name, epsilon):
    """The stated error of all of these together is below 0.4 %."""
    for seed, interval in enumerate(INTERVALS.values()):
        report = ex.audit(ex.mechanism(name, epsilon), interval, trials=1000, confidence=1 - 1e-5, seed=seed)
        assert report.epsilon_lower <= epsilon, report


def test_of_an_interval_as_wide_as_numbers_go():
    for name in ex.MECHANISMS:
        with np.errstate(over="ignore"):
            report = ex.audit(ex.mechanism(name, 50.0), (-8e307, 8.5e307), trials=400, seed=1)
        assert not report.violation
        assert all(map(math.isfinite, (report.event.x, report.event.other)))


def test_noise_that_is_rounded_away_is_a_violation():
    """The scale of this noise is 0: everybody tells the truth."""
    report = ex.audit(ex.mechanism("laplace", 1e3), (0.0, 1e-322), trials=40, seed=1)
    assert report.violation
    assert report.analytic.epsilon == math.inf


class NarrowNoise(LaplaceMechanism):
    def scale(self, interval):
        return super().scale(interval) / 1.01


class WrongDensity(LaplaceMechanism):
    def _density(self, y, x, interval):
        return LaplaceMechanism(1.01 * self.epsilon).density(y, x, interval)


class NoClip(LaplaceMechanism):
    def _density(self, y, x, interval):
        return np.exp(-np.abs(y - x) / self.scale(interval)) / (2 * self.scale(interval))


class HonestCoin(RandomizedResponse):
    truth = property(lambda self: float(special.expit(1.01 * self.epsilon)))


class HighWindow(Piecewise):
    @property
    def constants(self):
        shrink, rest, outside, rise = super().constants
        return shrink, rest, outside, rise + 0.01 * self.epsilon * (outside + rise)


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 10.0])
@pytest.mark.parametrize("slip", [NarrowNoise, WrongDensity, NoClip, HonestCoin, HighWindow])
def test_the_density_that_is_coded_is_the_one_that_is_judged(slip, epsilon):
    assert ex.audit(slip(epsilon), INTERVAL, trials=40, seed=1, confidence=1 - 1e-9).violation


def test_an_unlikely_large_ratio_is_what_delta_allows():
    """Laplace noise for epsilon 1.1 is (1, 0.0488)-private, as 1 - exp(-0.1/2) = 0.0488."""
    mech = ex.mechanism("laplace", 1.1)
    assert ex.audit(mech, INTERVAL, epsilon=1.0, trials=400, seed=1).violation
    assert not ex.audit(mech, INTERVAL, epsilon=1.0, delta=0.05, trials=20_000, seed=1).violation
    assert ex.audit(ex.mechanism("laplace", 2.0), INTERVAL, epsilon=1.0, delta=0.05, seed=1).violation


def test_the_gaussian_mechanism_has_no_certificate():
    with pytest.raises(ValueError, match="no finite log-ratio"):
        certificate(ex.mechanism("gaussian", 1.0), INTERVAL)
