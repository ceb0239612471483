"""The estimator as a collector uses it: what it refuses, what a file keeps, what a strange answer does to it."""

import copy
import json
import math
import os
import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from scipy import stats

import explorer as ex
from explorer.engine.inference.history import History
from explorer.engine.inference.samplers import ResampleMove
from explorer.engine.inference.samplers.resample_move import ResampleMoveState
from explorer.io import archive


def fingerprint(estimator):
    posterior = estimator.posterior
    return (
        estimator.answers,
        estimator.interval,
        posterior.particles.tobytes(),
        posterior.weights.tobytes(),
        posterior.log_evidence,
        json.dumps([rng.bit_generator.state for rng in (estimator._particle_rng, estimator._policy_rng)]),
    )


def collect(estimator, count, seed=1, mu=5.0, sigma=2.0):
    """``count`` more individuals answer."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        estimator.observe(estimator.mechanism.release(rng.normal(mu, sigma), estimator.interval, rng))
    return estimator


@pytest.mark.parametrize("sampler", ex.SAMPLERS)
@pytest.mark.parametrize("mechanism", ex.MECHANISMS)
def test_impossible_answers_are_refused_and_change_nothing(sampler, mechanism):
    estimator = collect(ex.OnlineEstimator(2.0, mechanism=mechanism, sampler=sampler, particles=50, seed=1), 3)
    before = fingerprint(estimator)
    wrong = [math.nan, math.inf, -math.inf, "3", None, [1.0, 2.0]]
    if mechanism == "randomized_response":
        wrong += [0.0, 0.5, 2.0]
    if mechanism == "piecewise":
        low, high = estimator.mechanism.support(estimator.interval)
        wrong += [low - 0.01 * (high - low), high + 0.01 * (high - low)]
    for y in wrong:
        with pytest.raises(ValueError, match=r"^y "):
            estimator.observe(y)
    with pytest.raises(ValueError, match="left must be below right"):
        estimator.observe(1.0, interval=(2.0, 1.0))
    assert fingerprint(estimator) == before
    collect(estimator, 1)


@pytest.mark.parametrize("sampler", ex.SAMPLERS)
def test_an_interruption_changes_nothing(sampler, monkeypatch):
    estimator = collect(ex.OnlineEstimator(2.0, sampler=sampler, particles=50, seed=1), 3)
    before = fingerprint(estimator)

    def interrupted(posterior, uniform):
        raise KeyboardInterrupt

    monkeypatch.setattr(estimator.policy, "choose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        collect(estimator, 1)
    assert fingerprint(estimator) == before


def test_an_answer_to_another_interval():
    """What counts is the interval that was asked for, whoever chose it."""
    one = ex.OnlineEstimator(2.0, seed=1, particles=100, first_interval=(0, 1))
    other = ex.OnlineEstimator(2.0, seed=1, particles=100, first_interval=(-5, 5))
    one.observe(0.3)
    other.observe(0.3, interval=ex.Interval(0, 1))
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"policy": "plug_in", "mechanism": "piecewise", "score": (1.0, 0.5)},
        {"policy": "pseudo_bayesian", "mechanism": "gaussian", "delta": 1e-6, "score": "trace"},
        {"policy": "fixed", "first_interval": (0, 9), "mechanism": "randomized_response"},
        {"sampler": "resample_move", "sampler_options": {"resampling": "residual", "subset": 3}},
        {"sampler": "grid"},
        {"family": ex.family("student_t", df=3.5), "prior": ex.SemiConjugatePrior(1, 2, 3, 4)},
        {"prior": ex.IndependentPrior(stats.cauchy(0, 10), stats.halfnorm(scale=5)), "family": "gumbel"},
    ],
    ids=lambda settings: "-".join(map(str, settings)) or "default",
)
def test_a_loaded_estimator_continues_bit_for_bit(tmp_path, settings):
    path = tmp_path / "estimator.npz"
    estimator = collect(ex.OnlineEstimator(**{"epsilon": 2.0, "particles": 60, "seed": 3} | settings), 12)
    estimator.save(path)
    loaded = ex.OnlineEstimator.load(path)
    assert fingerprint(loaded) == fingerprint(estimator)
    assert fingerprint(collect(loaded, 12, seed=2)) == fingerprint(collect(estimator, 12, seed=2))
    assert loaded.mechanism.privacy == estimator.mechanism.privacy
    assert repr(loaded) == repr(estimator)
    with np.load(path, allow_pickle=False) as file:
        assert json.loads(str(file["header"]))["format"] == "explorer estimator"
        np.testing.assert_array_equal(file["history.y"], estimator.history.y[:12])


def test_what_has_no_name_is_given_again(tmp_path):
    class Mine(ex.Policy):
        name = "mine"

        def choose(self, posterior, uniform):
            return ex.Interval(0, 5 + uniform)

    class Flat(ex.Prior):
        def log_density(self, mu, sigma):
            return np.full(np.shape(mu), -math.log(100)) - sigma

        def quantile(self, mu_uniform, sigma_uniform):
            return 100 * mu_uniform - 50, -np.log1p(-np.asarray(sigma_uniform))

    path = tmp_path / "estimator.npz"
    estimator = collect(ex.OnlineEstimator(2.0, policy=Mine(), prior=Flat(), particles=60, seed=3), 5)
    estimator.save(path)
    with pytest.raises(ValueError, match=r"had a prior of its own: give it again as prior=\.\.\."):
        ex.OnlineEstimator.load(path, policy=Mine())
    with pytest.raises(ValueError, match="had a policy of its own"):
        ex.OnlineEstimator.load(path, prior=Flat())
    loaded = ex.OnlineEstimator.load(path, policy=Mine(), prior=Flat())
    assert fingerprint(collect(loaded, 5)) == fingerprint(collect(estimator, 5))


def test_a_score_of_ones_own(tmp_path):
    path = tmp_path / "estimator.npz"

    def score(matrix):
        return matrix[..., 0, 0] + 0.1 * matrix[..., 1, 1]

    settings = {"epsilon": 2.0, "particles": 60, "seed": 3}
    collect(ex.OnlineEstimator(**settings, score=score), 3).save(path)
    assert ex.OnlineEstimator.load(path).answers == 3  # Thompson sampling has found its interval already
    collect(ex.OnlineEstimator(**settings, score=score, policy="pseudo_bayesian"), 3).save(path)
    with pytest.raises(ValueError, match="had a score of its own"):
        ex.OnlineEstimator.load(path)
    assert ex.OnlineEstimator.load(path, score=score).answers == 3
    collect(ex.OnlineEstimator(**settings, score=np.array([1, 2])), 3).save(path)
    assert ex.OnlineEstimator.load(path).score == [1.0, 2.0]


def test_nobody_can_change_what_an_estimator_knows():
    estimator = collect(ex.OnlineEstimator(2.0, particles=60, seed=3), 5)
    for array in (estimator.posterior.particles, estimator.posterior.weights, estimator.history.y):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_saving_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "estimator.npz"
    estimator = collect(ex.OnlineEstimator(2.0, particles=60, seed=3), 5)
    estimator.save(path)
    before = path.read_bytes()
    collect(estimator, 5)

    def full(descriptor):
        raise OSError("disk full")

    monkeypatch.setattr(archive.os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        estimator.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["estimator.npz"]  # and nothing is left lying around
    monkeypatch.undo()
    estimator.save(path)
    assert ex.OnlineEstimator.load(path).answers == 10


def test_a_file_that_is_no_estimator_is_told(tmp_path):
    path = tmp_path / "estimator.npz"
    with pytest.raises(FileNotFoundError):
        ex.OnlineEstimator.load(path)
    path.write_bytes(b"PK\x03\x04 broken")
    with pytest.raises(ValueError, match="not a file with explorer estimator data"):
        ex.OnlineEstimator.load(path)
    collect(ex.OnlineEstimator(2.0, particles=60, seed=3), 5).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    del arrays["state.weights"]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="is damaged"):
        ex.OnlineEstimator.load(path)
    np.savez(path, **arrays, **{"state.weights": np.ones(3)})
    with pytest.raises(ValueError, match="is damaged"):
        ex.OnlineEstimator.load(path)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        ex.OnlineEstimator(particles=2).save(tmp_path / "no" / "folder.npz")


def test_a_file_cannot_run_code(tmp_path):
    path = tmp_path / "estimator.npz"
    np.savez(path, header=np.array([print], dtype=object))
    with pytest.raises(ValueError, match="not a file with explorer estimator data"):
        ex.OnlineEstimator.load(path)


def test_the_first_interval_depends_on_no_data():
    assert ex.OnlineEstimator(seed=1, first_interval=(3, 4)).interval == ex.Interval(3, 4)
    assert ex.OnlineEstimator(seed=1).interval == ex.OnlineEstimator(seed=1).interval
    assert ex.OnlineEstimator(seed=1).interval != ex.OnlineEstimator(seed=2).interval  # drawn from the prior
    a, b, _ = ex.best_interval(1.0)
    mean = ex.OnlineEstimator(policy="plug_in", sampler="grid").posterior.mean
    interval = ex.OnlineEstimator(policy="plug_in", sampler="grid").interval
    np.testing.assert_allclose(interval, [mean[0] + a * mean[1], mean[0] + b * mean[1]])
    with pytest.raises(ValueError, match="policy 'fixed' needs an interval"):
        ex.OnlineEstimator(policy="fixed")
    with pytest.raises(ValueError, match="policy 'oracle' needs the true parameters"):
        ex.OnlineEstimator(policy="oracle")


# Degenerate moments


@pytest.mark.parametrize("sampler", ["marginal", "resample_move"])
@pytest.mark.parametrize("particles", [1, 2, 3])
def test_a_handful_of_particles_survives(sampler, particles):
    estimator = collect(ex.OnlineEstimator(5.0, sampler=sampler, particles=particles, seed=1), 60)
    assert estimator.posterior.particles.shape == (particles, 2)
    assert np.all(np.isfinite(estimator.posterior.mean))
    assert estimator.posterior.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("sampler", ex.SAMPLERS)
@pytest.mark.parametrize("mechanism", ["laplace", "gaussian"])
def test_weights_that_would_underflow(sampler, mechanism):
    """Answers whose density is e^-5000 under every particle still tell particles apart."""
    estimator = ex.OnlineEstimator(2.0, mechanism=mechanism, sampler=sampler, particles=200, seed=1)
    scale = estimator.mechanism.scale(ex.Interval(0, 1))
    y = 5000 * scale if mechanism == "laplace" else 100 * scale
    for _ in range(3):
        estimator.observe(y, interval=ex.Interval(0, 1))
    assert np.isfinite(estimator.posterior.log_evidence)
    assert estimator.posterior.log_evidence < -10_000
    assert estimator.posterior.mean[0] > 20  # most of what lies above the interval, nothing below it
    assert estimator.posterior.quantiles(0.2)[0] > -5
    collect(estimator, 20)
    assert np.all(np.isfinite(estimator.posterior.mean))


@pytest.mark.parametrize("sampler", ex.SAMPLERS)
def test_an_answer_that_no_number_can_weigh_is_refused(sampler):
    estimator = collect(ex.OnlineEstimator(2.0, sampler=sampler, particles=50, seed=1), 3)
    before = fingerprint(estimator)
    with pytest.raises(ex.ImpossibleAnswerError, match="probability 0 under every"):
        estimator.observe(1e300, interval=(0, 1e-300))
    assert fingerprint(estimator) == before
    collect(estimator, 3)


@pytest.mark.parametrize("epsilon", [20.0, 100.0])
def test_one_survivor_becomes_a_cloud_again(epsilon):
    """An answer pins mu to a thousandth of the prior's range, where a single particle is: the others must follow it."""
    settings = {"epsilon": epsilon, "prior": ex.SemiConjugatePrior(0, 1e6, 5, 1)}
    estimator = ex.OnlineEstimator(**settings, particles=1000, seed=11)
    exact = ex.OnlineEstimator(**settings, sampler="grid")
    near = np.abs(estimator.posterior.particles[:, 0] - 123) < 5
    assert np.count_nonzero(near) == 1
    for t, y in enumerate((123.0, 123.1, 122.9, 123.4, 122.6)):
        info = estimator.observe(y, interval=ex.Interval(118, 128))
        exact.observe(y, interval=ex.Interval(118, 128))
        if t == 0:
            assert info.resampled
            assert info.unique > 500
    assert abs(estimator.posterior.mean[0] - exact.posterior.mean[0]) < 0.3 * exact.posterior.sd[0]
    assert estimator.posterior.sd[0] == pytest.approx(exact.posterior.sd[0], rel=0.3)


@pytest.mark.parametrize("sampler", ex.SAMPLERS)
@pytest.mark.parametrize("shape", [0.01, 200.0])
def test_sigma_at_the_edge_of_the_floating_point_range(sampler, shape):
    """IG(0.01, 1) draws sigmas from 1e-1 to 1e100."""
    prior = ex.SemiConjugatePrior(0, 1e4, shape, 1.0 if shape < 1 else 1e-30)
    estimator = ex.OnlineEstimator(2.0, sampler=sampler, particles=300, prior=prior, seed=1)
    sigma = estimator.posterior.particles[:, 1]
    assert np.all((sigma > 0) & np.isfinite(sigma))
    if shape < 1:
        assert sigma.max() > 1e50
    else:
        assert sigma.min() < 1e-15
    collect(estimator, 30)
    posterior = estimator.posterior
    assert np.all(np.isfinite(posterior.particles))
    assert np.all(np.isfinite(posterior.weights))
    assert np.isfinite(posterior.log_evidence)


def test_a_truth_far_from_the_prior():
    """mu lies 15 prior standard deviations away: the answers win in the end, as fast as the exact posterior says."""
    settings = {"epsilon": 5.0, "prior": ex.SemiConjugatePrior(0, 1, 3, 8)}
    estimator = collect(ex.OnlineEstimator(**settings, particles=1000, seed=1), 300, mu=15.0)
    exact = ex.OnlineEstimator(**settings, sampler="grid")
    for y, left, right in zip(*estimator.history.arrays, strict=True):
        exact.observe(y, interval=(left, right))
    assert exact.posterior.mean[0] > 10
    assert np.all(np.abs(estimator.posterior.mean - exact.posterior.mean) < 0.2 * exact.posterior.sd)
    np.testing.assert_allclose(estimator.posterior.sd, exact.posterior.sd, rtol=0.15)


# Long collections


def test_a_million_answers_fit_into_memory():
    tracemalloc.start()
    history = History()
    for t in range(1_000_000):
        history = history.append(t, t - 1.0, t + 1.0)
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(history) == 1_000_000
    np.testing.assert_array_equal(history.y[[0, 999_999]], [0, 999_999])
    assert size < 60e6
    assert peak < 120e6


def test_a_history_can_be_continued_twice():
    trunk = History([1.0], [0.0], [2.0])
    first, second = trunk.append(2.0, 0.0, 2.0), trunk.append(3.0, 0.0, 2.0)
    assert first.y.tolist() == [1, 2]
    assert second.y.tolist() == [1, 3]
    assert trunk.y.tolist() == [1]


def test_resample_move_stays_below_100_mb():
    """The last step of a run with N = n = 1000."""
    rng = np.random.default_rng(1)
    sampler = ResampleMove(ex.family("normal"), ex.mechanism("laplace", 1.0), ex.SemiConjugatePrior(), 1000)
    answers = np.stack([rng.normal(5, 2, 999), np.full(999, 4.0), np.full(999, 6.0)])
    state = sampler.init(rng)
    state = ResampleMoveState(state.particles, state.weights, rng.normal(5, 2, (1000, 999)), 0.0, History(*answers))
    tracemalloc.start()
    tracemalloc.reset_peak()
    sampler.step(rng, state, 5.0, ex.Interval(4, 6))
    peak = tracemalloc.get_traced_memory()[1] + state.x.nbytes
    tracemalloc.stop()
    assert 16e6 < peak < 100e6


def test_resample_move_refuses_to_fill_the_memory():
    sampler = ResampleMove(ex.family("normal"), ex.mechanism("laplace", 1.0), ex.SemiConjugatePrior(), 10**9)
    with pytest.raises(ValueError, match="use another sampler"):
        sampler.step(None, ResampleMoveState(None, None, None, 0.0, History()), 1.0, ex.Interval(0, 1))


def test_a_subset_keeps_the_work_of_a_step_constant():
    work = {}
    for subset in (None, 10):
        sampler = ResampleMove(
            ex.family("normal"), ex.mechanism("laplace", 1.0), ex.SemiConjugatePrior(), 20, subset=subset
        )
        rng = np.random.default_rng(1)
        state = sampler.init(rng)
        work[subset] = []
        for _ in range(40):
            state, info = sampler.step(rng, state, 0.5, ex.Interval(0, 1))
            work[subset].append(info.work)
    assert work[10][15:] == [20 * 21] * 25
    assert work[None][-1] == 20 * (2 * 39 + 1)


@pytest.mark.parametrize("sampler", ex.SAMPLERS)
def test_a_copy_draws_its_own_random_numbers(sampler):
    estimator = collect(ex.OnlineEstimator(2.0, sampler=sampler, particles=50, seed=1), 3)
    copies = [copy.copy(estimator), pickle.loads(pickle.dumps(estimator))]
    for each in (estimator, *copies):
        for y in (4.0, 6.0, 5.0):
            each.observe(y)
    assert [fingerprint(each) for each in copies] == [fingerprint(estimator)] * 2


def test_nothing_is_observed_while_an_estimator_is_saved(tmp_path, monkeypatch):
    """Otherwise an older state could replace a newer one."""
    estimator, taken = ex.OnlineEstimator(2.0, particles=20, seed=1), []
    write = archive.write

    def watched(*arguments):
        thread = threading.Thread(target=lambda: taken.append(estimator._lock.acquire(blocking=False)))
        thread.start()
        thread.join()
        write(*arguments)

    monkeypatch.setattr(archive, "write", watched)
    estimator.save(tmp_path / "e.npz")
    assert taken == [False]
    assert ex.OnlineEstimator.load(tmp_path / "e.npz").answers == 0


@pytest.mark.parametrize(
    ("name", "wrong", "words"),
    [
        ("family", "normal", "family must be a Family, got 'normal'"),
        ("prior", "flat", "prior must be a Prior, got 'flat'"),
        ("policy", "thompson", "policy must be a Policy, got 'thompson'"),
        ("mechanism", "laplace", "mechanism must be a Mechanism, got 'laplace'"),
        ("sampler", "marginal", "sampler must be the class of a sampler, got 'marginal'"),
    ],
)
def test_a_name_is_not_what_is_given_again(tmp_path, name, wrong, words):
    path = tmp_path / "estimator.npz"
    ex.OnlineEstimator(2.0, particles=20, seed=1).save(path)
    with pytest.raises(ValueError, match=words) as refusal:
        ex.OnlineEstimator.load(path, **{name: wrong})
    assert "damaged" not in str(refusal.value)
