"""How soon a run stops that nobody waits for any more: the longest of some tries, at many particles and answers."""

import threading
import time

from benchmarks.timing import line
from explorer.engine.threads import Stopped, stoppable
from explorer.models.live_run import LiveSimulation


def run() -> None:
    for settings in (
        {},
        {"mechanism": "piecewise"},
        {"sampler": "resample_move"},
        {"sampler": "grid"},
        {"family": "gumbel"},
    ):
        list(LiveSimulation(n=20, particles=50, **settings).work())  # compiles
        times = sorted(1000 * _stopping(settings, wait) for wait in (0.3, 0.6, 1.0, 1.5, 2.2))
        name = ", ".join(settings.values()) or "default"
        line(
            f"a superseded run stops ({name}, N = n = 5000), slowest of five",
            f"{times[-1]:.0f} ms",
            "<= 50 ms",
            times[-1] <= 50,
        )


def _stopping(settings: dict, wait: float) -> float:
    """Seconds from the wish to stop until the working thread is free."""
    asked, freed = threading.Event(), []

    def work() -> None:
        try:
            with stoppable(asked.is_set):
                list(LiveSimulation(n=5000, particles=5000, **settings).work())
        except Stopped:
            freed.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(wait)
    start = time.perf_counter()
    asked.set()
    thread.join()
    return freed[0] - start
