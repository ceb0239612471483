"""A mechanism of one's own, from its density alone, against the compiled ones that it repeats."""

import time

import numpy as np
import pytest

import explorer as ex
from explorer.engine.mechanisms import LaplaceMechanism, Piecewise, RandomizedResponse

#: What a mechanism may know beside its density, its quantiles and its answers.
KNOWLEDGE = (
    "evaluate",
    "total",
    "information",
    "block",
    "stretches",
    "compiled",
    "monotone",
    "by_midpoint",
    "largest_searched",
)
KNOWLEDGE += ("log_density", "log_ratio", "log_release", "jumps", "turns", "spread", "secure_draw")


def own(base: type) -> type:
    """The same mechanism, without its kernels."""

    class Own(base):
        name = f"own_{base.name}"

        def kinks(self, y, interval):
            if base is LaplaceMechanism:
                return np.clip(y, *interval)[:, None]
            if base is Piecewise:
                shrink, rest, *_ = Piecewise.constants.fget(self)
                centre = interval.midpoint + rest * (y - interval.midpoint)
                return centre[:, None] + shrink * interval.width / 2 * np.array([-1.0, 1.0])
            return np.full((y.size, 1), interval.midpoint)

    for name in KNOWLEDGE:
        setattr(Own, name, getattr(ex.Mechanism, name))
    return Own


BASES = [LaplaceMechanism, Piecewise, RandomizedResponse]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("family", ["normal", "student_t", "gumbel", "laplace"])
def test_likelihood_and_gradient(base, family):
    rng = np.random.default_rng(1)
    known, mine = base(2.0), own(base)(2.0)
    size = 60
    mu, sigma = rng.normal(0, 3, size), np.exp(rng.normal(0, 1.5, size))
    interval = ex.Interval(-1.0, 2.5)
    y = known.release(mu + sigma * rng.normal(size=size), interval, rng)
    arguments = (y, mu, sigma, *interval, 2.0)
    with_mine, with_known = ({"mechanism": mechanism, "family": family} for mechanism in (mine, known))
    exact = ex.log_likelihood(*arguments, **with_known)
    np.testing.assert_allclose(ex.log_likelihood(*arguments, **with_mine), exact, atol=1e-6)
    exact = ex.log_likelihood_gradient(*arguments, **with_known)
    np.testing.assert_allclose(ex.log_likelihood_gradient(*arguments, **with_mine), exact, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("base", BASES)
def test_information_and_the_best_interval(base):
    known, mine = base(2.0), own(base)(2.0)
    a, b = np.array([-1.0, -0.3, 0.2]), np.array([1.0, 0.4, 1.5])
    exact = ex.fisher_information(a, b, 2.0, family="normal", mechanism=known)
    np.testing.assert_allclose(ex.fisher_information(a, b, 2.0, family="normal", mechanism=mine), exact, atol=2e-5)
    best = ex.best_interval(2.0, family="normal", mechanism=mine, symmetric=True)
    assert best.value == pytest.approx(
        ex.best_interval(2.0, family="normal", mechanism=known, symmetric=True).value, rel=1e-4
    )


class ThreeWay(ex.Mechanism):
    """Below, inside or above the interval? Told truly with probability e^eps/(e^eps + 2)."""

    name = "three_way"
    answers = (-1.0, 0.0, 1.0)

    def _odds(self):
        return 1 / (np.exp(self.epsilon) + 2)

    def _density(self, y, x, interval):
        return np.where(y == self._true(x, interval), 1 - 2 * self._odds(), self._odds())

    def _quantile(self, u, x, interval):
        true, odds = self._true(x, interval), self._odds()
        below = odds + (1 - 3 * odds) * (true == -1)
        inside = odds + (1 - 3 * odds) * (true == 0)
        return np.where(u < below, -1.0, np.where(u < below + inside, 0.0, 1.0))

    def _support(self, interval):
        return -1.0, 1.0

    @staticmethod
    def _true(x, interval):
        return np.where(x <= interval.left, -1.0, np.where(x >= interval.right, 1.0, 0.0))


def test_a_mechanism_with_three_answers_against_its_sums():
    mechanism, family = ThreeWay(1.5), ex.family("normal")
    shares = np.diff([0, *family.cdf([-0.4, 0.9]), 1])
    rise = 1 - 3 * mechanism._odds()
    expected = np.log(mechanism._odds() + rise * shares)
    found = ex.log_likelihood(np.array([-1, 0, 1]), 0, 1, -0.4, 0.9, 1.5, mechanism=mechanism)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    g = family.pdf([-0.4, 0.9])
    by_mu = rise * np.array([-g[0], g[0] - g[1], g[1]])
    information = np.sum(by_mu**2 / np.exp(expected))
    assert ex.fisher_information(-0.4, 0.9, 1.5, mechanism=mechanism)[0, 0] == pytest.approx(information, rel=1e-8)
    drawn = mechanism.release(np.full(20_000, 0.0), ex.Interval(-1, 1), np.random.default_rng(1))
    assert np.mean(drawn == 0) == pytest.approx(1 - 2 * mechanism._odds(), abs=0.015)
    assert not mechanism.can_release(0.5, ex.Interval(-1, 1))


def test_samplers_that_take_it_agree_on_the_same_answers():
    settings = {"mu": 3, "sigma": 2, "n": 12, "epsilon": 4, "seed": 1, "policy": "fixed", "first_interval": (1.5, 4.5)}
    prior = ex.SemiConjugatePrior(0, 25, 4, 12)
    exact, cloud, point = (
        ex.simulate(mechanism=ThreeWay(4.0), sampler=sampler, prior=prior, particles=2000, **settings)
        for sampler in ("grid", "marginal", "gradient")
    )
    np.testing.assert_array_equal(exact.y, cloud.y)
    np.testing.assert_allclose(cloud.mean[-1], exact.mean[-1], atol=0.15 * exact.sd[-1].min())
    np.testing.assert_allclose(cloud.sd[-1], exact.sd[-1], rtol=0.1)
    assert abs(point.mean[-1, 0] - exact.mean[-1, 0]) < exact.sd[-1, 0]  # a normal approximation, after few answers


def test_an_adaptive_run_finds_the_population():
    trace = ex.simulate(mu=3, sigma=2, n=80, epsilon=4, seed=1, particles=400, mechanism=ThreeWay(4.0))
    assert abs(trace.mean[-1, 0] - 3) < 3 * trace.sd[-1, 0] < 3


def test_what_does_not_know_it_says_so():
    with pytest.raises(ValueError, match="resample_move' needs a mechanism with a compiled log_release"):
        ex.OnlineEstimator(1.5, mechanism=ThreeWay(1.5), sampler="resample_move", best=(-0.5, 0.5))
    with pytest.raises(ValueError, match="no secure release"):
        ThreeWay(1.5).release(0.0, ex.Interval(-1, 1), ex.secure)


def test_its_audit():
    report = ex.audit(ThreeWay(1.0), ex.Interval(-1, 1), trials=8000, seed=1)
    assert not report.violation
    assert report.analytic is None
    assert report.epsilon_lower > 0.8


@pytest.mark.parametrize("score", ["mu", "trace"])
def test_the_best_interval_is_found_in_bounded_time(score):
    """Over all intervals, for a mechanism with answers on a line: minutes, once."""
    start = time.perf_counter()
    found = ex.best_interval(2.0, family="normal", mechanism=own(LaplaceMechanism)(2.0), score=score)
    assert time.perf_counter() - start < 30
    exact = ex.best_interval(2.0, score=score)
    assert found.value == pytest.approx(exact.value, rel=1e-6)
    np.testing.assert_allclose(found[:2], exact[:2], atol=2e-3)
