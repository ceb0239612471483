"""What is wrong with the arguments of an audit, or with what it audits, is told without anybody's value."""

import math
import traceback

import numpy as np
import pytest

import explorer as ex
from explorer.engine.privacy.audit import as_coded

INTERVAL = ex.Interval(-1.0, 2.0)
PEOPLE = np.array([-50.0, 2.0, 0.5])
SECRET = 61.75


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (lambda: 1 / 0, "raised ZeroDivisionError"),
        (lambda: float(f"{SECRET} kg"), "raised ValueError"),
        (lambda: {}[SECRET], "raised KeyError"),
        (lambda: str(SECRET), "got one of <U5"),
        (lambda: ["a", "b"], "must return a flat array of real numbers"),
        (lambda: [None] * 100, "got one of object"),
        (lambda: np.full(100, SECRET + 1j), "got one of complex128"),
        (lambda: [[SECRET], [1.0, 2.0]], "must return a flat array of real numbers"),
        (lambda: None, "got one of object"),
        (lambda: np.full(100, np.datetime64("2020-01-01")), "got one of datetime64"),
    ],
)
def test_what_a_callable_does_wrong_is_told_without_a_value(result, told):
    settings = {"epsilon": 1.0, "trials": 100, "seed": 1}
    for name, call in (
        ("release", lambda: ex.audit(lambda x, interval, rng: result(), INTERVAL, **settings)),
        ("run", lambda: ex.audit_run(lambda people, rng: result(), PEOPLE, 0, SECRET, **settings)),
    ):
        with pytest.raises(ValueError, match=f"^{name} .*{told}") as caught:
            call()
        assert str(SECRET) not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("result", [1.0, [1.0], np.ones((100, 1)), np.ones((1, 100)), [], np.ones(99)])
def test_one_answer_for_each_value(result):
    with pytest.raises(ValueError, match=r"release must give one answer for each of 100 values, got shape \("):
        ex.audit(lambda x, interval, rng: result, INTERVAL, epsilon=1.0, trials=100)


@pytest.mark.parametrize("result", [1.0, [], np.ones((2, 2))])
def test_a_run_reveals_a_flat_array(result):
    with pytest.raises(ValueError, match="run must reveal at least one number, and as many each time"):
        ex.audit_run(lambda people, rng: result, PEOPLE, 0, 50.0, epsilon=1.0, trials=20)


def test_a_run_reveals_as_many_numbers_each_time():
    with pytest.raises(ValueError, match="as many each time"):
        ex.audit_run(lambda people, rng: np.ones(rng.integers(1, 3)), PEOPLE, 0, 50.0, epsilon=1.0, trials=20, seed=1)
    with pytest.raises(ValueError, match="how many there are tells people apart"):
        ex.audit_run(lambda people, rng: [1.0] * (1 + (people[0] > 0)), PEOPLE, 0, 50.0, epsilon=1.0, trials=20)


def test_truth_values_and_whole_numbers_are_answers():
    def told(x, interval, rng):
        return x > 0

    assert ex.audit(told, INTERVAL, epsilon=1.0, trials=200).violation
    assert ex.audit(lambda *given: told(*given).astype(np.int8), INTERVAL, epsilon=1.0, trials=200).violation


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"changed": 3}, "changed must be the index of one of 3 people, got 3"),
        ({"changed": -1}, "changed must be a whole number of at least 0, got -1"),
        ({"changed": 0.5}, "changed must be a whole number"),
        ({"value": math.nan}, "value must be a finite number$"),
        ({"value": -math.inf}, "value must be a finite number$"),
        ({"value": f"{SECRET} kg"}, "value must be a finite number$"),
        ({"value": None}, "value must be a finite number$"),
        ({"value": -50.0}, "value must differ from that of the person who is changed$"),
        ({"people": [SECRET, math.nan]}, "people must be finite numbers$"),
        ({"people": [SECRET, "kg"]}, "people must be finite numbers$"),
        ({"people": [[SECRET, 1.0]]}, "people must be a flat array of at least one number"),
        ({"people": SECRET}, "people must be a flat array of at least one number"),
        ({"people": []}, "people must be a flat array of at least one number"),
        ({"delta": 2.0}, "delta must lie strictly between 0 and 1"),
        ({"delta": math.nan}, "delta must lie strictly between 0 and 1"),
        ({"trials": 10**12}, "trials must be at most 10000000, got 1000000000000"),
        ({"run": 3}, "run must be a callable, got 3"),
        ({"epsilon": math.nan}, "epsilon must be a finite number above 0"),
        ({"confidence": math.nan}, "confidence must lie strictly between 0 and 1"),
        ({"seed": -1}, "seed must be None or a whole number that is not negative"),
    ],
)
def test_what_is_wrong_with_the_arguments_of_a_run_is_told(wrong, told):
    given = {"run": lambda people, rng: people, "people": PEOPLE, "changed": 0, "value": 50.0}
    given |= {"epsilon": 1.0, "trials": 20} | wrong
    with pytest.raises(ValueError, match=told) as caught:
        ex.audit_run(**given)
    assert str(SECRET) not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"values": [1.0, 1.0]}, "values must hold two different numbers$"),
        ({"values": [SECRET]}, "values must hold two different numbers$"),
        ({"values": SECRET}, "values must be a flat array"),
        ({"values": [[SECRET, 1.0]]}, "values must be a flat array"),
        ({"values": [SECRET, math.inf]}, "values must be finite numbers$"),
        ({"values": [SECRET, "kg"]}, "values must be finite numbers$"),
        ({"delta": -0.1}, "delta must lie strictly between 0 and 1"),
        ({"delta": ""}, "delta must be a number"),
        ({"trials": 10_000_001}, "trials must be at most 10000000"),
        ({"release": "laplace"}, "release must be a mechanism or a callable, got 'laplace'"),
    ],
)
def test_what_is_wrong_with_the_arguments_of_an_audit_is_told(wrong, told):
    given = {"release": ex.mechanism("laplace", 1.0), "interval": INTERVAL, "trials": 20} | wrong
    with pytest.raises(ValueError, match=told) as caught:
        ex.audit(**given)
    assert str(SECRET) not in str(caught.value)


def test_the_noise_of_the_authors_code_ends_where_laplace_does():
    with pytest.raises(ValueError, match=r"at most 707107 for the noise of the author's code, got 1000000\.0"):
        as_coded(1e6)
    with pytest.raises(ValueError, match="epsilon must lie between 1e-06 and"):
        as_coded(8e-7)
