"""The Fisher map's model and its companions, without a browser."""

import numpy as np
import pytest

from explorer.engine.information import best_interval, best_near, fisher_information, score_surface
from explorer.models.fisher.epsilon_curve import EPSILONS, EpsilonCurve
from explorer.models.fisher.monte_carlo import MonteCarlo
from explorer.models.fisher.surface import FisherSurface


def test_it_wraps_the_engine():
    model = FisherSurface(epsilon=2.5, mechanism="piecewise", family="student_t", df=3.0, score="trace", resolution=11)
    family = model.experiment.chosen_family
    assert family.shape == 3.0
    expected = score_surface(2.5, resolution=11, family=family, mechanism="piecewise", score="trace")
    result = model.compute()
    np.testing.assert_array_equal(result.surface.values, expected.values)
    assert result.best == best_interval(2.5, family=family, mechanism="piecewise", score="trace")
    assert result.exact
    assert (model.status, model.progress, model.error) == ("ready", 1.0, "")


def test_a_score_that_is_zero_everywhere_has_no_best_interval():
    results = list(FisherSurface(score="det", mechanism="randomized_response").work())
    assert [result.best for result in results] == [None, None]


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "randomized_response", "piecewise"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_quick_optimum_of_a_preview_is_close_to_the_exact_one(mechanism, epsilon):
    near = best_near(score_surface(epsilon, mechanism=mechanism), epsilon, mechanism=mechanism)
    exact = best_interval(epsilon, mechanism=mechanism)
    assert near.value == pytest.approx(exact.value, rel=1e-5)
    assert near.value == pytest.approx(fisher_information(near.a, near.b, epsilon, mechanism=mechanism)[0, 0], rel=1e-9)


def test_the_curve_over_epsilon_is_made_of_best_intervals():
    curve = EpsilonCurve(mechanism="piecewise").compute()
    assert curve.complete
    np.testing.assert_array_equal(curve.epsilon, EPSILONS)
    assert curve.b[7] == best_interval(EPSILONS[7], mechanism="piecewise").b
    assert np.all(np.diff(curve.information) > 0)
    assert curve.limit == pytest.approx(1.0, abs=1e-9)


def test_the_papers_monte_carlo_agrees_with_the_exact_curve_beside_it():
    found = MonteCarlo(epsilon=5, answers=400, samples=2000, points=4).compute()
    exact = np.interp(found.half_estimated, found.half, found.exact)
    assert np.all(np.abs(found.estimate - exact) < 4 * found.standard_error)
    assert np.all(found.standard_error > 0)


@pytest.mark.parametrize(("mechanism", "score"), [("laplace", "sigma"), ("piecewise", "mu"), ("laplace", "mu")])
def test_the_quick_search_walks_out_of_a_map_that_is_too_small(mechanism, score):
    shared = {"epsilon": 5, "mechanism": mechanism, "score": score}
    near = best_near(score_surface(limits=(-0.5, 0.5), resolution=100, **shared), **shared)
    exact = best_interval(**shared)
    assert max(map(abs, exact[:2])) > 0.6
    assert near.value == pytest.approx(exact.value, rel=1e-5)
