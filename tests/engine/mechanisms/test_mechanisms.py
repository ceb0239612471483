"""Mechanisms: what they release, how likely that was, and the privacy it gives."""

import math
from functools import cached_property
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest
from scipy import integrate, stats

from explorer.engine.mechanisms import (
    MECHANISMS,
    GaussianMechanism,
    LaplaceMechanism,
    Piecewise,
    RandomizedResponse,
    mechanism,
)
from explorer.engine.mechanisms.interval import Interval

INTERVAL = Interval(-1.0, 3.0)
CONTINUOUS = ["laplace", "gaussian", "piecewise"]


def _pieces(mech, x):
    """Where the density may be cut for quadrature."""
    low, high = mech.support(INTERVAL)
    if not math.isfinite(low):
        scale = mech.scale(INTERVAL)
        low, high = INTERVAL.left - 45 * scale, INTERVAL.right + 45 * scale
        return [low, INTERVAL.left, float(INTERVAL.clip(x)), INTERVAL.right, high]
    start, length = mech._window(x, INTERVAL)
    half = INTERVAL.width / 2
    return [low, INTERVAL.midpoint + half * start, INTERVAL.midpoint + half * (start + length), high]


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("x", [-7.0, -1.0, 0.3, 2.9, 50.0])
def test_density_integrates_to_one(name, epsilon, x):
    mech = mechanism(name, epsilon)
    cuts = np.unique(np.round(_pieces(mech, x), 12))  # a window may start where the support does
    total = sum(
        integrate.quad(lambda y: float(mech.density(y, x, INTERVAL)), a, b, limit=200)[0] for a, b in pairwise(cuts)
    )
    assert total == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("x", [-7.0, 0.3, 50.0])
def test_releases_follow_the_density(name, x):
    mech = mechanism(name, 1.3)
    y = mech.release(np.full(40_000, x), INTERVAL, np.random.default_rng(11))
    edges = np.quantile(y, np.linspace(0, 1, 41))[1:-1]
    low = _pieces(mech, x)[0]
    cuts = sorted({low, *_pieces(mech, x), *edges})
    cdf = np.cumsum(
        [0.0]
        + [integrate.quad(lambda t: float(mech.density(t, x, INTERVAL)), a, b, limit=200)[0] for a, b in pairwise(cuts)]
    )
    at_edges = np.interp(edges, cuts, cdf)
    expected = np.diff(np.concatenate([[0.0], at_edges, [1.0]])) * y.size
    observed, _ = np.histogram(y, np.concatenate([[-np.inf], edges, [np.inf]]))
    # the edges were chosen from the data, so the statistic is, if anything, too small: it must not be large
    assert stats.chi2.sf(np.sum((observed - expected) ** 2 / expected), 38) > 1e-3


def test_laplace_noise_has_the_papers_scale_and_not_that_standard_deviation():
    mech = mechanism("laplace", epsilon=0.5)
    assert mech.scale(INTERVAL) == pytest.approx(4.0 / 0.5)
    y = mech.release(np.zeros(200_000), INTERVAL, np.random.default_rng(3))
    assert y.std() == pytest.approx(math.sqrt(2) * 8, rel=0.01)


def test_randomised_response_tells_the_truth_with_the_right_probability():
    mech = mechanism("randomized_response", epsilon=1.1)
    truth = math.exp(1.1) / (1 + math.exp(1.1))
    rng = np.random.default_rng(5)
    for x, side in ((1.0, 1), (5.0, 1), (0.999, -1), (-4.0, -1)):
        y = mech.release(np.full(50_000, x), INTERVAL, rng)
        assert set(np.unique(y)) == {-1.0, 1.0}
        assert np.mean(y == side) == pytest.approx(truth, abs=5 * math.sqrt(truth * (1 - truth) / 50_000))
        assert mech.density(side, x, INTERVAL) == pytest.approx(truth)
        assert mech.density(-side, x, INTERVAL) == pytest.approx(1 - truth)
    assert mech.density(0.5, 1.0, INTERVAL) == 0


@pytest.mark.parametrize("name", ["laplace", "randomized_response", "piecewise"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_neighbours_answers_differ_by_epsilon_and_no_more(name, epsilon):
    mech = mechanism(name, epsilon)
    low, high = mech.support(INTERVAL)
    y = np.linspace(max(low, -60), min(high, 60), 4001) if name != "randomized_response" else np.array([-1.0, 1.0])
    x = np.array([-9.0, -1.0, 0.0, 0.99, 1.0, 1.7, 3.0, 12.0])
    log_density = np.log(mech.density(y[:, None], x[None, :], INTERVAL))
    loss = (log_density.max(axis=1) - log_density.min(axis=1)).max()
    assert loss == pytest.approx(epsilon, rel=1e-9)
    assert mech.privacy == (epsilon, 0.0)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 0.1])
def test_gaussian_noise_is_calibrated_exactly(epsilon, delta):
    """Balle & Wang's Theorem 8, at 50 digits: the delta is reached, and slightly less noise would exceed it."""
    mech = GaussianMechanism(epsilon, delta)

    def exact(ratio):
        half, shift = 1 / (2 * mp.mpf(ratio)), mp.mpf(epsilon) * mp.mpf(ratio)
        return mp.ncdf(half - shift) - mp.exp(epsilon) * mp.ncdf(-half - shift)

    assert exact(mech.noise_ratio) <= delta < exact(mech.noise_ratio * (1 - 1e-8))
    assert mech.privacy == (epsilon, delta)
    if epsilon <= 1:  # where the classical bound holds at all
        assert mech.noise_ratio < math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_number_gives_a_float_and_an_array_an_array(name):
    mech = mechanism(name, 1.0)
    assert type(mech.release(0.2, INTERVAL, np.random.default_rng(0))) is float
    assert mech.release([[0.2, 9.0]], INTERVAL, np.random.default_rng(0)).shape == (1, 2)


@pytest.mark.parametrize("name", MECHANISMS)
def test_releases_can_be_released(name):
    mech = mechanism(name, 0.7)
    y = mech.release(np.linspace(-5, 5, 5000), INTERVAL, np.random.default_rng(2))
    assert np.all(mech.can_release(y, INTERVAL))
    assert not np.any(mech.can_release([np.nan, np.inf, -np.inf], INTERVAL))
    low, high = mech.support(INTERVAL)
    if math.isfinite(high):
        assert not mech.can_release(high + 1e-6, INTERVAL)
        assert not mech.can_release(low - 1e-6, INTERVAL)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_with_one_seed_answers_move_continuously(name):
    """Common random numbers: a small change of epsilon or of the value changes the answer a little."""
    x = np.linspace(-2, 4, 301)

    def answers(epsilon, shift):
        return mechanism(name, epsilon).release(x + shift, INTERVAL, np.random.default_rng(9))

    assert np.max(np.abs(answers(1.0, 0.0) - answers(1.0 + 1e-7, 1e-7))) < 1e-4


def test_bad_input_is_refused_in_one_sentence():
    for epsilon in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"epsilon must be a finite number above 0, got"):
            mechanism("laplace", epsilon)
    with pytest.raises(ValueError, match="epsilon must be a number, got 'one'"):
        mechanism("laplace", "one")
    with pytest.raises(ValueError, match="delta must lie strictly between 0 and 1, got 0"):
        mechanism("gaussian", 1.0, delta=0)
    with pytest.raises(ValueError, match=r"mechanism must be one of 'laplace', 'gaussian', .* got 'exponential'"):
        mechanism("exponential", 1.0)
    with pytest.raises(ValueError, match="epsilon must be that of the mechanism, 2, got 1"):
        mechanism(LaplaceMechanism(2.0), 1.0)
    for wrong in ((1, 1), (2, 1), (math.nan, 1), (0, math.inf)):
        with pytest.raises(ValueError, match=r"left|right"):
            Interval(*wrong)
    for wrong in (math.nan, math.inf, [1.0, math.nan]):
        with pytest.raises(ValueError, match=r"x must be finite numbers, and 1 of \d are not"):
            Piecewise(1.0).release(wrong, INTERVAL, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"rng must be a numpy.random.Generator, got 42"):
        Piecewise(1.0).release(0.0, INTERVAL, 42)
    with pytest.raises(ValueError, match="x must be finite, got nan"):
        Piecewise(1.0).density(0.0, math.nan, INTERVAL)
    assert mechanism("gaussian", 1e-6, 1e-10).noise_ratio > 1e5


def test_interval_is_an_immutable_pair():
    left, right = INTERVAL
    assert (left, right, INTERVAL.width, INTERVAL.midpoint) == (-1.0, 3.0, 4.0, 1.0)
    with pytest.raises(AttributeError):
        INTERVAL.left = 0
    with pytest.raises(ValueError, match="left must be below right"):
        INTERVAL._replace(left=5)
    with pytest.raises(ValueError, match="interval must be a pair of numbers, got None"):
        LaplaceMechanism(1.0).support(None)
    assert Interval(-1, 3) == INTERVAL
    assert hash(RandomizedResponse(1.0)) == hash(RandomizedResponse(1))


def test_the_gaussian_never_exceeds_its_delta():
    """Against 60 digits, for every epsilon and delta that floating-point numbers can hold."""
    rng = np.random.default_rng(1)
    cases = [(10 ** rng.uniform(-6, 6), float(10 ** rng.uniform(-300, -0.001))) for _ in range(120)]
    cases += [(10 ** rng.uniform(-6, 6), float(1 - 10 ** rng.uniform(-15, -1))) for _ in range(30)]
    for epsilon, delta in cases:
        ratio = mechanism("gaussian", epsilon, delta).noise_ratio
        with mp.workdps(60):
            half, shift = 1 / (2 * mp.mpf(ratio)), mp.mpf(epsilon) * mp.mpf(ratio)
            tails = [mp.erfc(x / mp.sqrt(2)) / 2 for x in (shift - half, shift + half)]
            real = tails[0] - mp.exp(mp.mpf(epsilon)) * tails[1]
            assert real <= mp.mpf(delta), (epsilon, delta)
            assert real > mp.mpf(delta) * (1 - 1e-3), (epsilon, delta)


class Shifted(LaplaceMechanism):
    """Has a parameter of its own."""

    name = "shifted"

    def __init__(self, epsilon, weights, label="a"):
        super().__init__(epsilon)
        self._weights, self.label = weights, label

    @cached_property
    def found(self):
        return object()


def test_mechanisms_with_other_parameters_are_others():
    """Or caches would hand out the best interval of another one."""
    same = Shifted(1.0, [1, 2]), Shifted(1.0, [1, 2])
    assert same[0] == same[1]
    assert hash(same[0]) == hash(same[1])
    assert same[0].found is not same[1].found  # computed, not given
    assert same[0] == same[1]
    others = Shifted(1.0, [1, 3]), Shifted(1.0, (1, 2)), Shifted(1.0, [1, 2], "b"), Shifted(1.0, np.array([1, 2]))
    assert all(other != same[0] for other in (*others, Shifted(1.0, {"k": [1]}), Shifted(1.0, {1, 2})))
    assert Shifted(1.0, np.array([1.0, 2.0])) == Shifted(1.0, np.array([1.0, 2.0]))
    assert len({*others, *same}) == 5


@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 30.0, 36.0, 100.0, 700.0])
def test_the_ratio_of_randomised_response_is_its_epsilon(epsilon):
    lie, truth = mechanism("randomized_response", epsilon).density([-1, 1], 1.0, (-1, 1))
    assert np.log(truth) - np.log(lie) == pytest.approx(epsilon, rel=1e-9)
