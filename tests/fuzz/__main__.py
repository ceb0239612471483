"""All fuzzers in their large form: ``python -m tests.fuzz``, or ``python -m tests.fuzz files lost`` for some of them.

Prints the counts of each, and ends with code 1 if anything happened that must not.
"""

import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz import addresses, command_line, data_files, saved_files
from lost_runs import Found, found
from serving import serving


def files() -> dict:
    return saved_files.run(5000, seed=2)


def data() -> dict:
    return data_files.run(5000, seed=2)


def commands() -> dict:
    counts = command_line.run(2000, seed=2)
    return counts | {"wrong": counts.pop("failures")}


def pages() -> dict:
    """A thousand dashboards in this process."""
    return addresses.build(1000, seed=2)


def served() -> dict:
    """Some dozen pages of a real server."""
    log = Path(tempfile.mkdtemp()) / "log"
    with serving(log) as (address, _):
        return addresses.run(60, 2, address, log)


def lost() -> dict:
    """Runs of the sampler against quadrature: at N = 1000 none may be lost, at N = 100 those that are say so."""
    counts = {"runs": 0, "lost": 0, "largest error of the log-evidence": 0.0, "wrong": []}
    with ProcessPoolExecutor(initializer=partial(os.environ.__setitem__, "EXPLORER_THREADS", "1")) as pool:
        for particles, names in ((1000, ("laplace", "randomized_response", "piecewise")), (100, ("laplace",))):
            for name in names:
                one = partial(found, mechanism=name, particles=particles)
                runs: list[Found] = list(pool.map(one, range(1000), chunksize=10))
                counts["runs"] += len(runs)
                counts["lost"] += sum(run.lost for run in runs)
                for run in runs:
                    far = abs(run.mean_error) > 1 or abs(run.evidence_error) > 2
                    if far and not (run.lost and particles == 100):
                        counts["wrong"].append(f"{name}, N = {particles}: {run}")
                    elif not run.lost:
                        key = "largest error of the log-evidence"
                        counts[key] = max(counts[key], round(abs(run.evidence_error), 3))
    return counts


ALL = {function.__name__: function for function in (files, data, commands, pages, served, lost)}


def main(names: list[str]) -> int:
    code = 0
    for name in names or ALL:
        start = time.monotonic()
        counts = ALL[name]()
        wrong = counts.pop("wrong")
        told = ", ".join(f"{key} {value}" for key, value in counts.items())
        print(f"{name}: {told}, wrong {len(wrong)} ({time.monotonic() - start:.0f} s)", flush=True)
        for what in wrong[:20]:
            print("  ", ascii(what)[:500])
        code = code or int(bool(wrong))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
