"""How soon a run stops that nobody waits for any more: the longest of some tries, with the largest runs allowed."""

import math
import threading
import time

from benchmarks.timing import line
from explorer.engine.compute.threads import Stopped, stoppable
from explorer.models.limits import MOST_LATENT_WORK, MOST_WORK
from explorer.models.live_run import LiveSimulation

#: After so many seconds the run is superseded.
WAITS = 0.3, 0.6, 1.0, 1.5, 2.2


def run(small: bool = False) -> None:
    for settings in (
        {},
        {"mechanism": "piecewise"},
        {"sampler": "resample_move"},
        {"sampler": "grid"},
        {"family": "gumbel"},
    ):
        list(LiveSimulation(n=20, particles=50, **settings).work())  # compiles
        size = math.isqrt(MOST_LATENT_WORK if settings.get("sampler") == "resample_move" else MOST_WORK)
        times = [_stopping(settings | {"n": size, "particles": size}, wait) for wait in (WAITS[:1] if small else WAITS)]
        found = [1000 * seconds for seconds in times if seconds is not None]
        name = ", ".join(settings.values()) or "default"
        if not found:
            print(f"      a superseded run ({name}, N = n = {size}) was done before it could be stopped")
            continue
        line(
            f"a superseded run stops ({name}, N = n = {size}), slowest of {len(found)}",
            f"{max(found):.0f} ms",
            "<= 50 ms",
            max(found) <= 50,
        )


def _stopping(settings: dict, wait: float) -> float | None:
    """Seconds from the wish to stop until the working thread is free; None if the run was faster than the wish."""
    asked, freed = threading.Event(), []

    def work() -> None:
        try:
            with stoppable(asked.is_set):
                list(LiveSimulation(**settings).work())
        except Stopped:
            freed.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(wait)
    start = time.perf_counter()
    asked.set()
    thread.join()
    return freed[0] - start if freed else None
