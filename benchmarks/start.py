"""How long ``import explorer`` takes, beside importing what it is made of."""

import subprocess
import sys

from benchmarks.timing import line, seconds


def run(small: bool = False) -> None:
    def starting(code: str) -> float:
        return seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True), 1 if small else 5)

    bare, ours = starting("pass"), starting("import explorer")
    parts = starting("import numpy, scipy.special, numba")
    line("import explorer", f"{ours - bare:.2f} s", "< 1 s", ours - bare < 1)
    line(
        "  against importing NumPy, scipy.special and numba alone",
        f"{(ours - bare) / (parts - bare):.2f}x",
        "<= 1.5x",
        ours - bare <= 1.5 * (parts - bare),
    )
