"""The address bar's text, without a browser."""

import pytest

from explorer.models.experiment import Experiment
from explorer.views.address import Address


def address(**values) -> tuple[Address, Experiment]:
    experiment = Experiment(**values)
    return Address({name: experiment for name in experiment.param if name != "name"}), experiment


def test_only_what_differs_is_in_it_and_it_reads_back():
    settings = {
        "epsilon": 2.35,
        "mechanism": "gaussian",
        "delta": 1e-7,
        "interval": (-1.25, 0.5),
        "manual": True,
        "n": 120,
        "compare": False,
        "sigma": 1 / 3,
    }
    written, _ = address(**settings)
    text = written.text()
    read, experiment = address()
    assert read.text() == ""
    assert read.read(text) == []
    for name, value in settings.items():
        found = getattr(experiment, name)
        assert found == (pytest.approx(value, rel=1e-11) if name == "sigma" else value)
    assert read.text() == text


@pytest.mark.parametrize(
    "wrong",
    [
        *["epsilon=0", "epsilon=1e999", "epsilon=", "epsilon=one", "mu=nan", "n=1.5", "n=99999999", "seed=-1"],
        *["mechanism=x", "manual=maybe", "interval=1", "interval=2,1", "interval=1,2,3", "interval=a,b", "score="],
    ],
)
def test_a_value_that_cannot_be_is_told_and_the_default_stands(wrong):
    reader, experiment = address()
    (problem,) = reader.read(f"?{wrong}&sigma=2")
    assert problem.startswith(wrong.split("=")[0])
    assert experiment.changed() == {"sigma": 2.0}


def test_an_unknown_name_is_told():
    reader, experiment = address()
    assert reader.read("?name=x&__class__=1") == ["name is not a setting", "__class__ is not a setting"]
    assert experiment.changed() == {}
