"""A file goes in, answers come out, and the file is gone."""

import asyncio
import gc

import numpy as np
import pytest

from explorer.models.data_collection import DataCollection

VALUES = np.random.default_rng(1).normal(50, 5, 300)
CSV = b"who,weight\n" + b"".join(b"p%d,%.6f\n" % (k, value) for k, value in enumerate(VALUES)) + b"nobody,\n"
SETTINGS = {"mechanism": "piecewise", "epsilon": 4, "particles": 200}


def holding(content: bytes = CSV, **settings) -> DataCollection:
    model = DataCollection(**(SETTINGS | settings))
    model.take(content, "people.csv")
    model.column = "weight"
    return model


def reachable_from(model) -> bytes:
    """Everything that the model still holds, as text and bytes."""
    seen, waiting, found = set(), [model.__dict__, model.param.values()], []
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or isinstance(thing, type) or callable(thing):
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            found.append(thing.tobytes())
        elif isinstance(thing, bytes | str):
            found.append(thing.encode() if isinstance(thing, str) else thing)
        elif isinstance(thing, dict):  # from Python 3.13 on, the collector finds an object's values in the object alone
            waiting += [*thing.keys(), *thing.values()]
        else:
            waiting += gc.get_referents(thing)
    return b"".join(found)


def test_answers_come_out_and_the_file_is_forgotten():
    model = holding()
    assert (model.columns, model.file_name) == (["who", "weight"], "people.csv")
    found = model.compute()
    assert (found.people, found.rows, found.missing, found.finished) == (300, 300, 1, True)
    assert found.quantiles.shape == (300, 3, 2)
    assert np.all(np.diff(found.quantiles, axis=1) >= 0)
    assert found.open is None
    low, _, high = found.quantiles[-1, :, 0]
    assert low - 3 < VALUES.mean() < high + 3
    assert (model.columns, model._file) == ([], None)
    with pytest.raises(ValueError, match="there is no file"):
        model.compute()


def test_no_value_can_be_reached_afterwards():
    model = holding()
    before = reachable_from(model)
    assert b"%.6f" % VALUES[0] in before  # the search finds what is there
    asyncio.run(model.refresh())
    assert model.status == "ready"
    after = reachable_from(model)
    for value in np.round(VALUES, 6):
        assert b"%.6f" % value not in after
        assert np.float64(value).tobytes() not in after


def test_what_is_downloaded_holds_answers_alone():
    found = holding().compute()
    table = found.table()
    assert list(table)[:4] == ["t", "left", "right", "y"]
    np.testing.assert_array_equal(table["y"], found.y)
    assert table["mu_50%"].iloc[-1] == found.quantiles[-1, 1, 0]
    assert not set(np.round(VALUES, 6)) & set(table.to_numpy().ravel())


def test_the_open_estimate_is_there_only_for_public_data():
    model = holding()
    model.public = True
    found = model.compute()
    assert found.open.mu == pytest.approx(np.round(VALUES, 6).mean())
    assert found.open.sigma == pytest.approx(np.round(VALUES, 6).std())


def test_a_column_of_text_is_refused_and_the_file_kept():
    model = holding()
    model.column = "who"
    asyncio.run(model.refresh())
    assert model.status == "failed"
    assert "300 cells" in model.error or "301 cells" in model.error
    assert "p0" not in model.error
    model.column = "weight"
    asyncio.run(model.refresh())
    assert model.status == "ready"


def test_it_can_be_stopped_and_keeps_what_was_answered():
    model = holding(mechanism="laplace")
    model.param.watch(lambda event: model.cancel(), "result")
    model.cancel()  # an older one must not count

    async def scenario() -> None:
        task = asyncio.create_task(model.refresh())
        while model.result is None and not task.done():
            await asyncio.sleep(0.01)
        await task

    asyncio.run(scenario())
    assert 0 < model.result.y.size <= 300
    assert model.result.finished == (model.result.y.size == 300)
    assert model.status == ("ready" if model.result.finished else "cancelled")


def test_two_clicks_ask_everybody_once():
    model = holding(mechanism="laplace")

    async def scenario() -> None:
        await asyncio.gather(model.refresh(), model.refresh())

    asyncio.run(scenario())
    assert (model.status, model.error) == ("ready", "")
    assert model.result.y.size == 300


def test_public_is_said_of_one_file_alone():
    model = holding(public=True)
    assert not model.public  # it was said before this file came
    model.public = True
    assert model.compute().open is not None
    model.take(CSV, "private.csv")
    model.column = "weight"
    assert not model.public
    assert model.compute().open is None


def test_a_new_file_that_comes_while_the_old_one_is_collected_from_stays():
    model = holding(mechanism="laplace")

    async def scenario() -> None:
        task = asyncio.create_task(model.refresh())
        while model.result is None:
            await asyncio.sleep(0.01)
        model.take(b"x\n1\n", "new.csv")
        await task

    asyncio.run(scenario())
    assert (model.file_name, model.columns) == ("new.csv", ["x"])


def test_without_opendp_the_file_is_kept_for_another_mechanism(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "opendp.prelude", None)
    model = holding(mechanism="laplace")
    asyncio.run(model.refresh())
    assert (model.status, model.columns) == ("failed", ["who", "weight"])
    assert "pip install 'explorer[opendp]'" in model.error
    model.experiment.mechanism = "piecewise"
    asyncio.run(model.refresh())
    assert model.status == "ready"


def test_twenty_megabytes_and_one_byte_more():
    head = b"x\n1\n"
    model = DataCollection()
    model.take(head + b"\n" * (20_000_000 - len(head)), "exactly.csv")
    assert model.columns == ["x"]
    with pytest.raises(ValueError, match=r"more\.csv is larger than 20 MB"):
        model.take(head + b"\n" * (20_000_001 - len(head)), "more.csv")
    assert model.columns == []


def test_only_so_many_people_are_asked():
    found = holding(most=25).compute()
    assert (found.people, found.rows, found.y.size) == (25, 300, 25)
    assert found.needed(1e6) == 1
    assert found.needed(1e-6) is None


def test_the_script_does_the_same(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "your_file.csv").write_bytes(CSV)
    script = holding(family="student_t", df=7, most=30).compute().script()
    exec(compile(script, "script", "exec"), {})
    assert capsys.readouterr().out.count("[") == 4


def test_to_open_a_file_changes_nothing():
    """It is done in a thread, and whatever changes is shown by another."""
    model = holding(public=True)
    before, file, changes = model.param.values(), model._file, []
    model.param.watch(lambda *events: changes.extend(events), list(model.param), onlychanged=False)
    opened = model.opened(b"x\n1\n", "new.csv")
    assert (opened.name, opened.columns) == ("new.csv", ["x"])
    for wrong in (b"", b"73 913\n"):
        with pytest.raises(ValueError, match=r"new\.csv"):
            model.opened(wrong, "new.csv")
    assert (model.param.values(), model._file, changes) == (before, file, [])
    model.hold(opened)
    assert (model.file_name, model.columns, model.column) == ("new.csv", ["x"], "x")


def test_what_was_cancelled_is_not_final_and_the_next_one_is_whole(monkeypatch):
    monkeypatch.setattr("explorer.models.data_collection._PAUSE", 0.0)
    model = holding()
    for found in model.work():
        model._publish(found)
        model.cancel()
    assert 0 < model.result.y.size < 300
    assert not model.result.finished
    assert model.status == "cancelled"
    model.take(CSV, "people.csv")
    model.column = "weight"
    assert model.compute().finished
    assert model.status == "ready"
