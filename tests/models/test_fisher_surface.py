"""The Fisher map's model, without a browser."""

import numpy as np
import pytest

from explorer.engine.information import best_interval, score_surface
from explorer.models.fisher_surface import FisherSurface


def test_it_wraps_the_engine():
    model = FisherSurface(epsilon=2.5, mechanism="piecewise", family="student_t", df=3.0, score="trace", resolution=11)
    family = model.chosen_family
    assert family.shape == 3.0
    expected = score_surface(2.5, resolution=11, family=family, mechanism="piecewise", score="trace")
    np.testing.assert_array_equal(model.surface().values, expected.values)
    assert model.best() == best_interval(2.5, family=family, mechanism="piecewise", score="trace")


def test_a_score_that_is_zero_everywhere_has_no_best_interval():
    assert FisherSurface(score="det", mechanism="randomized_response").best() is None


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", 0), ("resolution", 1), ("mechanism", "none"), ("delta", 0), ("limit", -1)]
)
def test_values_out_of_bounds_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        FisherSurface(**{name: value})


def test_every_parameter_is_documented():
    for name in FisherSurface.param:
        assert FisherSurface.param[name].doc, name
