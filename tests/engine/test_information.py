"""Fisher information against known limits, brute force, and the printed tables."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

from explorer.engine.bound import ldp_bound
from explorer.engine.families import FAMILIES, family
from explorer.engine.information import (
    SCORES,
    best_interval,
    classical_information,
    fisher_information,
    monte_carlo_information,
    score_function,
    score_surface,
)
from explorer.engine.interval import Interval
from explorer.engine.likelihood import log_likelihood, log_likelihood_gradient
from explorer.engine.mechanisms import MECHANISMS, mechanism

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def brute_force(a, b, epsilon, name, mech_name, mu=0.0, sigma=1.0):
    """The integral of the squared score, over a fine partition that knows nothing of the kernels' own."""
    chosen, mech = family(name), mechanism(mech_name, epsilon)
    interval = Interval(mu + sigma * a, mu + sigma * b)
    if mech_name == "randomized_response":
        y, weight = np.array([-1.0, 1.0]), np.ones(2)
    else:
        low, high = mech.support(interval)
        if mech_name != "piecewise":
            reach = {"laplace": 45, "gaussian": 9}[mech_name] * mech.scale(interval)
            low, high = interval.left - reach, interval.right + reach
        cuts = {mu}
        if mech_name == "piecewise":  # a window's end passes the density's kink
            shrink = math.exp(-epsilon / 2)
            for side in (-1, 1):
                cuts.add(
                    interval.midpoint + (mu + side * shrink * interval.width / 2 - interval.midpoint) / (1 - shrink)
                )
        cuts |= {
            *np.linspace(low, interval.left, 80),
            *np.linspace(*interval, 120),
            *np.linspace(interval.right, high, 80),
        }
        cuts = np.array(sorted(cut for cut in cuts if low <= cut <= high))
        half = np.diff(cuts)[:, None] / 2
        y, weight = (cuts[:-1, None] + half * (1 + NODES)).ravel(), (half * WEIGHTS).ravel()
    arguments = (y, mu, sigma, *interval, epsilon, chosen, mech)
    score = log_likelihood_gradient(*arguments)
    return np.einsum("n,ni,nj->ij", weight * np.exp(log_likelihood(*arguments)), score, score)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_information_is_the_integral_of_the_squared_score(name, mech_name):
    rng = np.random.default_rng(6)
    for epsilon in (0.1, 1.0, 6.0):
        a = rng.uniform(-3, 1)
        b = a + np.exp(rng.uniform(-3, 1.5))
        exact = fisher_information(a, b, epsilon, name, mech_name)
        np.testing.assert_allclose(
            exact, brute_force(a, b, epsilon, name, mech_name), rtol=1e-8, atol=1e-9 * exact.max()
        )


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_theorem_3_information_scales_with_the_population(name, mech_name):
    """F at (m, c) for [m + a c, m + b c] is F at (0, 1) for [a, b], divided by c^2."""
    moved = brute_force(-0.4, 1.1, 2.0, name, mech_name, mu=50.0, sigma=3.0)
    np.testing.assert_allclose(moved * 9, fisher_information(-0.4, 1.1, 2.0, name, mech_name), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 5.0, 20.0])
def test_width_to_zero_has_the_known_limit(epsilon):
    def gudermannian(x):
        return 2 * math.atan(math.tanh(x / 2))

    half = epsilon / 2
    limit = (1 + math.exp(-epsilon)) * math.tanh(half) ** 2
    limit += 2 * math.exp(-half) * (math.sinh(half) - gudermannian(half))
    limit /= math.pi
    h = 1e-5
    assert fisher_information(-h, h, epsilon)[0, 0] == pytest.approx(limit, rel=1e-4)
    assert fisher_information(-h / 10, h / 10, epsilon)[0, 0] == pytest.approx(limit, rel=1e-5)


CLASSICAL = {
    "normal": [1, 0, 2],
    "student_t": [6 / 8, 0, 2 * 5 / 8],  # (df+1)/(df+3) and 2 df/(df+3), for df = 5
    "logistic": [1 / 3, 0, (3 + math.pi**2) / 9],
    "laplace": [1, 0, 1],
    "gumbel": [1, -(1 - np.euler_gamma), math.pi**2 / 6 + (1 - np.euler_gamma) ** 2],
}


@pytest.mark.parametrize("name", FAMILIES)
def test_without_privacy_it_is_the_classical_information(name):
    entries = ([0, 0, 1], [0, 1, 1])
    np.testing.assert_allclose(classical_information(name)[entries], CLASSICAL[name], atol=1e-12)
    wide = 100 if name == "student_t" else 40
    by_window = fisher_information(-wide, wide, 200.0, name, "piecewise")[entries]
    np.testing.assert_allclose(by_window, CLASSICAL[name], atol=3e-5)
    # Laplace noise vanishes only as 1/epsilon, and a kinked density feels it most
    for epsilon, tolerance in ((1e4, 3e-2), (1e5, 3e-3)):
        by_noise = fisher_information(-wide, wide, epsilon, name, "laplace")[entries]
        np.testing.assert_allclose(by_noise, CLASSICAL[name], atol=tolerance)


@pytest.mark.parametrize("epsilon", [100.0, 1e3, 1e4])
def test_a_normal_population_with_normal_noise_and_no_clipping_is_known_exactly(epsilon):
    variance = 1 + mechanism("gaussian", epsilon).scale(Interval(-9, 9)) ** 2
    matrix = fisher_information(-9, 9, epsilon, "normal", "gaussian")
    np.testing.assert_allclose(matrix, [[1 / variance, 0], [0, 2 / variance**2]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_with_all_privacy_nothing_is_left(name, mech_name):
    matrices = [fisher_information(-1.0, 1.5, epsilon, name, mech_name) for epsilon in (1e-1, 1e-2, 1e-3)]
    traces = [np.trace(matrix) for matrix in matrices]
    assert traces[2] < 1e-6
    # F falls as epsilon^2
    if mech_name != "gaussian":
        assert traces[1] / traces[2] == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 5.0, 10.0])
def test_the_papers_monte_carlo_agrees_within_its_own_error(epsilon, mech_name):
    estimate = monte_carlo_information(-0.6, 0.9, epsilon, "normal", mech_name, answers=1000, samples=10_000, seed=3)
    exact = fisher_information(-0.6, 0.9, epsilon, "normal", mech_name)
    bias = classical_information() / 10_000  # of the squared noise in each gradient
    assert np.all(np.abs(estimate.value - exact) < 4 * estimate.standard_error + bias)
    assert np.all(estimate.standard_error < 0.2 * exact.max())


def test_monte_carlo_is_reproducible():
    first, again = (monte_carlo_information(-1, 1, 2.0, answers=50, samples=100, seed=1) for _ in range(2))
    np.testing.assert_array_equal(first.value, again.value)
    other = monte_carlo_information(-1, 1, 2.0, answers=50, samples=100, seed=2)
    assert not np.array_equal(first.value, other.value)


@settings(max_examples=60)
@given(st.floats(-4, 2), st.floats(0.01, 6), st.floats(0.05, 12), st.sampled_from(["laplace", "gaussian", "piecewise"]))
def test_information_is_a_covariance_and_mirrors(a, width, epsilon, mech_name):
    b = a + width
    matrix = fisher_information(a, b, epsilon, "logistic", mech_name)
    assert np.all(np.linalg.eigvalsh(matrix) >= -1e-12 * matrix.max())
    assert np.all(np.linalg.eigvalsh(classical_information("logistic") - matrix) >= -1e-9)  # noise only loses
    mirror = fisher_information(-b, -a, epsilon, "logistic", mech_name)
    np.testing.assert_allclose(mirror, matrix * [[1, -1], [-1, 1]], rtol=1e-9, atol=1e-11 * matrix.max())


def test_surface_is_defined_above_the_diagonal_only():
    surface = score_surface(2.0, resolution=9, limits=(-2, 2), score="trace")
    assert surface.values.shape == (9, 9)
    above = surface.a[:, None] < surface.b[None, :]
    assert np.all(np.isnan(surface.values) == ~above)
    assert surface.values[2, 7] == np.trace(fisher_information(surface.a[2], surface.b[7], 2.0))
    free = score_surface(2.0, a=[-1.0, 0.3, 5.0], b=[0.0, 2.0])
    assert free.values.shape == (3, 2)
    assert np.isnan(free.values).tolist() == [[False, False], [True, False], [True, True]]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", ["normal", "gumbel"])
def test_no_interval_beats_the_best_one(name, mech_name, score):
    rng = np.random.default_rng(13)
    for epsilon in (0.7, 4.0, 10.0):
        if score == "det" and mech_name == "randomized_response":
            with pytest.raises(ValueError, match="score must be above 0 for some interval"):
                best_interval(epsilon, name, mech_name, score)
            continue
        best = best_interval(epsilon, name, mech_name, score)
        sc = score_function(score)
        assert sc(fisher_information(best.a, best.b, epsilon, name, mech_name)) == pytest.approx(best.value, rel=1e-12)
        a = rng.normal(0, 2, 4000)
        b = a + np.exp(rng.uniform(-6, 4.5, 4000))
        rivals = sc(fisher_information(a, b, epsilon, name, mech_name))
        assert rivals.max() <= best.value * (1 + 1e-9)
        # and it is a stationary point, to the eye of a small simplex around it
        width = best.b - best.a
        around = [(best.a + i * 1e-3 * width, best.b + j * 1e-3 * width) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        near = sc(fisher_information(*np.transpose(around), epsilon, name, mech_name))
        assert near.max() <= best.value * (1 + 1e-12)


@pytest.mark.parametrize(
    ("score", "epsilon", "a", "b"),
    [("trace", 2.0, 0.383, 0.832), ("sigma", 5.0, 1.015, 1.688), ("mu", 5.0, -0.728, 0.728)],
)
def test_of_two_mirror_images_the_right_hand_one_is_returned(score, epsilon, a, b):
    best = best_interval(epsilon, score=score)
    assert (best.a, best.b) == pytest.approx((a, b), abs=6e-4)
    mirrored = score_function(score)(fisher_information(-best.b, -best.a, epsilon))
    assert mirrored == pytest.approx(best.value, rel=1e-12)
    if score == "mu":
        assert best.a == -best.b  # exactly, not up to the search's tolerance


def test_scores_by_weights_and_by_callable():
    matrix = fisher_information(-1, 2, 3.0)
    assert score_function((2.0, 0.5))(matrix) == pytest.approx(2 * matrix[0, 0] + 0.5 * matrix[1, 1])
    assert score_function("det")(matrix) == pytest.approx(np.linalg.det(matrix))
    assert score_function("mu|sigma")(matrix) == pytest.approx(1 / np.linalg.inv(matrix)[0, 0])
    assert best_interval(2.0, score=(1.0, 1.0)) == pytest.approx(best_interval(2.0, score="trace"), abs=1e-6)
    by_callable = best_interval(2.0, score=lambda f: f[..., 0, 0])
    assert by_callable == pytest.approx(best_interval(2.0), abs=1e-6)


def test_the_piecewise_mechanism_gains_from_reaching_far_beyond_the_population():
    """At large epsilon a stray answer far from everybody betrays itself; the best interval is not symmetric."""
    best = best_interval(10.0, mechanism="piecewise")
    centred = best_interval(10.0, mechanism="piecewise", symmetric=True)
    near = optimize.minimize_scalar(
        lambda h: -fisher_information(-h, h, 10.0, mechanism="piecewise")[0, 0], bounds=(1.5, 4), method="bounded"
    )
    assert (near.x, -near.fun) == pytest.approx((2.18, 0.9793), abs=6e-3)
    assert -near.fun < centred.value < best.value
    assert best.value == pytest.approx(0.98357675, abs=1e-8)  # mpmath: 0.9835767483 at [-2.5916, 23.8912]


def interval_programme(epsilon, name, cells):
    """The best mechanism whose answers stand for intervals of a grid, as a linear programme over all of them."""
    chosen = family(name)
    edges = np.linspace(*chosen.ppf(np.array([1e-4, 1 - 1e-4])), cells - 1)
    cdf, pdf = (
        np.concatenate([[0.0], values, [end]]) for values, end in ((chosen.cdf(edges), 1.0), (chosen.pdf(edges), 0.0))
    )
    first, last = np.triu_indices(cells + 1, 1)
    keep = (first > 0) | (last < cells)
    first, last = first[keep], last[keep]
    gain = math.expm1(epsilon)
    worth = (gain * (pdf[first] - pdf[last])) ** 2 / (1 + gain * (cdf[last] - cdf[first]))
    cell = np.arange(cells)[:, None]
    rows = (1 + gain * ((first <= cell) & (cell < last))) / (1 + gain)
    return -optimize.linprog(-worth, A_eq=rows, b_eq=np.full(cells, 1 / (1 + gain)), method="highs").fun


@pytest.mark.parametrize("name", ["normal", "gumbel", "laplace"])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 5.0])
def test_no_mechanism_of_the_linear_programme_beats_the_bound(name, epsilon):
    programme = interval_programme(epsilon, name, 40)
    bound = ldp_bound(epsilon, name).value
    assert programme <= bound * (1 + 1e-9)
    assert programme >= 0.97 * bound  # the grid is coarse, but it is the same optimum


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 5.0, 10.0])
def test_the_bound_holds_for_every_mechanism_and_is_reached_by_the_sign(epsilon):
    bound = ldp_bound(epsilon)
    for name in ("laplace", "randomized_response", "piecewise"):
        assert best_interval(epsilon, mechanism=name).value <= bound.value * (1 + 1e-12)
    if epsilon <= 2:
        assert bound.value == pytest.approx(2 / math.pi * math.tanh(epsilon / 2) ** 2, rel=1e-12)
        assert bound.cuts == pytest.approx((0,), abs=1e-9)
    assert bound.value < classical_information()[0, 0]


def test_bad_input_is_refused_in_one_sentence():
    for call, message in (
        (lambda: fisher_information(1, 1, 1.0), "a must be below b, got a=1 and b=1"),
        (lambda: fisher_information([0, 2], 1, 1.0), "a must be below b, got a=2 and b=1"),
        (lambda: fisher_information(-1, 1, 0), "epsilon must be a finite number above 0, got 0"),
        (lambda: fisher_information(-1, math.nan, 1.0), "b must be finite, got nan"),
        (lambda: score_surface(1.0, resolution=1), "resolution must be a whole number of at least 2, got 1"),
        (lambda: score_surface(1.0, resolution=10.5), "resolution must be a whole number of at least 2, got 10.5"),
        (lambda: score_surface(1.0, limits=(2, -2)), r"limits\[0\] must be below limits\[1\]"),
        (lambda: score_surface(1.0, limits=3), "limits must be two numbers, got 3"),
        (lambda: score_surface(1.0, a=[]), "a must be a grid of at least one point"),
        (lambda: score_surface(1.0, score="best"), "score must be one of 'mu', .* got 'best'"),
        (lambda: best_interval(1.0, score=(1, -1)), "score must be a name, two weights"),
        (lambda: best_interval(1.0, mechanism="none"), "mechanism must be one of"),
        (lambda: monte_carlo_information(-1, 1, 1.0, answers=1), "answers must be a whole number of at least 2, got 1"),
        (lambda: ldp_bound(-1.0), "epsilon must be a finite number above 0, got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
