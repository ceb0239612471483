"""What one visitor may ask for."""

import asyncio
import threading
import time

import pytest

from explorer.models import computation
from explorer.models.comparison import Comparison
from explorer.models.computation import Computation
from explorer.models.limits import check_work, computations, largest_upload
from explorer.models.live_run import LiveSimulation


def test_a_run_is_as_large_as_the_sliders_allow_and_no_larger():
    check_work("marginal", 5000, 5000)
    check_work("resample_move", 1000, 1000)
    for sampler, n in (("marginal", 5001), ("resample_move", 201)):
        with pytest.raises(ValueError, match="is above"):
            check_work(sampler, 5000, n)


def test_too_much_is_told_on_the_page_and_not_computed():
    model = LiveSimulation(sampler="resample_move", n=5000, particles=5000)
    asyncio.run(model.refresh())
    assert (model.status, model.result) == ("failed", None)
    assert "N·n = 25,000,000 is above 1,000,000" in model.error
    with pytest.raises(ValueError, match="9,600 runs"):
        Comparison(
            methods=["adaptive", "fixed"],
            mechanisms=["laplace", "gaussian", "randomized_response", "piecewise"],
            epsilons=[0.5, 1.0, 2.0, 3.0, 5.0, 10.0],
            replicates=200,
            n=5000,
            particles=5000,
        ).cells()


def test_limits_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("EXPLORER_COMPUTATIONS", "3")
    monkeypatch.setenv("EXPLORER_UPLOAD_MB", "5")
    assert (computations(), largest_upload()) == (3, 5_000_000)
    monkeypatch.delenv("EXPLORER_UPLOAD_MB")
    assert largest_upload() == 20_000_000


class _Busy(Computation):
    """Counts how many of its kind work at the same time."""

    now, most, lock = 0, 0, threading.Lock()

    def work(self):
        def results():
            with self.lock:
                _Busy.now += 1
                _Busy.most = max(_Busy.most, _Busy.now)
            time.sleep(0.05)
            with self.lock:
                _Busy.now -= 1
            yield 1

        return results()


def test_more_computations_than_allowed_wait_and_all_are_carried_out(monkeypatch):
    monkeypatch.setenv("EXPLORER_COMPUTATIONS", "3")
    computation._workers.cache_clear()
    try:
        models = [_Busy() for _ in range(12)]

        async def everybody() -> None:
            await asyncio.gather(*(model.refresh() for model in models))

        asyncio.run(everybody())
    finally:
        computation._workers.cache_clear()
    assert [model.result for model in models] == [1] * 12
    assert _Busy.most == 3
