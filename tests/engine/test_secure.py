"""Secure release: the distributions it promises, what it refuses, and that no seed reaches it."""

import math
import sys
from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

import explorer as ex
from explorer.engine.secure import _UNIT, odds

INTERVAL = ex.Interval(-1.0, 2.0)
DRAWS = 3000


def distribution(mechanism, x):
    """The cdf of an answer, by integrating the mechanism's density."""
    low, high = mechanism.support(INTERVAL)
    low, high = (low, high) if np.isfinite(low) else (INTERVAL.left - 40, INTERVAL.right + 40)
    grid = np.linspace(low, high, 200_001)
    density = mechanism.density(grid, x, INTERVAL)
    cumulative = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
    return lambda y: np.interp(y, grid, cumulative / cumulative[-1])


# The operating system's randomness cannot be seeded: a right sampler fails each of these once in a million runs.
@pytest.mark.parametrize("x", [-7.0, 0.3, 1.9])
@pytest.mark.parametrize("name", ["laplace", "gaussian", "piecewise"])
def test_answers_have_the_mechanism_s_distribution(name, x):
    mechanism = ex.mechanism(name, 1.5, 0.01)
    y = mechanism.release(np.full(DRAWS, x), INTERVAL, ex.secure)
    assert stats.kstest(y, distribution(mechanism, x)).pvalue > 1e-6
    assert np.all(mechanism.can_release(y, INTERVAL))


@pytest.mark.parametrize("x", [-7.0, 0.499, 0.5, 1.9])
def test_randomised_response_tells_the_truth_as_often_as_it_should(x):
    mechanism = ex.mechanism("randomized_response", 1.5)
    y = mechanism.release(np.full(DRAWS, x), INTERVAL, ex.secure)
    truly = np.count_nonzero(y == (1 if x >= 0.5 else -1))
    assert stats.binomtest(truly, DRAWS, mechanism.truth).pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 50.0])
def test_odds_are_never_above_what_was_promised(epsilon):
    ratio = Decimal(odds(epsilon)) / _UNIT
    assert ratio.ln() <= Decimal(epsilon)
    assert float(ratio.ln()) == pytest.approx(epsilon, rel=1e-12, abs=1e-18)


@pytest.mark.parametrize("name", ex.MECHANISMS)
def test_one_answer_is_a_number_and_others_are_refused(name):
    mechanism = ex.mechanism(name, 1.0)
    assert isinstance(mechanism.release(0.4, INTERVAL, ex.secure), float)
    assert mechanism.release(np.zeros((2, 3)), INTERVAL, ex.secure).shape == (2, 3)
    for wrong in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError, match="x must be finite"):
            mechanism.release(wrong, INTERVAL, ex.secure)
    with pytest.raises(ValueError, match="left"):
        mechanism.release(0.4, (1.0, 1.0), ex.secure)


@pytest.mark.parametrize("width", [1e-9, 0.1, 1 / 3, 7.0, 1e9])
def test_narrow_and_wide_intervals_keep_their_epsilon(width):
    """With the plain scale, OpenDP reports one rounding error too much for about half of all widths."""
    for name in ("laplace", "gaussian"):
        y = ex.mechanism(name, 0.7).release(0.0, (0.0, width), ex.secure)
        assert math.isfinite(y)


def test_no_seed_gives_the_same_answer_again():
    np.random.seed(1)  # noqa: NPY002 - which must not matter
    mechanism = ex.mechanism("piecewise", 1.0)
    assert len({mechanism.release(0.3, INTERVAL, ex.secure) for _ in range(50)}) == 50
    with pytest.raises(TypeError):
        type(ex.secure)(1)


def test_without_opendp_the_command_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"pip install 'explorer\[opendp\]'"):
        ex.mechanism("laplace", 1.0).release(0.0, INTERVAL, ex.secure)
    assert ex.mechanism("randomized_response", 1.0).release(0.0, INTERVAL, ex.secure) in (-1, 1)


def test_the_audit_finds_nothing():
    for name in ("randomized_response", "piecewise"):
        mechanism = ex.mechanism(name, 1.0)

        def release(x, interval, rng, mechanism=mechanism):
            return mechanism.release(x, interval, ex.secure)

        assert not ex.audit(release, INTERVAL, epsilon=1.0, trials=4000, confidence=1 - 1e-6).violation
