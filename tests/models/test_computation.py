"""Newest wins, in order, off the event loop; errors and progress are parameters."""

import asyncio
import threading
import time

import pytest

from explorer.engine.compute.threads import Stopped, share, stop_if_asked, stoppable
from explorer.models.computation import GRACE, LONG, PATIENCE, Computation
from explorer.models.live_run import LiveSimulation


class Counting(Computation):
    """Gives (epsilon, preview) at once and (epsilon, final) after ``seconds`` of work that can be stopped."""

    inputs = ("epsilon",)
    seconds = 0.3
    first = 0.0
    pause = 0.001

    def __init__(self, **params):
        super().__init__(**params)
        self.superseded = threading.Event()
        self.late_looks = 0
        self.threads = set()

    def is_preview(self, result):
        return result[1] == "preview"

    def work(self):
        epsilon = self.experiment.epsilon

        def busy(seconds):
            start = time.monotonic()
            while time.monotonic() - start < seconds:
                self.threads.add(threading.current_thread())
                self.report((time.monotonic() - start) / seconds)
                self.late_looks += self.superseded.is_set()
                stop_if_asked()
                time.sleep(self.pause)

        def results():
            busy(self.first)
            yield epsilon, "preview"
            busy(self.seconds)
            yield epsilon, "final"

        return results()


def seen_by(model: Computation) -> list:
    seen = []
    model.param.watch(lambda event: seen.append(event.new), "result")
    return seen


async def ask(model: Computation, epsilons, pause: float) -> None:
    tasks = []
    for epsilon in epsilons:
        model.experiment.epsilon = epsilon
        tasks.append(asyncio.create_task(model.refresh()))
        await asyncio.sleep(pause)
    await asyncio.gather(*tasks)


def test_the_newest_request_wins_and_results_come_in_order():
    model = Counting()
    seen = seen_by(model)
    asyncio.run(ask(model, [1, 2, 3, 4], pause=0.05))
    assert seen[-1] == (4, "final")
    assert [kind for _, kind in seen].count("final") == 1
    assert [epsilon for epsilon, _ in seen] == sorted(epsilon for epsilon, _ in seen)
    assert (model.status, model.progress) == ("ready", 1.0)
    assert threading.main_thread() not in model.threads


def test_a_superseded_request_stops_the_next_time_that_it_looks():
    model = Counting()
    model.seconds = 60.0

    async def scenario() -> None:
        first = asyncio.create_task(model.refresh())
        await asyncio.sleep(0.1)
        model.seconds = 0.0
        await model.refresh()
        model.superseded.set()
        await asyncio.wait_for(first, 10)

    asyncio.run(scenario())
    assert model.late_looks <= 1
    assert model.result == (1.0, "final")


def test_a_steady_drag_still_shows_first_results():
    model = Counting()
    model.first, model.seconds = 0.06, 5.0
    seen = seen_by(model)

    async def scenario() -> None:
        tasks = []
        for step in range(40):
            model.experiment.epsilon = 1 + step / 10
            tasks.append(asyncio.create_task(model.refresh()))
            await asyncio.sleep(0.015)
        model.close()
        await asyncio.gather(*tasks)

    asyncio.run(scenario())
    assert len(seen) >= 5
    assert all(kind == "preview" for _, kind in seen)


@pytest.mark.parametrize(("pause", "limit"), [(0, 6 * GRACE), (0.001, PATIENCE)], ids=["works", "waits"])
def test_a_first_result_that_takes_too_long_is_not_waited_for(pause, limit):
    model = Counting()
    model.first, model.pause = 60.0, pause

    async def scenario() -> None:
        task = asyncio.create_task(model.refresh())
        await asyncio.sleep(limit + 0.1)
        model.first = model.seconds = 0.0
        await model.refresh()
        model.superseded.set()
        await asyncio.wait_for(task, 10)

    asyncio.run(scenario())
    assert model.late_looks <= 1
    assert model.result == (1.0, "final")


def test_an_error_is_a_parameter_and_the_next_request_works():
    model = LiveSimulation(n=20, particles=50, manual=True, interval=(1.0, 1.0))
    asyncio.run(model.refresh())
    assert model.status == "failed"
    assert "must lie below" in model.error
    model.experiment.interval = (-1.0, 1.0)
    asyncio.run(model.refresh())
    assert (model.status, model.error) == ("ready", "")
    assert model.result.interval == (-1.0, 1.0)


def test_progress_is_told_in_the_event_loop():
    model = Counting()
    model.seconds = LONG + 0.8
    told = []
    model.param.watch(lambda event: told.append((event.new, threading.current_thread())), "progress")
    asyncio.run(model.refresh())
    shares = [share for share, _ in told]
    assert len(shares) >= 2
    assert all(thread is threading.main_thread() for _, thread in told)
    assert all(0 <= share <= 1 for share in shares)


def test_a_closed_model_stops_and_starts_nothing():
    model = Counting()
    model.seconds = 5.0

    async def scenario() -> None:
        task = asyncio.create_task(model.refresh())
        await asyncio.sleep(0.05)
        model.close()
        await asyncio.wait_for(task, 0.5)
        await model.refresh()

    asyncio.run(scenario())
    assert model.result == (1.0, "preview")


def test_the_default_result_is_recalled_only_for_the_defaults():
    model = Counting()
    model.seconds = 0.0
    assert not Counting(epsilon=2).recall()
    assert LiveSimulation(resolution=60).recall()  # no input of the run


def test_shared_work_stops_between_its_pieces():
    done = []
    with stoppable(lambda: len(done) >= 3), pytest.raises(Stopped):
        share(lambda piece: done.append(piece) or time.sleep(0.01), range(1000))
    assert 3 <= len(done) < 20


@pytest.mark.parametrize(
    "settings",
    [{}, {"sampler": "resample_move", "n": 1000, "particles": 1000}, {"sampler": "grid"}, {"family": "student_t"}],
)
def test_real_runs_with_many_particles_stop_in_the_middle(settings):
    """How soon, in milliseconds, is measured by ``python -m benchmarks stopping``."""
    looks = 0

    def enough() -> bool:
        nonlocal looks
        looks += 1
        return looks > 300

    with stoppable(enough), pytest.raises(Stopped):
        list(LiveSimulation(**({"n": 2000, "particles": 5000, "compare": False} | settings)).work())
    assert looks < 320  # those that had been handed to other threads already
