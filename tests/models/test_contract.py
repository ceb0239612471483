"""Every result carries its settings, its table and its script, and they tell of the result and not of the sliders."""

import pandas as pd
import pytest

from explorer.models.comparison import Comparison
from explorer.models.data_collection import DataCollection
from explorer.models.fisher.epsilon_curve import EpsilonCurve
from explorer.models.fisher.monte_carlo import MonteCarlo
from explorer.models.fisher.surface import FisherSurface
from explorer.models.live_run import LiveSimulation
from explorer.models.mechanism_densities import MechanismDensities
from explorer.models.planning import Planning

OTHER = {
    "epsilon": 7.25,
    "mechanism": "gaussian",
    "delta": 1e-3,
    "family": "student_t",
    "df": 2.5,
    "mu": -3.0,
    "sigma": 9.0,
    "score": "trace",
    "n": 70,
    "particles": 90,
    "seed": 9,
    "resolution": 12,
    "limit": 5.0,
    "manual": True,
}
SMALL = {"n": 20, "particles": 50, "resolution": 10}


def computed(cls):
    model = cls(**SMALL, **{"workers": 1, "replicates": 1, "epsilons": [5.0]} if cls is Comparison else {})
    if cls is MonteCarlo:
        model.param.update(answers=20, samples=50, points=2)
    if cls is DataCollection:
        model.experiment.mechanism = "randomized_response"
        model.take(b"x\n1\n2\n3\n", "people.csv")
    model.compute()
    return model


def results(model) -> list:
    return [model.result, *([model.moment.result] if hasattr(model, "moment") else [])]


@pytest.mark.parametrize(
    "cls",
    [LiveSimulation, FisherSurface, EpsilonCurve, MonteCarlo, MechanismDensities, Planning, DataCollection, Comparison],
)
def test_a_result_tells_of_itself_after_the_sliders_have_moved(cls, tmp_path, monkeypatch):
    model = computed(cls)
    before = [(dict(found.settings), found.table(), found.script()) for found in results(model)]
    model.experiment.param.update(**OTHER)
    for name in ("first", "standard_error", "answers", "most", "replicates"):
        if name in model.param:
            setattr(model, name, model.param[name].default + 1)
    for found, (settings, table, script) in zip(results(model), before, strict=True):
        assert found.settings == settings
        pd.testing.assert_frame_equal(found.table(), table)
        assert len(table)
        assert found.script() == script
        monkeypatch.chdir(tmp_path)
        (tmp_path / "your_file.csv").write_text("x\n1\n2\n3\n")
        code = script.replace("replicates=1,", "replicates=1, workers=1,")
        exec(compile(code, "script", "exec"), {"print": lambda *values: None})
