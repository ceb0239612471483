"""What safe noise costs: one secure answer of each mechanism, beside the draw of a seeded generator."""

import numpy as np

import explorer as ex
from benchmarks.timing import line, seconds

#: A person takes seconds to answer: a millisecond more is nothing, and a simulation has its own generator.
MOST_MICROSECONDS = 1000


def run(small: bool = False) -> None:
    answers = 20 if small else 200
    rng, x, interval = np.random.default_rng(1), np.zeros(answers), ex.Interval(-1, 2)

    def microseconds(mechanism, source) -> float:
        return 1e6 / answers * seconds(lambda: [mechanism.release(value, interval, source) for value in x])

    for name in ex.MECHANISMS:
        mechanism = ex.mechanism(name, 1.0)
        safe, seeded = (microseconds(mechanism, source) for source in (ex.secure, rng))
        line(f"secure answer, {name}", f"{safe:.0f} µs", f"< {MOST_MICROSECONDS} µs", safe < MOST_MICROSECONDS)
        print(f"        {safe / seeded:.1f} times a seeded one", flush=True)
