"""What a user can set."""

import pytest

from explorer.models.computation import Computation
from explorer.models.exact_posterior import ExactPosterior
from explorer.models.experiment import GROUPS, Experiment
from explorer.models.fisher.epsilon_curve import EpsilonCurve
from explorer.models.fisher.monte_carlo import MonteCarlo
from explorer.models.fisher.surface import FisherSurface
from explorer.models.live_run import LiveSimulation
from explorer.models.mechanism_densities import MechanismDensities

MODELS = (FisherSurface, EpsilonCurve, MonteCarlo, LiveSimulation, ExactPosterior, MechanismDensities)


@pytest.mark.parametrize("cls", [Experiment, *MODELS])
def test_every_parameter_is_documented(cls):
    for name in cls.param:
        assert cls.param[name].doc, name


def test_every_parameter_belongs_to_one_group():
    names = [name for group in GROUPS for name in Experiment.names_of(group)]
    assert sorted(names) == sorted(set(Experiment.param) - {"name"})


@pytest.mark.parametrize("cls", MODELS)
def test_inputs_are_parameters_of_the_experiment(cls):
    assert set(cls.inputs) <= set(Experiment.param)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("epsilon", 0), ("resolution", 1), ("mechanism", "none"), ("delta", 0), ("limit", -1), ("sigma", 0)],
        *[("particles", 10**6), ("n", 0), ("seed", -1), ("policy", "fixed"), ("interval", (-1000, 0))],
    ],
)
def test_values_out_of_bounds_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Computation(**{name: value})


def test_an_empty_interval_by_hand_is_told():
    experiment = Experiment(interval=(1.0, 1.0))
    assert experiment.interval_by_hand is None
    experiment.manual = True
    with pytest.raises(ValueError, match="a = 1 must lie below b = 1"):
        _ = experiment.interval_by_hand


def test_models_share_an_experiment():
    experiment = Experiment(epsilon=3)
    run, surface = LiveSimulation(experiment=experiment), FisherSurface(experiment=experiment, score="trace")
    assert run.experiment is surface.experiment
    assert (experiment.epsilon, experiment.score) == (3, "trace")
