"""The likelihood against 50-digit integration of the model's definition."""

from concurrent.futures import ThreadPoolExecutor

import mpmath as mp
import numpy as np
import oracle
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy import integrate

from explorer.engine.inference.likelihood import log_likelihood, log_likelihood_gradient, total_log_likelihood
from explorer.engine.information import score_surface
from explorer.engine.mechanisms import MECHANISMS, mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.population import FAMILIES, family

DF = 3.0


def log_uniform(low, high):
    return st.floats(np.log10(low), np.log10(high)).map(lambda power: float(10**power))


@st.composite
def cases(draw):
    """One answer anywhere in the promised range: sigma/width, distance of y, epsilon, and where mu lies."""
    name, mech_name = draw(st.sampled_from(list(FAMILIES))), draw(st.sampled_from(list(MECHANISMS)))
    epsilon = draw(log_uniform(0.01, 50))
    left = draw(st.floats(-3, 3))
    right = left + draw(log_uniform(0.05, 20))
    width = right - left
    sigma = width * draw(log_uniform(1e-4, 1e4))
    mu = left + width * draw(st.floats(-0.5, 1.5)) + sigma * draw(st.floats(-60, 60))
    mech = mechanism(mech_name, epsilon)
    if mech_name == "randomized_response":
        y = draw(st.sampled_from([-1.0, 1.0]))
    elif mech_name == "piecewise":
        low, high = mech.support(Interval(left, right))
        y = float(np.clip(low + (high - low) * draw(st.floats(0, 1)), low, high))
        y = draw(st.sampled_from([y, left + width * draw(st.floats(0, 1))]))
    else:
        far = mech.scale(Interval(left, right)) * draw(log_uniform(0.01, 1e3))
        y = draw(st.sampled_from([left - far, left + width * draw(st.floats(0, 1)), right + far]))
    return name, mech, y, mu, sigma, left, right


def truth(name, mech, y, mu, sigma, left, right):
    constant = mech.noise_ratio if mech.name == "gaussian" else mech.epsilon
    return oracle.log_likelihood(name, DF, mech.name, constant, y, mu, sigma, left, right)


def chosen_family(name):
    return family(name, df=DF) if name == "student_t" else family(name)


@settings(max_examples=600)
@given(cases())
@example(("normal", mechanism("gaussian", 13.8), -348.1, 3.32, 0.38, -2.69, 5.6))
@example(("normal", mechanism("laplace", 50.0), 0.5, 1e3, 1e4, 0.0, 1.0))
@example(("gumbel", mechanism("piecewise", 50.0), 0.3, 0.0, 1.0, -1.0, 1.0))
def test_log_likelihood_agrees_with_mpmath(case):
    name, mech, *arguments = case
    value = log_likelihood(*arguments, mech.epsilon, family=chosen_family(name), mechanism=mech)
    expected = truth(name, mech, *arguments)
    # 1e-10 relative in p, and where log p is so large that its own last digits are coarser, those
    assert abs(float(mp.mpf(float(value)) - expected)) <= 1e-10 + 2e-15 * abs(float(expected))


@settings(max_examples=150)
@given(cases())
def test_gradient_agrees_with_mpmath_differentiation(case):
    name, mech, y, mu, sigma, left, right = case
    value = log_likelihood_gradient(y, mu, sigma, left, right, mech.epsilon, family=chosen_family(name), mechanism=mech)
    step = mp.mpf(10) ** -9  # relative to sigma; mpmath's 50 digits leave 30 for the difference quotient
    if name == "laplace":  # its density has a kink: differentiate on one side of it
        kinks = [abs((point - mu) / sigma) for point in (left, right, y)]
        if min(kinks) < 1e-6:
            return
    for index in range(2):

        def along(shift, index=index):
            moved = [mp.mpf(mu), mp.mpf(sigma)]
            moved[index] += shift * sigma
            return truth(name, mech, y, *moved, left, right)

        derivative = (along(step) - along(-step)) / (2 * step)  # in units of 1/sigma
        # the quotient's own error is step^2 times the third derivative, which scales with the noise's rate
        assert float(value[index] * sigma) == pytest.approx(float(derivative), rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("mech_name", ["laplace", "gaussian", "piecewise"])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_likelihood_integrates_to_one(name, mech_name, epsilon):
    mech = mechanism(mech_name, epsilon)
    interval = Interval(-0.8, 1.9)
    low, high = mech.support(interval)
    if mech_name != "piecewise":
        low, high = interval.left - 40 * mech.scale(interval), interval.right + 40 * mech.scale(interval)
    cuts = np.unique(
        np.concatenate([np.linspace(low, -0.8, 60), np.linspace(-0.8, 1.9, 40), np.linspace(1.9, high, 60)])
    )
    nodes, weights = np.polynomial.legendre.leggauss(12)
    half = np.diff(cuts)[:, None] / 2
    y = cuts[:-1, None] + half * (1 + nodes)
    density = np.exp(log_likelihood(y, 0.4, 1.3, *interval, epsilon, family=chosen_family(name), mechanism=mech))
    # the window of a kinked density passes the kink somewhere inside a cell
    assert np.sum(half * weights * density) == pytest.approx(1, abs=1e-6 if name == "laplace" else 1e-9)


@pytest.mark.parametrize("name", FAMILIES)
def test_probabilities_of_randomised_response_add_to_one(name):
    both = log_likelihood([-1.0, 1.0], 0.4, 1.3, -0.8, 1.9, 2.0, family=name, mechanism="randomized_response")
    assert np.exp(both).sum() == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_finite_over_the_whole_range(name, mech_name):
    rng = np.random.default_rng(1)
    for epsilon in (0.01, 0.3, 5.0, 50.0):
        mech = mechanism(mech_name, epsilon)
        sigma = 10 ** rng.uniform(-4, 4, 300)
        mu = rng.uniform(-1, 2, 300) + sigma * rng.normal(0, 20, 300)
        if mech_name == "randomized_response":
            y = rng.choice([-1.0, 1.0], 300)
        elif mech_name == "piecewise":
            y = rng.uniform(*mech.support(Interval(0, 1)), 300)
        else:
            y = rng.uniform(0, 1, 300) + rng.uniform(-1e3, 1e3, 300) * mech.scale(Interval(0, 1))
        assert np.all(
            np.isfinite(log_likelihood(y, mu, sigma, 0.0, 1.0, epsilon, family=chosen_family(name), mechanism=mech))
        )
        assert np.all(
            np.isfinite(
                log_likelihood_gradient(y, mu, sigma, 0.0, 1.0, epsilon, family=chosen_family(name), mechanism=mech)
            )
        )


def test_an_impossible_answer_has_no_likelihood():
    assert log_likelihood(9.0, 0, 1, -1, 1, 2.0, mechanism="piecewise") == -np.inf
    assert log_likelihood(0.5, 0, 1, -1, 1, 2.0, mechanism="randomized_response") == -np.inf


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 5.0, 50.0])
def test_the_last_answers_of_a_bounded_support_are_answers(epsilon):
    rng = np.random.default_rng(2)
    mech = mechanism("piecewise", epsilon)
    for left, width in zip(rng.normal(0, 5, 200), np.exp(rng.normal(0, 2, 200)), strict=True):
        interval = Interval(left, left + width)
        ends = np.array(mech.support(interval))
        assert np.all(np.isfinite(log_likelihood(ends, left, width, *interval, epsilon, mechanism=mech)))


def _answers(mech, count, rng):
    left = rng.normal(0, 1, count)
    right = left + rng.uniform(0.05, 4, count)
    x = rng.normal(0.3, 1.2, count)
    y = np.array([mech.release(x[t], Interval(left[t], right[t]), rng) for t in range(count)])
    return y, left, right


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", FAMILIES)
def test_total_is_the_sum_over_answers(name, mech_name):
    rng = np.random.default_rng(4)
    mech = mechanism(mech_name, 1.7)
    y, left, right = _answers(mech, 37, rng)
    mu, sigma = rng.normal(0, 1, 23), np.exp(rng.normal(0, 1.0, 23))
    total = total_log_likelihood(y, left, right, mu, sigma, chosen_family(name), mech)
    each = log_likelihood(
        y[:, None], mu, sigma, left[:, None], right[:, None], 1.7, family=chosen_family(name), mechanism=mech
    )
    np.testing.assert_allclose(total, each.sum(axis=0), rtol=1e-12)


@settings(max_examples=300)
@given(cases())
@example(("normal", mechanism("laplace", 50.0), 1.0, -3e3, 1e4, 0.0, 1.0))
@example(("normal", mechanism("laplace", 0.01), 0.2, 0.2, 1e-4, 0.0, 1.0))
def test_the_vectorised_normal_laplace_kernel_agrees_with_mpmath(case):
    _, mech, y, mu, sigma, left, right = case
    mech = mechanism("laplace", mech.epsilon)
    arrays = (np.array([value]) for value in (y, left, right, mu, sigma))
    value = total_log_likelihood(*arrays, family("normal"), mech)[0]
    expected = truth("normal", mech, y, mu, sigma, left, right)
    assert abs(float(mp.mpf(float(value)) - expected)) <= 1e-10 + 2e-15 * abs(float(expected))


@pytest.mark.parametrize("name", ["randomized_response", "piecewise"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0, 15.0, 60.0, 199.0])
def test_the_vectorised_normal_window_kernel_agrees_with_the_exact_one(name, epsilon):
    """Answers of all kinds against particles with windows narrow, wide and both."""
    mech, rng = mechanism(name, epsilon), np.random.default_rng(1)
    answers = _answers(mech, 40, rng)
    for spread in (-4.0, 0.0, 4.0, None):
        log_sigma = rng.normal(0, 3, 60) if spread is None else rng.normal(spread, 0.2, 60)
        mu, sigma = rng.normal(0, 2, 60), np.exp(log_sigma)
        found = total_log_likelihood(*answers, mu, sigma, chosen_family("normal"), mech)
        columns = (column[:, None] for column in answers)
        exact = log_likelihood(next(columns), mu, sigma, *columns, epsilon, mechanism=mech).sum(axis=0)
        np.testing.assert_allclose(found, exact, rtol=1e-11, atol=1e-8)
    impossible = np.array([2.0 if name == "randomized_response" else 1e9])
    ends = np.array([-1.0]), np.array([1.0])
    assert total_log_likelihood(impossible, *ends, mu, sigma, chosen_family("normal"), mech).max() == -np.inf


def test_kernels_are_safe_in_several_threads():
    rng = np.random.default_rng(8)
    mechanisms = [mechanism(name, 1.5) for name in MECHANISMS]
    data = [_answers(mech, 20, rng) for mech in mechanisms]
    mu, sigma = rng.normal(0, 1, 200), np.exp(rng.normal(0, 0.5, 200))
    jobs = [(name, k) for name in FAMILIES for k in range(len(mechanisms))] * 3

    def work(job):
        name, k = job
        totals = total_log_likelihood(*data[k], mu, sigma, chosen_family(name), mechanisms[k])
        surface = score_surface(1.5, resolution=12, family=name, mechanism=mechanisms[k])
        return np.append(totals, surface.values[~np.isnan(surface.values)])

    alone = [work(job) for job in jobs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, jobs))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bad_input_names_the_argument():
    good = {"y": 0.0, "mu": 0.0, "sigma": 1.0, "left": -1.0, "right": 1.0, "epsilon": 1.0}
    for change, message in (
        ({"sigma": 0.0}, "sigma must be finite and above 0, got 0"),
        ({"sigma": [1.0, -2.0]}, "sigma must be finite and above 0, got -2"),
        ({"sigma": np.nan}, "sigma must be finite and above 0, got nan"),
        ({"y": np.inf}, "y must be finite, got inf"),
        ({"mu": "a"}, "mu must be a number or an array of numbers, got 'a'"),
        ({"left": 1.0}, "left must be below right, got left=1 and right=1"),
        ({"epsilon": -3}, "epsilon must be a finite number above 0, got -3"),
        ({"family": "beta"}, "family must be one of .*'gumbel', got 'beta'"),
    ):
        with pytest.raises(ValueError, match=message):
            log_likelihood(**(good | change))


def test_broadcasting():
    value = log_likelihood(np.zeros((4, 1, 1)), np.zeros((3, 1)), np.ones(2), -1, 1, 1.0)
    assert value.shape == (4, 3, 2)
    assert log_likelihood_gradient(np.zeros((4, 1)), np.zeros(3), 1.0, -1, 1, 1.0).shape == (4, 3, 2)
    assert integrate.quad(lambda y: np.exp(log_likelihood(y, 0, 1, -1, 1, 1.0)), -1, 1)[0] < 1


@pytest.mark.parametrize("mech_name", MECHANISMS)
@pytest.mark.parametrize("name", ["normal", "logistic"])
def test_many_parameters_at_once_are_each_for_itself(name, mech_name):
    """Blocks, threads, the order by sigma and what is left out of sight: none of it shows in the result."""
    rng = np.random.default_rng(1)
    chosen, mech = family(name), mechanism(mech_name, 3.0)
    mu, sigma = rng.normal(0, 3, 1100), np.exp(rng.normal(0, 2, 1100))
    left = rng.normal(0, 5, 30)
    right = left + np.exp(rng.normal(0, 2, 30))
    y = np.array([float(mech.release(rng.normal(0, 5), Interval(*pair), rng)) for pair in np.stack([left, right]).T])
    together = total_log_likelihood(y, left, right, mu, sigma, chosen, mech)
    alone = log_likelihood(
        y[:, None], mu, sigma, left[:, None], right[:, None], 3.0, family=chosen, mechanism=mech
    ).sum(axis=0)
    np.testing.assert_allclose(together, alone, rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("epsilon", [0.01, 30.0, 150.0, 250.0, 5000.0])
def test_the_closed_form_is_only_used_where_it_holds(epsilon):
    """A likelihood may be as small as e^-epsilon: too small for it, the general kernel serves."""
    mech = mechanism("laplace", epsilon)
    mu, sigma = np.array([-40.0, 0.0, 3.0, 500.0]), np.array([0.1, 1.0, 0.01, 3.0])
    y, left, right = np.array([0.1, 2.0, -3.0]), np.array([-1.0, -1.0, -1.0]), np.array([1.0, 1.5, 4.0])
    together = total_log_likelihood(y, left, right, mu, sigma, family("normal"), mech)
    alone = log_likelihood(y[:, None], mu, sigma, left[:, None], right[:, None], epsilon).sum(axis=0)
    np.testing.assert_allclose(together, alone, rtol=1e-11, atol=1e-9)
