"""A comparison without a browser: it grows, it is cancelled, it tells what went wrong."""

import asyncio
import time

import pandas as pd
import pytest

import explorer as ex
from explorer.models.comparison import Comparison, series

SMALL = {"methods": ["adaptive", "gradient"], "epsilons": [5.0, 2.0], "replicates": 2, "n": 30, "particles": 50}


def test_it_is_the_study_of_its_settings():
    model = Comparison(**SMALL, workers=1)
    table = model.compute().table()
    assert model.status == "ready"
    assert set(table["replicate"][:4]) == {0}, "the first replicates of all come first"
    same = ex.study(**model.settings(), workers=1).drop(columns="seconds")
    keys = ["method", "epsilon", "replicate"]
    found = table.drop(columns="seconds").set_index(keys).sort_index()
    pd.testing.assert_frame_equal(found, same.set_index(keys).sort_index())


def test_the_script_gives_the_same():
    model = Comparison(**SMALL | {"methods": ["gradient"]}, family="student_t", df=4.0, workers=1)
    scope = {}
    exec(model.compute().script().replace("replicates=2", "replicates=2, workers=1"), scope)
    assert sorted(scope["table"]["mu"]) == sorted(model.result.table()["mu"])
    assert scope["table"]["df"].eq(4).all()


def test_it_grows_and_can_be_cancelled():
    model = Comparison(**SMALL | {"replicates": 100, "n": 200}, workers=1)
    sizes = []
    model.param.watch(lambda event: sizes.append(0 if event.new is None else event.new.done), "result")

    async def look():
        running = asyncio.ensure_future(model.refresh())
        while len(sizes) < 3:
            await asyncio.sleep(0.02)
        assert model.status == "preview"
        assert 0 < model.done < model.total == 400
        assert model.remaining > 0
        await model.refresh()  # a second start while it runs does nothing
        asked = time.monotonic()
        model.cancel()
        await running
        return time.monotonic() - asked

    assert asyncio.run(look()) < 5
    assert model.status == "cancelled"
    assert sizes == sorted(sizes)
    assert model.result.done == model.done < 400


def test_cancelled_before_the_first_run_is_finished_and_run_again():
    from explorer.views.tabs.compare import Compare

    view = Compare(**SMALL, workers=2)

    async def cancel_and_run():
        running = asyncio.ensure_future(view.model.refresh())
        await asyncio.sleep(0.2)
        view.model.cancel()
        await running
        assert (view.model.status, view.model.error) == ("cancelled", "")
        await view.model.refresh()

    asyncio.run(cancel_and_run())
    assert view.model.status == "ready"
    assert view.model.error == ""
    view.model.experiment.n = 777  # which the result was not computed for
    assert "n=30," in view.model.result.script()
    assert set(view.model.result.table()["n"]) == {30}


def test_one_at_a_time_and_the_others_wait():
    first, second = (Comparison(**SMALL | {"replicates": replicates}, workers=1) for replicates in (100, 1))

    async def both():
        running = [asyncio.ensure_future(model.refresh()) for model in (first, second)]
        while first.status != "preview":
            await asyncio.sleep(0.02)
        assert second.status == "waiting"
        first.cancel()
        await asyncio.gather(*running)

    asyncio.run(both())
    assert (first.status, second.status) == ("cancelled", "ready")


def test_what_cannot_be_is_told():
    everything = {name: Comparison.param[name].objects for name in ("methods", "mechanisms")}
    for changes, words in (
        (everything, "at most 8 combinations"),
        ({"methods": []}, "methods must not be empty"),
        ({"epsilons": []}, "epsilons must not be empty"),
    ):
        model = Comparison(**changes)
        asyncio.run(model.refresh())
        assert model.status == "failed"
        assert words in model.error
        with pytest.raises(ValueError, match=words):
            model.compute()


def test_combinations_are_named_by_what_differs():
    table = pd.DataFrame({"method": ["adaptive", "fixed"], "mechanism": ["laplace", "laplace"]})
    assert table.apply(series(table), axis=1).tolist() == ["adaptive", "fixed"]
    table["mechanism"] = ["laplace", "piecewise"]
    assert table.apply(series(table), axis=1).tolist() == ["adaptive, laplace", "fixed, piecewise"]
