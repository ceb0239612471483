"""Studies: the same numbers wherever they are computed, kept at once, gone on with after anything."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pandas as pd
import pytest

import explorer as ex
from explorer.studies import replicate, workers
from explorer.studies.study import carry_out, study
from explorer.studies.summary import summary

SMALL = {"epsilons": [2, 5], "methods": ["adaptive", "gradient"], "replicates": 3, "n": 30, "particles": 50}


def numbers(table: pd.DataFrame) -> pd.DataFrame:
    """All that does not depend on how fast the machine is."""
    return table.drop(columns="seconds")


@pytest.fixture(scope="module")
def small() -> pd.DataFrame:
    return study(**SMALL, workers=1)


def test_one_row_for_each_replicate(small):
    assert len(small) == 12
    assert small["error"].isna().all()
    assert small.groupby(["method", "epsilon"]).size().tolist() == [3, 3, 3, 3]
    assert small["seed"].nunique() == 12
    # What it says is what a run with that seed gives.
    row = small.iloc[4]
    trace = ex.simulate(n=30, epsilon=row["epsilon"], particles=50, seed=int(row["seed"]))
    assert row["mu"] == trace.mean[-1, 0]
    assert row["sigma_0.975"] == trace.quantiles[-1, 2, 1]


def test_adding_to_a_study_changes_nothing_that_was_there(small):
    larger = study(**SMALL | {"epsilons": [5, 1, 2], "methods": ["fixed", "gradient"], "replicates": 4}, workers=1)
    keys = ["method", "epsilon", "replicate"]
    both = numbers(small).merge(numbers(larger), on=keys, suffixes=("", "_larger"))
    assert len(both) == 6
    pd.testing.assert_series_equal(both["mu"], both["mu_larger"], check_names=False)
    other = study(**SMALL | {"seed": 2}, workers=1)
    assert not np.any(other["mu"] == small["mu"])


def test_processes_give_the_same_even_if_they_are_killed(small, monkeypatch):
    started = []

    def start(*arguments, **options):
        started.append(subprocess.Popen(*arguments, **options))
        return started[-1]

    def progress(row, done, total):
        if done == 2:
            started[0].kill()

    monkeypatch.setattr(workers, "subprocess", _Module(subprocess, Popen=start))
    table = study(**SMALL, workers=2, progress=progress)
    pd.testing.assert_frame_equal(numbers(table), numbers(small))
    assert len(started) >= 3
    assert all(process.poll() is not None for process in started)


class _Module:
    """A module with some of its names replaced, for one user of it."""

    def __init__(self, module, **names):
        self.__dict__ |= vars(module) | names


def test_a_process_that_always_dies_is_recorded_as_a_failure(monkeypatch):
    monkeypatch.setattr(workers.sys, "executable", "/bin/false" if os.path.exists("/bin/false") else "false")
    table = study(**SMALL | {"methods": ["gradient"], "epsilons": [2]}, workers=2)
    assert table["error"].str.contains("its process ended with code 1").all()


def test_a_process_that_cannot_be_started_is_told(monkeypatch):
    monkeypatch.setattr(workers.sys, "executable", "no such program")
    with pytest.raises(FileNotFoundError):
        study(**SMALL, workers=2)


def test_a_failed_replicate_is_recorded_and_tried_again(tmp_path, monkeypatch, small):
    works = replicate._estimates

    def sometimes(cell, *arguments):
        if cell["replicate"] == 1:
            raise MemoryError("no room")
        return works(cell, *arguments)

    monkeypatch.setattr(replicate, "_estimates", sometimes)
    table = study(**SMALL, workers=1, out=tmp_path)
    failed = table[table["error"].notna()]
    assert failed["replicate"].eq(1).all()
    assert failed["error"].eq("MemoryError: no room").all()
    assert failed["mu"].isna().all()
    found = summary(table)
    assert found["failed"].tolist() == [1] * 4
    assert found["replicates"].tolist() == [2] * 4
    monkeypatch.setattr(replicate, "_estimates", works)
    pd.testing.assert_frame_equal(numbers(study(**SMALL, workers=1, out=tmp_path)), numbers(small))


COMMAND = [
    "study",
    "--epsilon",
    "2",
    "5",
    "--method",
    "adaptive",
    "--replicates",
    "12",
    "--n",
    "150",
    "--particles",
    "300",
]


def test_killed_in_the_middle_it_goes_on(tmp_path):
    """SIGKILL to all of it; started again, no finished replicate is repeated and the table is the same."""
    command = [sys.executable, "-m", "explorer", *COMMAND, "--workers", "2"]
    process = subprocess.Popen([*command, "--out", str(tmp_path / "killed")], start_new_session=True)
    kept = tmp_path / "killed" / "replicates"
    deadline = time.monotonic() + 120
    while len(list(kept.glob("*.parquet"))) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in kept.glob("*.parquet")}
    assert 4 <= len(before) < 24

    for folder in ("killed", "whole"):
        subprocess.run([*command, "--out", str(tmp_path / folder)], check=True, stdout=subprocess.DEVNULL)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    tables = [pd.read_parquet(tmp_path / folder / "replicates.parquet") for folder in ("killed", "whole")]
    pd.testing.assert_frame_equal(*map(numbers, tables))
    again = [pd.read_csv(tmp_path / folder / "table.csv") for folder in ("killed", "whole")]
    pd.testing.assert_frame_equal(*map(numbers, again))


@contextmanager
def cluster():
    """A scheduler and two workers, each a process of its own, on this machine alone."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as local:
        yield local


def test_a_dask_cluster_gives_the_same_even_if_a_worker_dies(tmp_path, small):
    with cluster() as local:
        table = study(**SMALL, scheduler=local.scheduler_address, out=tmp_path / "quiet")
        pd.testing.assert_frame_equal(numbers(table), numbers(small))

        victim = next(iter(local.workers.values())).pid
        finished = []

        def progress(row, done, total):
            finished.append(done)
            if done == 2:
                os.kill(victim, signal.SIGKILL)

        table = study(**SMALL, scheduler=local.scheduler_address, out=tmp_path / "killed", progress=progress)
    pd.testing.assert_frame_equal(numbers(table), numbers(small))
    assert finished == list(range(1, 13))  # none was carried out twice
    assert len(list((tmp_path / "killed" / "replicates").iterdir())) == 12


def test_a_study_can_be_cancelled(tmp_path):
    done = []
    for number in (1, 2):
        table = study(
            **SMALL,
            workers=number,
            progress=lambda row, count, total: done.append(row),
            cancelled=lambda: len(done) >= 2,
        )
        assert 2 <= len(table) < 12
        done.clear()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"replicates": -1}, "replicates must be a whole number of at least 1, got -1"),
        ({"epsilons": []}, "epsilons must not be empty"),
        ({"epsilons": [0]}, "epsilon must be a finite number above 0"),
        ({"methods": ["best"]}, "method must be one of 'adaptive'"),
        ({"methods": ["mhaar/thompson"]}, "no interval can adapt"),
        ({"methods": ["marginal/nonsense"]}, "policy must be one of"),
        ({"mechanisms": ["nonsense"]}, "mechanism must be one of"),
        ({"mu": None}, "mu and sigma must both be given"),
        ({"options": {"mhaar": {}}}, "which no method uses"),
        ({"options": {"marginal": {"subset": 3}}}, "does not take subset"),
        ({"workers": 0}, "workers must be a whole number of at least 1"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_written(wrong, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        study(**SMALL | {"out": tmp_path / "out"} | wrong)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--replicates", "-2"], "replicates must be a whole number of at least 1, got -2"),
        (["--out", "file/out"], "cannot be written"),
        (["--scheduler", "tcp://127.0.0.1:1"], "does not answer within 1 s"),
    ],
)
@pytest.mark.parametrize("command", ["study", "reproduce"])
def test_the_command_line_tells_a_mistake_in_one_line(command, arguments, words, tmp_path, monkeypatch, capsys):
    from explorer.cli import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(workers, "PATIENCE", 1)  # for 10
    (tmp_path / "file").touch()
    assert main([command, *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("says", [None, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"])
def test_something_else_at_the_scheduler_s_place_is_told_in_time(says, tmp_path):
    """It accepts, and then says nothing, or something that is not Dask's. Within the patience, in one line."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept():
            kept = []
            with suppress(OSError):
                while True:
                    kept.append(listener.accept()[0])
                    if says:
                        kept[-1].sendall(says)

        threading.Thread(target=accept, daemon=True).start()
        code = "import sys; from explorer.studies import workers; workers.PATIENCE = 2; from explorer.cli import main; "
        code += f"sys.exit(main(['study', '--scheduler', 'tcp://127.0.0.1:{listener.getsockname()[1]}']))"
        start = time.monotonic()
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert result.returncode == 2
    assert "does not answer within 2 s" in result.stderr
    assert result.stderr.count("\n") == 1, result.stderr
    assert time.monotonic() - start < 30
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("address", ["nonsense", "tcp://", "tcp://host", "foo://a:1", "tcp://a:b", ""])
def test_what_is_no_address_of_a_scheduler_is_told(address):
    with pytest.raises(ValueError, match="scheduler must look like tcp://host:port"):
        workers.Cluster(address)


def test_a_scheduler_that_goes_away_ends_the_study_and_fails_no_replicate(tmp_path):
    long = SMALL | {"replicates": 400, "methods": ["adaptive"]}
    with cluster() as local:

        def progress(row, done, total):
            if done == 2:
                local.close()  # a timeout would leave it half closed, and then it cannot be closed any more

        with pytest.raises(ValueError, match="connection to the scheduler was lost"):
            study(**long, scheduler=local.scheduler_address, out=tmp_path, progress=progress)
    kept = [pd.read_parquet(path) for path in (tmp_path / "replicates").glob("*.parquet")]
    assert 2 <= len(kept) < 800
    assert all(row["error"].isna().all() for row in kept)


def test_a_folder_is_gone_on_with_under_another_spelling_and_with_a_damaged_file(tmp_path, small):
    study(**SMALL | {"methods": ["gradient", "adaptive"]}, workers=1, out=tmp_path)
    first, second, *_ = sorted((tmp_path / "replicates").iterdir())
    first.write_bytes(b"")
    second.write_bytes(b"PAR1 something else")
    table = study(**SMALL | {"methods": ["marginal/thompson", "gradient/thompson"]}, workers=1, out=tmp_path)
    assert set(table["method"]) == {"marginal/thompson", "gradient/thompson"}
    assert table["mu"].tolist() == small["mu"].tolist()
    assert len(summary(table)) == 4


def test_the_summary_is_what_its_columns_say():
    errors = np.array([0.3, -0.1, 0.2, 0.4])
    row = replicate.failed({"epsilon": 1.0, "n": 100}, None) | {"true_mu": 50.0, "true_sigma": 2.0, "seconds": 3.0}
    low, high = {"mu_0.025": 49.75, "sigma_0.025": 1.0}, {"mu_0.975": 50.35, "sigma_0.975": 2.5}
    table = pd.DataFrame([row | low | high | {"mu": 50 + e, "sigma": 2.1, "ess": 10.0} for e in errors])
    table["mu_0.025"] += errors
    (found,) = summary(table).to_dict("records")
    assert found["mu_rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert found["mu_bias"] == pytest.approx(0.2)
    assert found["mu_coverage"] == 0.5
    assert found["sigma_coverage"] == 1
    assert found["sigma_rmse"] == pytest.approx(0.1)
    best = 2 / np.pi * np.tanh(0.5) ** 2
    assert found["efficiency"] == pytest.approx(100 * errors.var(ddof=1) * best / 4, rel=1e-4)
    assert np.isnan(summary(table.assign(delta=1e-5))["efficiency"]).all()


def test_the_truth_can_be_drawn_from_the_prior():
    table = study(
        [5],
        ["adaptive"],
        4,
        n=20,
        particles=50,
        mu=None,
        sigma=None,
        prior=ex.SemiConjugatePrior(3, 4, 3, 8),
        workers=1,
    )
    assert table["true_mu"].nunique() == 4
    assert table["true_mu"].between(-10, 16).all()


def test_the_author_s_slip_is_labelled_with_what_it_gives():
    cell = replicate.DEFAULTS | {"n": 30, "particles": 50, "epsilon": 2.0, "answers_epsilon": 2 * 2**0.5}
    row = carry_out([cell], workers=1).iloc[0]
    assert row["real_epsilon"] == pytest.approx(2.828, abs=1e-3)
    trace = ex.simulate(
        n=30, particles=50, epsilon=2.0, seed=int(row["seed"]), answers_by=ex.mechanism("laplace", 2 * 2**0.5)
    )
    assert row["mu"] == trace.mean[-1, 0]
    noise = trace.y - np.clip(trace.x, trace.left, trace.right)
    right = ex.simulate(n=30, particles=50, epsilon=2.0, seed=int(row["seed"]))
    first = right.y[0] - np.clip(right.x[0], right.left[0], right.right[0])
    assert noise[0] == pytest.approx(first / 2**0.5)


def test_cells_are_plain_and_their_keys_stable():
    cell = {"method": "adaptive", "epsilon": 2.0}
    assert replicate.key(json.loads(json.dumps(cell))) == replicate.key(cell)
    assert replicate.key({"method": "marginal/thompson", "epsilon": 2.0}) == replicate.key(cell)
    assert replicate.key(cell | {"replicate": 1}) != replicate.key(cell)
