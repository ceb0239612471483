"""The planner: what it promises is what the information says, and what runs reach."""

import numpy as np
import pytest

import explorer as ex


def test_given_epsilon_the_fewest_people():
    options = ex.plan(standard_error=0.1, sigma=3.0, epsilon=1.0)
    assert [option.n for option in options] == sorted(option.n for option in options)
    assert options[0].mechanism == "randomized_response"  # the best of all up to epsilon = 1
    for option in options:
        value = ex.best_interval(1.0, mechanism=option.mechanism).value
        assert 9 / (0.01 * option.n) <= value < 9 / (0.01 * (option.n - 1))
        assert option.standard_error <= 0.1


def test_given_people_the_smallest_epsilon():
    options = ex.plan(standard_error=0.1, sigma=3.0, n=3000, mechanisms=["laplace", "piecewise", "randomized_response"])
    assert [option.epsilon for option in options] == sorted(option.epsilon for option in options)
    for option in options:
        assert option.standard_error == pytest.approx(0.1, rel=1e-3)
        assert option.standard_error <= 0.1
        # Back again: with that epsilon, as many people.
        (again,) = ex.plan(standard_error=0.1, sigma=3.0, epsilon=option.epsilon, mechanisms=[option.mechanism])
        assert again.n == pytest.approx(3000, rel=1e-3)


def test_randomised_response_has_a_limit():
    """The sign of a value tells 2/pi of what the value tells, however little privacy there is."""
    people = int(np.ceil(900 / 0.7))
    names = [option.mechanism for option in ex.plan(standard_error=0.1, sigma=3.0, n=people)]
    assert "randomized_response" not in names
    assert "piecewise" in names


def test_a_run_reaches_what_was_planned():
    (option,) = ex.plan(standard_error=0.15, sigma=3.0, n=1500, mechanisms=["laplace"])
    prior = ex.SemiConjugatePrior(mean=50, variance=25, shape=2000, scale=2000 * 9)
    sds = [
        ex.simulate(50, 3, option.n, option.epsilon, prior=prior, seed=seed, particles=500, keep=()).sd[-1, 0]
        for seed in range(3)
    ]
    assert np.mean(sds) == pytest.approx(0.15, rel=0.1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, "give either n or epsilon"),
        ({"n": 100, "epsilon": 1.0}, "give either n or epsilon"),
        ({"n": 800}, "n must be above 900 for this standard error even without privacy, got 800"),
        ({"n": 1000, "mechanisms": ["magic"]}, "mechanism must be one of"),
        ({"epsilon": -1}, "epsilon must be a finite number above 0"),
    ],
)
def test_what_cannot_be_planned_is_told(wrong, message):
    with pytest.raises(ValueError, match=message):
        ex.plan(standard_error=0.1, sigma=3.0, **wrong)


def test_a_lopsided_population_needs_more_as_sigma_is_unknown():
    options = {option.mechanism: option for option in ex.plan(0.1, 3.0, epsilon=2.0, family="gumbel")}
    # Of all yes-or-no questions only the one at mu itself does not depend on sigma.
    assert options["randomized_response"].a + options["randomized_response"].b == pytest.approx(0, abs=1e-4)
    laplace = options["laplace"]
    matrix = ex.fisher_information(laplace.a, laplace.b, 2.0, family="gumbel")
    alone = matrix[0, 0] - matrix[0, 1] ** 2 / matrix[1, 1]
    assert laplace.n == pytest.approx(900 / alone, abs=1.01)
    assert laplace.n > 900 / ex.best_interval(2.0, family="gumbel").value


def test_a_rounding_error_does_not_make_one_more_person():
    from explorer.engine.information.planner import people

    assert people(3.0, 0.1, 1.0) == 900


@pytest.mark.parametrize("sigma", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("ratio", [1e-300, 1e-200, 1e-20, 1e-8, 1.0, 1e20, 1e200])
def test_numbers_of_any_size(sigma, ratio):
    """A plan or one clear sentence."""
    error = sigma * ratio
    if not 0 < error < np.inf:
        return
    if ratio < 1e-8 * (1 - 1e-9):
        with pytest.raises(ValueError, match="standard_error must be at least 1e-08 sigma"):
            ex.plan(error, sigma, epsilon=1.0)
        return
    options = ex.plan(error, sigma, epsilon=1.0, mechanisms=["laplace", "randomized_response"])
    assert all(option.n >= 1 and np.isfinite(option.standard_error) for option in options)
    assert all(option.standard_error <= error * (1 + 1e-9) for option in options)
