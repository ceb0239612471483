"""How every benchmark measures and prints."""

import time
from collections.abc import Callable


def seconds(work: Callable[[], object], repeats: int = 7) -> float:
    """The median time of a call, after one that warms up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return sorted(times)[repeats // 2]


missed: list[str] = []


def line(what: str, measured: str, target: str, met: bool) -> None:
    if not met:
        missed.append(what)
    print(f"{'ok  ' if met else 'MISS'}  {what:<72} {measured:>16}   target {target}", flush=True)
