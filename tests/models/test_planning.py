"""The planner's and the audit's models."""

import numpy as np
import pytest

import explorer as ex
from explorer.engine.mechanisms import MECHANISMS
from explorer.models.auditing import Auditing
from explorer.models.planning import EPSILONS, Planning


def test_the_curves_go_through_the_options():
    plan = Planning(epsilon=float(EPSILONS[8]), sigma=3, standard_error=0.1).compute()
    assert set(plan.people) == set(MECHANISMS)
    for option in plan.options:
        assert option.n == int(np.ceil(plan.people[option.mechanism][8]))
        assert np.all(np.diff(plan.people[option.mechanism]) < 0)
        assert np.all(plan.people[option.mechanism] > plan.without_privacy)
    assert plan.without_privacy == pytest.approx(900)


def test_with_people_given_the_smallest_epsilon_comes_first():
    model = Planning(sigma=3, standard_error=0.1, given="n", people=3000)
    plan = model.compute()
    epsilons = [option.epsilon for option in plan.options]
    assert epsilons == sorted(epsilons)
    for option in plan.options:
        assert option.standard_error == pytest.approx(0.1, rel=1e-3)
    assert len(plan.table()) == len(plan.options)


def test_too_few_people_are_told():
    with pytest.raises(ValueError, match="even without privacy"):
        Planning(sigma=3, standard_error=0.1, given="n", people=800).compute()


def test_the_script_prints_the_options(capsys):
    model = Planning(sigma=3, epsilon=2, standard_error=0.5)
    plan = model.compute()
    exec(compile(plan.script(), "script", "exec"), {})
    assert capsys.readouterr().out.splitlines() == [str(option) for option in plan.options]


def test_the_audit_follows_the_experiment():
    model = Auditing(epsilon=2, mechanism="piecewise", trials=2000)
    report = model.compute()
    assert isinstance(report, ex.AuditReport)
    assert (report.violation, report.epsilon) == (False, 2)
    assert report.analytic.epsilon == pytest.approx(2)
    model.as_coded = True
    model.trials = 20_000
    assert model.compute().violation
