"""Real answers: each person once, secure noise, and an estimate that holds the truth."""

import numpy as np
import pytest
from scipy import stats

import explorer as ex
from explorer.engine.collection import people_needed


def estimator(mechanism="piecewise", epsilon=4.0, **settings):
    prior = ex.SemiConjugatePrior.expecting(0, 100)
    return ex.OnlineEstimator(epsilon, mechanism, prior=prior, particles=300, **settings)


def test_everybody_is_asked_once_and_forgotten(monkeypatch):
    asked = []
    values = np.arange(50.0)
    run = estimator()
    release = run.mechanism.release
    monkeypatch.setattr(run.mechanism, "release", lambda x, *rest: asked.append(x) or release(x, *rest))
    collection = ex.Collection(values, run)
    steps = list(collection)
    assert sorted(asked) == values.tolist()
    assert asked != values.tolist()  # one order in 50! is theirs
    assert [step.t for step in steps] == list(range(1, 51))
    assert run.answers == 50
    assert np.isnan(collection._waiting).all()
    assert not {"x", "value"} & set(ex.Answered._fields)


def test_most_draws_some_of_them():
    collection = ex.Collection(np.arange(1000.0), estimator(), most=20)
    assert collection.people == len(list(collection)) == 20
    with pytest.raises(ValueError, match="most must be"):
        ex.Collection([1.0], estimator(), most=0)
    for wrong in ([], [np.nan], [[1.0, 2.0]]):
        with pytest.raises(ValueError, match="values must"):
            ex.Collection(wrong, estimator())


@pytest.mark.parametrize("mechanism", ["laplace", "piecewise"])
def test_the_estimate_finds_the_population(mechanism):
    """Noise and order cannot be seeded: five posterior deviations leave one failure in a million runs."""
    values = np.random.default_rng(1).normal(62, 7, 1500)
    run = estimator(mechanism)
    for _ in ex.Collection(values, run):
        pass
    low, middle, high = run.posterior.quantiles([0.16, 0.5, 0.84])[:, 0]
    assert abs(middle - 62) < 5 * max(high - middle, middle - low)
    assert high - low < 2


def test_a_guess_that_is_wrong_by_a_factor_of_ten_costs_answers_and_not_the_result():
    values = np.random.default_rng(2).normal(700, 40, 2000)
    run = ex.OnlineEstimator(4.0, "piecewise", prior=ex.SemiConjugatePrior.expecting(0, 100), particles=500)
    for _ in ex.Collection(values, run):
        pass
    low, high = run.posterior.quantiles([1e-3, 0.999])[:, 0]
    assert low - 10 < 700 < high + 10


def test_the_prior_of_a_guess():
    prior = ex.SemiConjugatePrior.expecting(20, 60)
    mu, sigma = prior.quantile(np.array([0.5, stats.norm.cdf(1)]), np.array([0.5, 0.5]))
    np.testing.assert_allclose(mu, [40, 80])
    np.testing.assert_allclose(sigma, 10)
    with pytest.raises(ValueError, match="low must be below high"):
        ex.SemiConjugatePrior.expecting(3, 3)


def test_people_needed_counts_only_what_lasts():
    assert people_needed(np.array([5.0, 1.0, 3.0, 1.0, 1.0]), 2) == 4
    assert people_needed(np.array([1.0, 1.0]), 2) == 1
    assert people_needed(np.array([5.0, 3.0]), 2) is None


@pytest.mark.parametrize("family", ["normal", "logistic", "gumbel", ex.family("student_t", df=4)])
def test_the_open_estimate_is_maximum_likelihood(family):
    base = ex.family(family)
    values = 30 + 5 * base.sample(np.random.default_rng(3), 4000)
    found = ex.open_estimate(values, family)
    peers = {"normal": stats.norm, "logistic": stats.logistic, "gumbel": stats.gumbel_r}
    if base.name in peers:
        np.testing.assert_allclose(found[:2], peers[base.name].fit(values), rtol=1e-3)
    assert abs(found.mu - 30) < 4 * found.standard_error
    assert found.standard_error == pytest.approx(5 / np.sqrt(4000 * ex.classical_information(base)[0, 0]), rel=0.1)


def test_without_opendp_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    with pytest.raises(ImportError, match=r"pip install 'explorer\[opendp\]'"):
        next(ex.Collection([1.0], estimator("laplace")))
