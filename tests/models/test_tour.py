"""The tour: every step sets all controls, whatever was touched before."""

import pytest

from explorer.models.experiment import Experiment
from explorer.models.tour import GLOSSARY, STOPS, Tour


@pytest.mark.parametrize("step", range(1, len(STOPS) + 1))
def test_a_step_sets_its_settings_and_resets_the_rest(step):
    experiment = Experiment(epsilon=0.3, mu=-7, seed=9, manual=True, interval=(1.0, 2.0), sampler="grid")
    tour = Tour(experiment=experiment)
    tour.step = step
    assert experiment.changed() == Experiment(**STOPS[step - 1].settings).changed()
    assert tour.now is STOPS[step - 1]


def test_without_a_tour_nothing_is_set():
    experiment = Experiment(epsilon=0.3)
    tour = Tour(experiment=experiment)
    tour.step = 0
    assert tour.now is None
    assert experiment.epsilon == 0.3


def test_every_step_says_something_and_has_something_to_try():
    for stop in STOPS:
        assert stop.title
        assert len(stop.says) > 80
        assert len(stop.to_try) > 60
    assert {"ε", "N", "n", "F", "G", "H"} <= {symbol for symbol, _, _ in GLOSSARY}
