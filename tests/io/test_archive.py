"""Saved files: nothing in them is trusted, whatever is wrong is one ValueError that names the file."""

import io
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import zipfile
import zlib

import numpy as np
import pytest
from fuzz.saved_files import fields_of, run as fuzz, write_fields
from scipy import stats

import explorer as ex
from explorer.engine.inference.samplers import Marginal
from explorer.engine.mechanisms import LaplaceMechanism
from explorer.engine.policy import PseudoBayesian, Thompson
from explorer.io import archive


def collected(count=6, **settings):
    estimator = ex.OnlineEstimator(**{"epsilon": 2.0, "particles": 30, "seed": 3} | settings)
    rng = np.random.default_rng(1)
    for _ in range(count):
        estimator.observe(estimator.mechanism.release(rng.normal(5, 2), estimator.interval, rng))
    return estimator


def changed(path, change):
    """Save an estimator after ``change(header, arrays)``, with a digest that fits."""
    collected().save(path)
    header, arrays = fields_of(path)
    change(header, arrays)
    write_fields(path, header, arrays)
    return path


@pytest.mark.parametrize("name", ["test", "norm.__init__", "rv_continuous", "gaussian_kde", "kstest", "", 7, None])
def test_a_prior_cannot_name_anything_but_a_distribution(tmp_path, name):
    """scipy.stats.test starts pytest: a file could run code."""
    prior = {"name": "independent", "mu": {"name": name, "args": [], "kwds": {}}}
    prior["sigma"] = {"name": "halfnorm", "args": [], "kwds": {}}
    path = changed(tmp_path / "e.npz", lambda header, arrays: header.update(prior=prior))
    with pytest.raises(ValueError, match=r"e\.npz is damaged: a prior cannot have the distribution|description"):
        ex.OnlineEstimator.load(path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("state.by_sigma", np.full(30, 10**6)),
        ("state.by_sigma", np.full(30, -1)),
        ("state.by_sigma", np.arange(30)[::-1].copy()),
        ("state.particles", np.column_stack([np.arange(30.0), -np.ones(30)])),
        ("state.particles", np.column_stack([np.arange(30.0), np.full(30, np.nan)])),
        ("state.particles", np.ones((31, 2))),
        ("state.weights", np.full(30, 1.0)),
        ("state.weights", np.append(np.full(28, 1 / 28), [0.5, -0.5])),
        ("state.log_weights", np.full(30, np.nan)),
        ("state.log_weights", np.zeros(30)),
        ("state.log_likelihood", np.zeros(30)),
        ("history.y", np.full(6, np.inf)),
        ("history.left", np.full(6, 1e300)),
        ("history.right", np.zeros(5)),
    ],
)
def test_arrays_are_checked_before_a_kernel_sees_them(tmp_path, name, array):
    path = changed(tmp_path / "e.npz", lambda header, arrays: arrays.update({name: array}))
    with pytest.raises(ValueError, match=r"e\.npz is damaged"):
        ex.OnlineEstimator.load(path)


def test_the_number_of_particles_is_that_of_the_arrays(tmp_path):
    for particles in (31, 10**12, -1, "30", None, 29.5):
        path = changed(tmp_path / "e.npz", lambda header, _, n=particles: header["sampler"].update(particles=n))
        with pytest.raises(ValueError, match=r"e\.npz is damaged"):
            ex.OnlineEstimator.load(path)


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", "3", '{"format": NaN}', '{"a": 1' + "0" * 10_000 + "}"])
def test_a_header_that_aims_at_the_parser(tmp_path, text):
    path = tmp_path / "e.npz"
    np.savez(path, header=np.array(text))
    with pytest.raises(ValueError, match=r"e\.npz is damaged, or not a file with explorer estimator data"):
        ex.OnlineEstimator.load(path)


def test_a_small_file_cannot_ask_for_a_large_memory(tmp_path):
    path = tmp_path / "e.npz"
    collected().save(path)
    header, arrays = fields_of(path)
    np.savez_compressed(path, header=np.array(json.dumps(header)), **arrays, more=np.zeros(10**7))
    with pytest.raises(ValueError, match=r"e\.npz is damaged"):
        ex.OnlineEstimator.load(path)
    entry = io.BytesIO()
    np.lib.format.write_array_header_1_0(entry, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("history.y.npy", entry.getvalue() + bytes(80))
    with pytest.raises(ValueError, match=r"e\.npz is damaged"):
        ex.OnlineEstimator.load(path)


def test_a_file_without_a_digest_is_read(tmp_path):
    """Files of version 0.1.0: their answers cannot be collected again."""
    path = tmp_path / "e.npz"
    estimator = collected()
    estimator.save(path)
    header, arrays = fields_of(path)
    del header["state"]["lost"]
    np.savez(path, header=np.array(json.dumps(header)), **arrays)
    np.testing.assert_array_equal(ex.OnlineEstimator.load(path).posterior.particles, estimator.posterior.particles)


def test_a_change_after_saving_is_noticed(tmp_path):
    path = tmp_path / "e.npz"
    collected().save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["history.y"][0] += 1e-9
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="changed after it was saved"):
        ex.OnlineEstimator.load(path)


@pytest.mark.parametrize("what", ["estimator", "trace"])
def test_mutated_files_never_crash_and_never_load_nonsense(what, tmp_path):
    """Some hundred mutations of bytes and fields; ``python -m tests.fuzz`` does thousands."""
    counts = fuzz(200, seed=1, kinds=[what], folder=tmp_path)
    assert counts["mutations"] == 200
    assert counts["wrong"] == []


def test_what_a_killed_save_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "e.npz"
    code = f"""
import os, explorer as ex
from explorer.io import archive
archive.os.replace = lambda *a: (print("now", flush=True), __import__("time").sleep(60))
ex.OnlineEstimator(particles=5, seed=1).save({str(path)!r})
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "now\n"
    assert len(os.listdir(tmp_path)) == 1  # a part of a file
    collected().save(path)  # while the other still writes: its file is left alone
    assert len([name for name in os.listdir(tmp_path) if name.endswith(".part")]) == 1
    process.send_signal(signal.SIGKILL)
    process.wait()
    collected().save(path)
    assert os.listdir(tmp_path) == ["e.npz"]


# Objects of one's own


class OwnLaplace(LaplaceMechanism):
    """Bears the name of its base."""


class Slow(LaplaceMechanism):
    name = "slow"


class OwnMarginal(Marginal):
    """Bears the name of its base."""


class OwnPrior(ex.SemiConjugatePrior):
    """Looks like its base."""

    def log_density(self, mu, sigma):
        return super().log_density(mu, sigma) + 0.0


class OwnThompson(Thompson):
    """Bears the name of its base."""


class _Norm(type(stats.norm)):
    """A distribution that bears SciPy's name."""

    def _ppf(self, q):
        return super()._ppf(q) + 1


@pytest.mark.parametrize(
    ("name", "given", "again", "wrong"),
    [
        ("mechanism", OwnLaplace(2.0), OwnLaplace(2.0), OwnLaplace(3.0)),
        ("mechanism", Slow(2.0), Slow(2.0), Slow(1.0)),
        ("mechanism", LaplaceMechanism(2.0), LaplaceMechanism(2.0), OwnLaplace(2.0)),
        ("sampler", OwnMarginal, OwnMarginal, None),
        ("sampler", Marginal, Marginal, OwnMarginal),
        ("prior", OwnPrior(), OwnPrior(), None),
        ("prior", ex.SemiConjugatePrior(1, 2, 3, 4), ex.SemiConjugatePrior(1, 2, 3, 4), ex.SemiConjugatePrior()),
        ("prior", ex.IndependentPrior(_Norm(name="norm")(0, 9), stats.halfnorm(scale=3)), None, None),
        ("policy", OwnThompson((-0.5, 0.5)), OwnThompson((-0.5, 0.5)), None),
    ],
)
def test_what_is_given_again_is_what_was_saved(tmp_path, name, given, again, wrong):
    """Refused or restored, but never another model than the one that was saved."""
    path = tmp_path / "e.npz"
    settings = {} if name != "sampler" else {"sampler": given}
    if name == "sampler" or name in ("mechanism", "prior", "policy"):
        settings = {name: given}
    estimator = collected(**settings)
    estimator.save(path)
    own = (type(given) if name != "sampler" else given).__module__ == __name__ or again is None
    if own:
        with pytest.raises(ValueError, match=f"had a {name} of its own: give it again as {name}="):
            ex.OnlineEstimator.load(path)
    if again is not None:
        loaded = ex.OnlineEstimator.load(path, **{name: again})
        for each in (loaded, estimator):
            each.observe(1.0, (0.0, 2.0))
        assert loaded.posterior.log_evidence == estimator.posterior.log_evidence
        assert type(getattr(loaded, name)) is type(getattr(estimator, name))
    if wrong is not None:
        with pytest.raises(ValueError, match=f"had another {name}"):
            ex.OnlineEstimator.load(path, **{name: wrong})


def test_an_oracle_stays_an_oracle(tmp_path):
    path = tmp_path / "e.npz"
    estimator = collected(policy=ex.Oracle((0, 9)))
    estimator.save(path)
    assert repr(ex.OnlineEstimator.load(path)) == repr(estimator)


def test_a_prior_of_many_distributions(tmp_path):
    path = tmp_path / "e.npz"
    prior = ex.IndependentPrior(stats.t(df=4, loc=1, scale=30), stats.gamma(2, scale=3))
    estimator = collected(prior=prior)
    estimator.save(path)
    assert repr(ex.OnlineEstimator.load(path).prior) == repr(prior)


def test_loading_takes_bounded_time(tmp_path):
    path = tmp_path / "e.npz"
    collected(count=300, particles=1000).save(path)
    start = time.perf_counter()
    ex.OnlineEstimator.load(path)
    assert time.perf_counter() - start < 5


def test_what_is_given_again_must_be_of_ones_own_and_fit(tmp_path):
    path = tmp_path / "e.npz"
    collected(prior=OwnPrior()).save(path)
    for wrong in (ex.SemiConjugatePrior(), "x", stats.norm(0, 1)):
        with pytest.raises(ValueError, match="had a prior of its own"):
            ex.OnlineEstimator.load(path, prior=wrong)
    collected(policy="pseudo_bayesian", score="sigma").save(path)
    with pytest.raises(ValueError, match="had another score: sigma"):
        ex.OnlineEstimator.load(path, score="mu")
    assert ex.OnlineEstimator.load(path, score="sigma").score == "sigma"


@pytest.mark.parametrize("best", [[-1e290, 1e290], [0.0, 1e-200], [1.0, 0.0]])
def test_a_best_interval_that_no_search_would_find_is_refused(tmp_path, best):
    path = changed(tmp_path / "e.npz", lambda header, _: header["policy"]["arguments"].update(best=best))
    with pytest.raises(ValueError, match=r"e\.npz is damaged"):
        ex.OnlineEstimator.load(path)


def test_a_trace_whose_answers_are_one_number(tmp_path):
    path = tmp_path / "trace.npz"
    archive.write(path, "explorer trace", 1, {"settings": {}}, {"y": np.array(1.0)})
    with pytest.raises(ValueError, match=r"trace\.npz is damaged"):
        ex.Trace.load(path)


def test_a_copy_of_an_estimator_tells_nothing_about_people():
    """A digest and its key together would tell a value from few possible ones."""
    estimator = collected(mechanism="randomized_response")
    next(ex.Collection([63.0], estimator))
    assert {"_key", "_met"} & set(estimator.__getstate__()) == set()


def test_a_posterior_that_is_slow_to_come_does_not_hide_a_newer_one(tmp_path, monkeypatch):
    estimator = ex.OnlineEstimator(epsilon=5, particles=50, seed=1)
    estimator.save(tmp_path / "e.npz")
    loaded = ex.OnlineEstimator.load(tmp_path / "e.npz")
    asked, answer_in = threading.Event(), threading.Event()
    summarise = loaded.sampler.posterior

    def slow(state):
        if not len(state.history):
            asked.set()
            answer_in.wait(0.5)  # the time in which an answer may come
        return summarise(state)

    monkeypatch.setattr(loaded.sampler, "posterior", slow)
    looking = threading.Thread(target=lambda: loaded.posterior)
    looking.start()
    asked.wait(10)
    loaded.observe(0.0)
    answer_in.set()
    looking.join()
    estimator.observe(0.0)
    np.testing.assert_array_equal(loaded.posterior.weights, estimator.posterior.weights)


def overlapping(count: int, size: int) -> bytes:
    """A zip of ``count`` arrays, each of which holds the next one, and the last ``size`` numbers."""
    content, directory, entries = bytes(8 * size), b"", []
    for number in reversed(range(count)):
        name, start = f"array{number:05}.npy".encode(), io.BytesIO()  # so long that the next array is whole numbers
        shape = (len(content) // 8,)
        np.lib.format.write_array_header_1_0(start, {"descr": "<f8", "fortran_order": False, "shape": shape})
        stored = start.getvalue() + content
        sizes = struct.pack("<LLL", zlib.crc32(stored), len(stored), len(stored))
        about = struct.pack("<5H", 20, 0, zipfile.ZIP_STORED, 0, 33) + sizes + struct.pack("<HH", len(name), 4)
        more = struct.pack("<HH", 0xCAFE, 0)
        content = b"PK\x03\x04" + about + name + more + stored
        entries.append((len(content), about, name + more))
    for length, about, rest in entries:
        directory += b"PK\x01\x02\x14\x03" + about + struct.pack("<HHHLL", 0, 0, 0, 0, len(content) - length) + rest
    end = struct.pack("<4H2LH", 0, 0, count, count, len(directory), len(content), 0)
    return content + directory + b"PK\x05\x06" + end


def test_entries_that_overlap_cannot_ask_for_more_than_the_file_holds(tmp_path, monkeypatch):
    path = tmp_path / "e.npz"
    path.write_bytes(overlapping(50, 1000))
    with zipfile.ZipFile(path) as file:
        assert sum(entry.file_size for entry in file.infolist()) > 5 * path.stat().st_size
    opened, open_entry = [], zipfile.ZipFile.open
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *arguments: opened.append(1) or open_entry(*arguments))
    with pytest.raises(ValueError, match=r"e\.npz is damaged, or not a file with explorer estimator data"):
        ex.OnlineEstimator.load(path)
    assert opened == []
    path.write_bytes(overlapping(1, 1000))  # what holds nothing but itself is read
    with pytest.raises(ValueError, match=r"e\.npz is damaged"):
        ex.OnlineEstimator.load(path)
    assert opened == [1]


def test_a_save_leaves_the_files_of_others_alone(tmp_path):
    notes = tmp_path / ".pb.npz.my notes.part"
    notes.write_text("precious")
    (tmp_path / f".pb.npz.{'0a' * 8}.part").write_text("of a write that was killed")
    collected(1).save(tmp_path / "pb.npz")
    assert notes.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == [".pb.npz.my notes.part", "pb.npz"]


@pytest.mark.parametrize(
    ("family", "mechanism", "score"),
    [
        ("normal", ex.mechanism("laplace", 2.0), "sigma"),
        ("normal", ex.mechanism("laplace", 2.0), (1.0, 0.5)),
        ("normal", ex.mechanism("laplace", 2.0), np.array([0.5, 2.0])),
        ("normal", ex.mechanism("laplace", 0.3), "mu"),
        ("normal", ex.mechanism("gaussian", 0.5, 1e-9), "mu"),
        (ex.family("student_t", df=3), ex.mechanism("piecewise", 1.0), "trace"),
    ],
)
def test_a_policy_for_another_population_or_mechanism_stays_what_it_is(tmp_path, family, mechanism, score):
    path = tmp_path / "e.npz"
    policy = PseudoBayesian((-0.5, 0.7), ex.family(family), mechanism, score)
    estimator = collected(2, policy=policy)
    estimator.save(path)
    several = [estimator, ex.OnlineEstimator.load(path), ex.OnlineEstimator.load(path, policy=policy)]
    for each in several:
        each.observe(4.0, (3.0, 6.0))
    assert {each.interval for each in several} == {estimator.interval}


def test_weights_of_a_score_may_be_an_array(tmp_path):
    estimator = collected(1, policy="pseudo_bayesian", score=np.array([1, 2]))
    estimator.save(tmp_path / "e.npz")
    loaded = ex.OnlineEstimator.load(tmp_path / "e.npz")
    for each in (loaded, estimator):
        each.observe(4.0, (3.0, 6.0))
    assert loaded.interval == estimator.interval


def test_a_policy_with_a_score_of_its_own_is_not_given_another(tmp_path):
    policy = PseudoBayesian((-0.5, 0.5), ex.family("normal"), ex.mechanism("laplace", 2.0), lambda f: f[..., 1, 1])
    estimator = collected(1, policy=policy)
    estimator.save(tmp_path / "e.npz")
    with pytest.raises(ValueError, match=r"had a policy of its own: give it again as policy=\.\.\."):
        ex.OnlineEstimator.load(tmp_path / "e.npz")
    loaded = ex.OnlineEstimator.load(tmp_path / "e.npz", policy=policy)
    for each in (loaded, estimator):
        each.observe(4.0, (3.0, 6.0))
    assert loaded.interval == estimator.interval
