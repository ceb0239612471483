"""Fisher information against known limits, brute force, and the printed tables."""

import math
import multiprocessing
import os

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy import optimize

from explorer.engine.inference.likelihood import log_likelihood, log_likelihood_gradient
from explorer.engine.information import (
    SCORES,
    best_interval,
    classical_information,
    fisher_information,
    monte_carlo_information,
    score_function,
    score_surface,
)
from explorer.engine.information.ldp_bound import best_ldp, best_partition
from explorer.engine.mechanisms import MECHANISMS, mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.population import FAMILIES, family

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
    arguments, chosen = (y, mu, sigma, *interval, epsilon), {"family": chosen, "mechanism": mech}
    score = log_likelihood_gradient(*arguments, **chosen)
    return np.einsum("n,ni,nj->ij", weight * np.exp(log_likelihood(*arguments, **chosen)), score, score)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_information_is_the_integral_of_the_squared_score(name, mech_name):
    rng = np.random.default_rng(6)
    for epsilon in (0.1, 1.0, 6.0):
        a = rng.uniform(-3, 1)
        b = a + np.exp(rng.uniform(-3, 1.5))
        exact = fisher_information(a, b, epsilon, family=name, mechanism=mech_name)
        np.testing.assert_allclose(
            exact, brute_force(a, b, epsilon, name, mech_name), rtol=1e-8, atol=1e-9 * exact.max()
        )


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_theorem_3_information_scales_with_the_population(name, mech_name):
    """F at (m, c) for [m + a c, m + b c] is F at (0, 1) for [a, b], divided by c^2."""
    moved = brute_force(-0.4, 1.1, 2.0, name, mech_name, mu=50.0, sigma=3.0)
    np.testing.assert_allclose(
        moved * 9, fisher_information(-0.4, 1.1, 2.0, family=name, mechanism=mech_name), rtol=1e-8, atol=1e-10
    )


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
    by_window = fisher_information(-wide, wide, 200.0, family=name, mechanism="piecewise")[entries]
    np.testing.assert_allclose(by_window, CLASSICAL[name], atol=3e-5)
    # Laplace noise vanishes only as 1/epsilon, and a kinked density feels it most
    for epsilon, tolerance in ((1e4, 3e-2), (1e5, 3e-3)):
        by_noise = fisher_information(-wide, wide, epsilon, family=name, mechanism="laplace")[entries]
        np.testing.assert_allclose(by_noise, CLASSICAL[name], atol=tolerance)


@pytest.mark.parametrize("epsilon", [100.0, 1e3, 3e3, 3.3e3, 1e4, 1e5, 1e6])
def test_a_normal_population_with_normal_noise_and_no_clipping_is_known_exactly(epsilon):
    variance = 1 + mechanism("gaussian", epsilon).scale(Interval(-9, 9)) ** 2
    matrix = fisher_information(-9, 9, epsilon, family="normal", mechanism="gaussian")
    np.testing.assert_allclose(matrix, [[1 / variance, 0], [0, 2 / variance**2]], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_with_all_privacy_nothing_is_left(name, mech_name):
    matrices = [
        fisher_information(-1.0, 1.5, epsilon, family=name, mechanism=mech_name) for epsilon in (1e-1, 1e-2, 1e-3)
    ]
    traces = [np.trace(matrix) for matrix in matrices]
    assert traces[2] < 1e-6
    # F falls as epsilon^2
    if mech_name != "gaussian":
        assert traces[1] / traces[2] == pytest.approx(100, rel=0.05)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("epsilon", [1.0, 2.0, 5.0, 10.0])
def test_the_papers_monte_carlo_agrees_within_its_own_error(epsilon, mech_name):
    estimate = monte_carlo_information(
        -0.6, 0.9, epsilon, family="normal", mechanism=mech_name, answers=1000, samples=10_000, seed=3
    )
    exact = fisher_information(-0.6, 0.9, epsilon, family="normal", mechanism=mech_name)
    bias = (classical_information() - exact) / 10_000  # of the squared noise in each gradient
    assert np.all(np.abs(estimate.value - bias - exact) < 4 * estimate.standard_error)
    assert np.all(estimate.standard_error < 0.2 * exact.max())


@pytest.mark.parametrize("samples", [300, 3000])
def test_the_papers_monte_carlo_is_biased_upwards_by_a_known_amount(samples):
    """Where an answer tells little, the squared noise of the gradients is most of what it estimates."""
    exact = fisher_information(-0.6, 0.9, 1.0, family="normal", mechanism="gaussian")[1, 1]
    estimate = monte_carlo_information(-0.6, 0.9, 1.0, family="normal", mechanism="gaussian", samples=samples, seed=5)
    excess = (estimate.value[1, 1] - exact) * samples / (classical_information()[1, 1] - exact)
    assert excess == pytest.approx(1, abs=0.15)
    assert estimate.value[1, 1] > 2 * exact


def test_monte_carlo_is_reproducible():
    first, again = (monte_carlo_information(-1, 1, 2.0, answers=50, samples=100, seed=1) for _ in range(2))
    np.testing.assert_array_equal(first.value, again.value)
    other = monte_carlo_information(-1, 1, 2.0, answers=50, samples=100, seed=2)
    assert not np.array_equal(first.value, other.value)


@settings(max_examples=150)
@given(
    st.floats(-6, 6),
    st.floats(-6, 3).map(lambda power: 10**power),
    st.floats(-2, 2.3).map(lambda power: 10**power),
    st.sampled_from(list(MECHANISMS)),
    st.sampled_from(list(FAMILIES)),
)
@example(1.0, 2e-6, 50.0, "piecewise", "normal")
@example(-1.0, 2.0, 200.0, "piecewise", "normal")
@example(3.0, 1.0, 60.0, "piecewise", "normal")
def test_information_is_never_negative_and_never_more_than_without_privacy(a, width, epsilon, mech_name, name):
    matrix = fisher_information(a, a + width, epsilon, family=name, mechanism=mech_name)
    assert np.all(np.linalg.eigvalsh(matrix) >= -1e-12 * matrix.max())
    assert np.all(np.linalg.eigvalsh(classical_information(name) - matrix) >= -1e-9)
    if name != "gumbel":
        mirror = fisher_information(-(a + width), -a, epsilon, family=name, mechanism=mech_name)
        np.testing.assert_allclose(mirror, matrix * [[1, -1], [-1, 1]], rtol=1e-6, atol=1e-10 * matrix.max())


@pytest.mark.parametrize("name", FAMILIES)
def test_piecewise_without_privacy_still_clips(name):
    """Its limit is the information of the clipped value: two atoms and the density between them."""
    chosen, (a, b) = family(name), (-0.7, 1.2)
    edges = np.unique([*np.linspace(a, b, 40), *(kink for kink in chosen.kinks if a < kink < b)])
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half * (1 + NODES)).ravel()
    weight = (half * WEIGHTS).ravel() * chosen.pdf(z)
    score = chosen.score(z)
    limit = np.einsum("n,ni,nj->ij", weight, score, score)
    for end, mass in ((a, chosen.cdf(a)), (b, chosen.sf(b))):
        limit += np.outer([1, end], [1, end]) * chosen.pdf(end) ** 2 / mass
    for epsilon in (60.0, 100.0, 500.0):
        np.testing.assert_allclose(
            fisher_information(a, b, epsilon, family=name, mechanism="piecewise"), limit, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("mech_name", MECHANISMS)
def test_many_intervals_shared_among_threads_are_the_same_to_the_bit(mech_name):
    rng = np.random.default_rng(21)
    a = rng.normal(0, 1, 300)
    b = a + rng.exponential(1.0, 300)
    together = fisher_information(a, b, 1.5, family="gumbel", mechanism=mech_name)
    alone = [fisher_information(*pair, 1.5, family="gumbel", mechanism=mech_name) for pair in zip(a, b, strict=True)]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_a_forked_process_has_threads_of_its_own():
    """A server that warms up and then forks must not wait for threads that stayed with its parent."""
    expected = score_surface(1.0).values
    with multiprocessing.get_context("fork").Pool(1) as pool:
        surface = pool.apply_async(score_surface, (1.0,)).get(timeout=60)
    np.testing.assert_array_equal(surface.values, expected)


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
            with pytest.raises(ValueError, match="score must differ from 0 for some interval"):
                best_interval(epsilon, family=name, mechanism=mech_name, score=score)
            continue
        best = best_interval(epsilon, family=name, mechanism=mech_name, score=score)
        sc = score_function(score)
        assert sc(fisher_information(best.a, best.b, epsilon, family=name, mechanism=mech_name)) == pytest.approx(
            best.value, rel=1e-12
        )
        a = rng.normal(0, 2, 4000)
        b = a + np.exp(rng.uniform(-6, 4.5, 4000))
        rivals = sc(fisher_information(a, b, epsilon, family=name, mechanism=mech_name))
        assert rivals.max() <= best.value * (1 + 1e-9)
        # and it is a stationary point, to the eye of a small simplex around it
        width = best.b - best.a
        around = [(best.a + i * 1e-3 * width, best.b + j * 1e-3 * width) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        near = sc(fisher_information(*np.transpose(around), epsilon, family=name, mechanism=mech_name))
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
    by_logarithm = best_interval(2.0, score=lambda f: np.log(f[..., 0, 0]))  # below 0 everywhere
    assert by_logarithm[:2] == pytest.approx(best_interval(2.0)[:2], abs=1e-4)


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


def coarse_cells(chosen, count):
    """Equally likely cells of the line: their probabilities and the integrals of the score over them."""
    edges = chosen.ppf(np.linspace(0, 1, count + 1)[1:-1])
    return np.full(count, 1 / count), -np.diff(np.concatenate([[0.0], chosen.pdf(edges), [0.0]]))


def programme(mass, score, sets, epsilon):
    """The best mechanism whose answers stand for the given sets of cells: weights that add to one for every cell."""
    gain = math.expm1(epsilon)
    worth = (gain * (sets @ score)) ** 2 / (1 + gain * (sets @ mass))
    rows, ones = (1 + gain * sets.T) / (1 + gain), np.full(mass.size, 1 / (1 + gain))
    return -optimize.linprog(-worth, A_eq=rows, b_eq=ones, method="highs").fun


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0, 5.0])
@pytest.mark.parametrize("chosen", [*map(family, FAMILIES), family("student_t", df=1)], ids=repr)
def test_no_mechanism_over_all_sets_of_values_beats_the_best_partition(chosen, epsilon):
    """Eleven cells have 2046 sets: all of them at once."""
    mass, score = coarse_cells(chosen, 11)
    sets = (np.arange(1, 2047)[:, None] >> np.arange(11)) & 1
    best = best_partition(mass, score, epsilon).value
    assert programme(mass, score, sets, epsilon) == pytest.approx(best, rel=1e-7)
    assert best <= best_ldp(epsilon, family=chosen).value * (1 + 1e-5)


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 5.0])
@pytest.mark.parametrize("name", FAMILIES)
def test_no_mechanism_over_ranges_of_fine_cells_beats_the_best_partition(name, epsilon):
    mass, score = coarse_cells(family(name), 50)
    score = score[np.argsort(score / mass)]
    first, last = np.triu_indices(51, 1)
    cell = np.arange(50)
    sets = ((first[:, None] <= cell) & (cell < last[:, None]))[(first > 0) | (last < 50)].astype(int)
    best = best_partition(mass, score, epsilon).value
    assert programme(mass, score, sets, epsilon) == pytest.approx(best, rel=1e-7)
    assert 0.97 * best_ldp(epsilon, family=name).value <= best <= best_ldp(epsilon, family=name).value * (1 + 1e-5)


@pytest.mark.parametrize("chosen", [*map(family, FAMILIES), family("student_t", df=0.5), family("student_t", df=1)])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0, 10.0, 18.0, 50.0])
def test_none_of_our_mechanisms_beats_the_best_one_found(epsilon, chosen):
    best = best_ldp(epsilon, family=chosen).value
    for name in ("laplace", "randomized_response", "piecewise"):
        assert best_interval(epsilon, family=chosen, mechanism=name).value <= best * (1 + 1e-12)
    assert best <= classical_information(chosen)[0, 0] * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0])
def test_for_small_epsilon_the_best_question_is_the_sign(epsilon):
    best = best_ldp(epsilon)
    assert best.value == pytest.approx(2 / math.pi * math.tanh(epsilon / 2) ** 2, rel=1e-12)
    assert best.answers == 2


def test_bad_input_is_refused_in_one_sentence():
    for call, message in (
        (lambda: fisher_information(1, 1, 1.0), "a must be below b, got a=1 and b=1"),
        (lambda: fisher_information([0, 2], 1, 1.0), "a must be below b, got a=2 and b=1"),
        (lambda: fisher_information(-1, 1, 0), "epsilon must be a finite number above 0, got 0"),
        (lambda: fisher_information(-1, math.nan, 1.0), "b must be finite, got nan"),
        (lambda: score_surface(1.0, resolution=1), "resolution must be a whole number of at least 2, got 1"),
        (lambda: score_surface(1.0, resolution=10.5), "resolution must be a whole number of at least 2, got 10.5"),
        (lambda: score_surface(1.0, limits=(2, -2)), "limits must be two numbers, the first below the second"),
        (lambda: score_surface(1.0, limits=3), "limits must be two numbers, the first below the second, got 3"),
        (lambda: score_surface(1.0, a=[]), "a must be a grid of at least one point"),
        (lambda: score_surface(1.0, score="best"), "score must be one of 'mu', .* got 'best'"),
        (lambda: best_interval(1.0, score=(1, -1)), "score must be a name, two weights"),
        (lambda: best_interval(1.0, mechanism="none"), "mechanism must be one of"),
        (lambda: monte_carlo_information(-1, 1, 1.0, answers=1), "answers must be a whole number of at least 2, got 1"),
        (lambda: fisher_information([0, 1], [[2, 3, 4]], 1.0), r"shapes must fit together, got a \(2,\), b \(1, 3\)"),
        (lambda: fisher_information(-1, 1, 600.0, mechanism="piecewise"), "epsilon must lie between 1e-06 and 500"),
        (lambda: best_interval(1.0, mechanism=["laplace"]), r"mechanism must be one of .* got \['laplace'\]"),
        (lambda: best_interval(1.0, score=lambda f: f[..., 0, 0] * np.nan), "score must give a number"),
        (lambda: best_interval(1.0, score=None), "score must be a number or an array of numbers, got None"),
        (lambda: monte_carlo_information(-1, 1, 1.0, seed="x"), "seed must be None or a whole number"),
        (lambda: monte_carlo_information(-1, 1, 1e5, samples=2, seed=1), "samples must be larger"),
        (lambda: best_ldp(-1.0), "epsilon must be a finite number above 0, got -1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_an_interval_too_narrow_for_its_information_is_told():
    with pytest.raises(ValueError, match="b - a must be at least 1e-100"):
        fisher_information(1e-300, 2e-300, 1.0)
    assert np.isfinite(fisher_information(0, 1e-99, 1.0)).all()


@pytest.mark.parametrize("epsilon", [1e4, 1e6])
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_a_huge_epsilon_is_answered_in_time(mechanism, epsilon):
    """The noise is next to nothing: so is what the best interval could lose."""
    best = best_interval(epsilon, mechanism=mechanism)
    assert 0.99 < best.value <= 1.0
