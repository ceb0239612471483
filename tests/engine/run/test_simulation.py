"""Simulated runs: what they reach, what a seed fixes, and how they are kept."""

import hashlib
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from scipy import stats

import explorer as ex
from explorer.engine.run.simulation import FIXED_HALF_WIDTH

RUNS = 30
TRUTH = 50.0, 10**0.5
#: epsilon: RMSE of mu and of sigma over 30 runs, adaptive and with mu ± 10 sigma, as found by another program.
REFERENCE = {
    1.0: ((0.40, 1.18), (2.14, 1.50)),
    2.0: ((0.18, 1.26), (1.23, 1.60)),
    5.0: ((0.12, 0.26), (0.45, 1.47)),
    10.0: ((0.115, 0.12), (0.22, 0.50)),
}


def last_step(seed, **settings):
    trace = ex.simulate(*TRUTH, 1000, seed=seed, keep=1000, levels=(), **settings)
    return trace.mean[-1], trace.sd[-1]


def runs(pool, **settings):
    means, sds = zip(*pool.map(partial(last_step, **settings), range(100, 100 + RUNS)), strict=True)
    return np.array(means) - TRUTH, np.array(sds)


def rmse(errors):
    return np.sqrt(np.mean(errors**2, axis=0))


@pytest.mark.parametrize("epsilon", REFERENCE)
@pytest.mark.parametrize("policy", ["thompson", "fixed"])
def test_accuracy_of_the_papers_experiment(pool, epsilon, policy):
    """mu = 50, sigma^2 = 10, n = N = 1000, the paper's prior."""
    errors, _ = runs(pool, epsilon=epsilon, policy=policy)
    # A root mean square of 30 errors is off by 1/sqrt(60) of itself, and so is the reference.
    tolerance = 3.5 * np.sqrt(2 / 60)
    expected = REFERENCE[epsilon][policy == "fixed"]
    np.testing.assert_allclose(np.log(rmse(errors)), np.log(expected), atol=tolerance)

    h = ex.best_interval(epsilon).b if policy == "thompson" else FIXED_HALF_WIDTH
    limit = TRUTH[1] / np.sqrt(1000 * ex.fisher_information(-h, h, epsilon)[0, 0])
    # At epsilon = 1 a thousand answers are too few to stand on the limit: the search for mu itself costs some.
    assert rmse(errors)[0] == pytest.approx(limit, rel=0.5 if epsilon == 1 else 3.5 / np.sqrt(60))


@pytest.mark.parametrize("mechanism", ["laplace", "piecewise", "randomized_response"])
def test_mechanisms_reach_what_their_information_predicts(pool, mechanism):
    """With sigma as good as known, mu becomes known to sigma/sqrt(n F): so better mechanisms do better."""
    prior = ex.SemiConjugatePrior(mean=0, variance=1e4, shape=5000, scale=50_000)
    errors, sds = runs(pool, epsilon=2.0, mechanism=mechanism, prior=prior)
    limit = TRUTH[1] / np.sqrt(1000 * ex.best_interval(2.0, mechanism=mechanism).value)
    assert sds[:, 0].mean() == pytest.approx(limit, rel=0.08)
    assert sds[:, 0].min() > 0.9 * limit
    # And the errors are as large as the posterior says.
    squares = np.sum((errors[:, 0] / sds[:, 0]) ** 2)
    assert 0.001 < stats.chi2(RUNS).sf(squares) < 0.999


def test_piecewise_learns_sigma_where_laplace_cannot(pool):
    """Same privacy, same individuals, the paper's prior."""
    assert rmse(runs(pool, epsilon=2.0, mechanism="piecewise")[0])[1] < 0.5 * rmse(runs(pool, epsilon=2.0)[0])[1]


def digest(trace):
    names = ("x", "y", "left", "right", "mean", "sd", "quantiles", "ess", "log_evidence", "particles", "weights")
    return hashlib.sha256(b"".join(getattr(trace, name).tobytes() for name in names)).hexdigest()


SETTINGS = [
    {"n": 300, "epsilon": 3.0},
    {"n": 60, "epsilon": 3.0, "family": "student_t", "mechanism": "gaussian", "particles": 700},
    {"n": 60, "epsilon": 3.0, "sampler": "resample_move", "particles": 300},
    {"n": 12, "epsilon": 3.0, "sampler": "grid", "policy": "pseudo_bayesian"},
]


def test_same_seed_same_trace_across_processes_and_thread_counts():
    here = [digest(ex.simulate(seed=5, **settings)) for settings in SETTINGS]
    code = f"""
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import explorer as ex
from test_simulation import SETTINGS, digest
print(*[digest(ex.simulate(seed=5, **settings)) for settings in SETTINGS])
"""
    for threads in ("1", "5"):
        environment = os.environ | {"EXPLORER_THREADS": threads}
        result = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert result.stdout.split() == here
    assert digest(ex.simulate(seed=6, **SETTINGS[0])) != here[0]


def test_common_random_numbers():
    base = ex.simulate(50, 3, 200, 5.0, seed=3, particles=500)
    # The population is the same individuals, whatever else changes, and moves with mu and sigma.
    for other in ({"epsilon": 1.0}, {"particles": 50}, {"mechanism": "piecewise"}, {"policy": "fixed"}, {"n": 100}):
        trace = ex.simulate(**{"mu": 50, "sigma": 3, "n": 200, "epsilon": 5.0, "seed": 3, "particles": 500} | other)
        np.testing.assert_array_equal(trace.x, base.x[: len(trace)])
    moved = ex.simulate(60, 6, 200, 5.0, seed=3, particles=500)
    np.testing.assert_allclose((moved.x - 60) / 6, (base.x - 50) / 3, atol=1e-9)

    # With a fixed interval the answers move continuously with epsilon, and not at all with the particles.
    fixed = {"mu": 50, "sigma": 3, "n": 200, "seed": 3, "policy": "fixed"}
    few, many = (ex.simulate(**fixed, epsilon=5.0, particles=k) for k in (100, 500))
    np.testing.assert_array_equal(few.y, many.y)
    near = ex.simulate(**fixed, epsilon=5.0001, particles=500)
    np.testing.assert_allclose(near.y, many.y, atol=0.02)
    assert np.abs(near.y - many.y).max() > 0

    # In an adaptive run a small change moves the estimates by less than what another seed would.
    close = ex.simulate(50, 3, 200, 5.01, seed=3, particles=500)
    other = ex.simulate(50, 3, 200, 5.0, seed=4, particles=500)
    change, chance = (np.abs(trace.mean[:, 0] - base.mean[:, 0])[50:].mean() for trace in (close, other))
    assert change < 0.5 * chance
    more = ex.simulate(50, 3, 200, 5.0, seed=3, particles=550)
    assert np.abs(more.mean[:, 0] - base.mean[:, 0])[50:].mean() < 0.5 * chance


def test_a_trace_says_what_happened():
    trace = ex.simulate(50, 3, 45, 5.0, seed=1, particles=200, keep=20)
    assert len(trace) == 45
    assert trace.mean.shape == trace.sd.shape == (45, 2)
    assert trace.quantiles.shape == (45, 3, 2)
    np.testing.assert_array_equal(trace.kept, [20, 40, 45])
    assert trace.particles.shape == (3, 200, 2)
    for row, t in enumerate(trace.kept):
        cloud = ex.Posterior(trace.particles[row], trace.weights[row], 0.0)
        np.testing.assert_allclose(cloud.mean, trace.mean[t - 1])
        np.testing.assert_allclose(cloud.sd, trace.sd[t - 1])
        assert cloud.ess == pytest.approx(trace.ess[t - 1])
    assert np.all(trace.left < trace.right)
    assert np.all(trace.seconds > 0)
    assert np.all(np.diff(trace.quantiles, axis=1) >= 0)
    assert trace.resampled.any()
    assert not trace.resampled.all()
    np.testing.assert_array_equal(ex.simulate(n=30, keep=[3, 7], seed=1, particles=10).kept, [3, 7])


def test_the_steps_are_the_trace():
    steps = list(ex.iter_simulation(50, 3, 30, 5.0, seed=1, particles=100))
    trace = ex.simulate(50, 3, 30, 5.0, seed=1, particles=100)
    np.testing.assert_array_equal([step.y for step in steps], trace.y)
    np.testing.assert_array_equal([step.posterior.mean for step in steps], trace.mean)
    assert [step.t for step in steps] == list(range(1, 31))
    # The individual is asked for exactly the interval that their answer is weighed with.
    for step, left, right in zip(steps, trace.left, trace.right, strict=True):
        assert step.interval == (left, right)


@pytest.mark.parametrize(
    "settings", [{}, {"sampler": "grid", "first_interval": (40, 60)}, {"family": ex.family("student_t", df=3)}]
)
def test_a_trace_survives_its_file(tmp_path, settings):
    trace = ex.simulate(50, 3, 15, 5.0, seed=1, particles=100, keep=4, **settings)
    path = tmp_path / "trace.npz"
    trace.save(path)
    loaded = ex.Trace.load(path)
    for name in trace.__dataclass_fields__:
        before, after = getattr(trace, name), getattr(loaded, name)
        if name == "settings":
            assert after == before
        else:
            assert after.dtype == before.dtype
            np.testing.assert_array_equal(after, before)
    with np.load(path, allow_pickle=False) as file:  # no pickle inside: anyone can read it
        assert set(file.files) == set(trace.__dataclass_fields__) - {"settings"} | {"header"}


def test_a_file_that_is_no_trace_is_told(tmp_path):
    path = tmp_path / "other.npz"
    np.savez(path, y=np.arange(3))
    with pytest.raises(ValueError, match="not a file with explorer trace data"):
        ex.Trace.load(path)
    path.write_text("nonsense")
    with pytest.raises(ValueError, match="not a file with explorer trace data"):
        ex.Trace.load(path)
    ex.OnlineEstimator(seed=1, particles=5).save(path)
    with pytest.raises(ValueError, match="holds 'explorer estimator' version 1"):
        ex.Trace.load(path)


def test_progress_and_cancelling(tmp_path):
    seen = []
    trace = ex.simulate(n=100, particles=20, seed=1, progress=seen.append, cancelled=lambda: len(seen) == 7)
    assert seen == list(range(1, 8))
    assert len(trace) == 7
    whole = ex.simulate(n=100, particles=20, seed=1)
    np.testing.assert_array_equal(trace.mean, whole.mean[:7])
    np.testing.assert_array_equal(trace.kept, [7])  # the last cloud, also of a run that was cut short

    nothing = ex.simulate(n=100, particles=20, seed=1, cancelled=lambda: True)
    assert len(nothing) == 0
    assert nothing.mean.shape == (0, 2)
    assert nothing.quantiles.shape == (0, 3, 2)
    assert repr(nothing) == "<Trace without answers>"
    nothing.save(tmp_path / "nothing.npz")
    assert len(ex.Trace.load(tmp_path / "nothing.npz")) == 0


def test_a_trace_says_how_to_make_it_again():
    trace = ex.simulate(50, 3, 5, 5.0, particles=np.int64(20), family=ex.family("student_t", df=3.3), keep=np.int64(2))
    settings = trace.settings
    assert settings["family"] == {"name": "student_t", "df": 3.3}
    assert settings["sampler"] == "marginal"
    assert settings["seed"] > 2**64  # drawn for this run
    again = ex.simulate(**settings | {"family": ex.family(**settings["family"])})
    np.testing.assert_array_equal(again.mean, trace.mean)
    prior = ex.SemiConjugatePrior(1.23456789, 2, 3, 4)
    assert ex.simulate(n=2, particles=5, prior=prior).settings["prior"]["mean"] == 1.23456789


def test_a_seed_sequence_is_a_seed():
    seed = np.random.SeedSequence(3)
    one, two = (ex.simulate(n=5, particles=20, seed=seed) for _ in range(2))
    np.testing.assert_array_equal(one.mean, two.mean)


def test_to_arviz():
    import arviz  # among the test tools: a missing one must not pass as a skipped test

    trace = ex.simulate(50, 3, 40, 5.0, seed=1, particles=400)
    data = trace.to_arviz()
    assert data.posterior["mu"].shape == (1, 400)
    assert float(data.posterior["mu"].mean()) == pytest.approx(trace.mean[-1, 0], abs=0.1 * trace.sd[-1, 0])
    np.testing.assert_array_equal(data.observed_data["y"], trace.y)
    assert list(arviz.summary(data).index) == ["mu", "sigma"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 0}, "n must be a whole number of at least 1"),
        ({"sigma": -1}, "sigma must be a finite number above 0"),
        ({"mu": float("nan")}, "mu must be finite"),
        ({"epsilon": 0}, "epsilon must be a finite number above 0"),
        ({"particles": 0}, "particles must be a whole number of at least 1"),
        ({"policy": "greedy"}, "policy must be one of 'thompson'"),
        ({"sampler": "kalman"}, "sampler must be one of 'marginal'"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"keep": 0}, "keep must be a whole number of at least 1"),
        ({"levels": [0.5, 2]}, "levels must be a sequence of numbers between 0 and 1"),
        ({"keep": [5]}, "keep must name answers up to n=3, got 5"),
        ({"first_interval": (2, 1)}, "left must be below right"),
        ({"prior": "flat"}, "prior must be a Prior"),
        ({"sampler_options": {"colour": "red"}}, "sampler 'marginal' does not take colour"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_wrong_values_are_told_in_a_sentence(settings, message):
    with pytest.raises(ValueError, match=message):
        ex.simulate(**{"n": 3, "particles": 5, "seed": 1} | settings)


@pytest.mark.parametrize(
    "settings",
    [
        *[
            {"policy": policy, "epsilon": epsilon}
            for policy in ("thompson", "plug_in", "fixed")
            for epsilon in (1.0, 5.0)
        ],
        {"policy": "oracle"},
        {"particles": 2},
        {"particles": 1000, "epsilon": 20.0},
        {"mechanism": "piecewise"},
        {"sigma": 1e-9, "prior": ex.SemiConjugatePrior(mean=50, variance=1e-6, scale=1e-18)},
    ],
    ids=str,
)
def test_many_answers_at_a_time_are_the_same_as_one_by_one(settings):
    """To the last bit: the compiled stretches between two moves of the particles must not show."""
    settings = {"n": 250, "particles": 150, "seed": 4} | settings
    trace, steps = ex.simulate(**settings, keep=7), list(ex.iter_simulation(**settings))
    for name, of_step in {
        "x": lambda step: step.x,
        "y": lambda step: step.y,
        "left": lambda step: step.interval.left,
        "right": lambda step: step.interval.right,
        "mean": lambda step: step.posterior.mean,
        "sd": lambda step: step.posterior.sd,
        "ess": lambda step: step.posterior.ess,
        "log_evidence": lambda step: step.posterior.log_evidence,
        "quantiles": lambda step: step.posterior.quantiles(trace.levels),
        "resampled": lambda step: step.info.resampled,
    }.items():
        np.testing.assert_array_equal(getattr(trace, name), [of_step(step) for step in steps], err_msg=name)
    for t, particles, weights in zip(trace.kept, trace.particles, trace.weights, strict=True):
        np.testing.assert_array_equal(particles, steps[t - 1].posterior.particles)
        np.testing.assert_array_equal(weights, steps[t - 1].posterior.weights)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"family": "student_t", "mechanism": "gaussian", "delta": 1e-3},
        {"family": ex.family("student_t", df=3), "prior": ex.SemiConjugatePrior(1, 2, 3, 4), "score": (1, 0.5)},
        {"sampler": "resample_move", "sampler_options": {"subset": 3}, "first_interval": (0, 5)},
        {"mechanism": ex.mechanism("piecewise", 1.0), "best": (-1, 2)},
    ],
)
def test_a_trace_tells_how_to_make_it_again_and_what_it_shows(settings):
    trace = ex.simulate(n=8, particles=20, seed=3, **settings)
    names: dict = {}
    exec(trace.script().removesuffix("print(trace)"), names)
    assert digest(names["trace"]) == digest(trace)
    table = trace.table()
    assert len(table) == 8
    np.testing.assert_array_equal(table["y"], trace.y)
    np.testing.assert_array_equal(table[["mu_mean", "sigma_mean"]], trace.mean)
    np.testing.assert_array_equal(table["sigma_97.5%"], trace.quantiles[:, 2, 1])


def test_a_trace_with_something_of_ones_own_does_not_pretend():
    trace = ex.simulate(n=2, particles=20, seed=3, policy=ex.Fixed((0, 100)))
    with pytest.raises(ValueError, match="the policy of this run cannot be serialised"):
        trace.script()
