"""The mechanism under the microscope, without a browser."""

import numpy as np
import pytest

import explorer as ex
from explorer.models.mechanism_densities import MechanismDensities


@pytest.mark.parametrize("mechanism", ["laplace", "piecewise", "randomized_response"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_the_loss_never_exceeds_epsilon_and_reaches_it(mechanism, epsilon):
    picture = MechanismDensities(mechanism=mechanism, epsilon=epsilon, first=-5.0, second=5.0).compute()
    assert np.abs(picture.loss).max() == pytest.approx(epsilon, rel=1e-9)
    loss = np.log(picture.given[0]) - np.log(picture.given[1])
    np.testing.assert_allclose(picture.loss, loss, atol=1e-8)


def test_the_gaussian_loss_exceeds_epsilon_with_probability_delta_at_most():
    picture = MechanismDensities(
        mechanism="gaussian", epsilon=1.0, delta=1e-2, first=-5.0, second=5.0, manual=True, interval=(-1.0, 1.0)
    ).compute()
    assert np.abs(picture.loss).max() > 1.0
    over = np.where(picture.loss > 1.0, picture.given[0] - np.e * picture.given[1], 0.0)
    assert np.trapezoid(over, picture.y) == pytest.approx(1e-2, rel=0.02)


@pytest.mark.parametrize("mechanism", ["laplace", "gaussian", "piecewise"])
def test_densities_integrate_to_one(mechanism):
    picture = MechanismDensities(mechanism=mechanism, epsilon=3.0, manual=True, interval=(-1.0, 2.0)).compute()
    for density in (picture.density, *picture.given):
        assert np.trapezoid(density, picture.y) == pytest.approx(1.0, abs=0.02)


def test_atoms_are_the_populations_tails():
    picture = MechanismDensities(manual=True, interval=(-1.0, 2.0)).compute()
    assert picture.atoms == pytest.approx((0.158655, 0.022750), abs=1e-6)
    assert tuple(picture.interval) == pytest.approx((50 - 10**0.5, 50 + 2 * 10**0.5))


def test_the_code_that_is_offered_runs():
    for mechanism in ex.MECHANISMS:
        model = MechanismDensities(mechanism=mechanism, family="student_t")
        names = {}
        exec(model.compute().script().replace("print(", "shown = ("), names)
        assert np.isfinite(names["log_p"])
        assert len(model.result.table()) == model.result.y.size
