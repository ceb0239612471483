"""Random addresses of the page: each is answered, in time, and the server has nothing to complain about."""

import time
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import numpy as np

from explorer.models.experiment import Experiment

_NAMES = [name for name in Experiment.param if name != "name"]
_MORE = ["tab", "tour", "step", "name", "__class__", "theme", "x" * 300, "", "epsilon[]", "ε"]
_VALUES = [
    *["", "0", "-1", "1", "2.5", "1e400", "nan", "-inf", "1,2", "2,1", "-3,3", "9" * 400, "0x10", "true", "None", "٣"],
    *["laplace", "gumbel", "grid", "det", "fixed", "fisher", "live_run", "compare", "<script>alert(1)</script>", "%00"],
    *["\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "a\nb", "'\";--", "../../etc", "x" * 3000],
]


def search(rng) -> str:
    """The end of an address, with some settings that can be and others that cannot."""
    parts = []
    for _ in range(int(rng.integers(0, 8))):
        names = _NAMES if rng.random() < 0.8 else _MORE
        name, value = names[rng.integers(len(names))], _VALUES[rng.integers(len(_VALUES))]
        parts.append(f"{quote(name)}={quote(value)}" if rng.random() < 0.9 else f"{quote(name)}")
    if rng.random() < 0.1:
        parts.append("&&%%%=%ZZ")
    return "?" + "&".join(parts)


def build(count: int, seed: int, patience: float = 10.0) -> dict:
    """Build so many dashboards in this process, without a server; ``wrong`` lists what must not happen."""
    from explorer.views.dashboard import Dashboard

    rng = np.random.default_rng(seed)
    counts = {"addresses": 0, "with something that cannot be": 0, "slowest": 0.0, "wrong": []}
    for _ in range(count):
        query = search(rng)
        counts["addresses"] += 1
        start = time.monotonic()
        try:
            dashboard = Dashboard(query)
            dashboard.close()
            counts["with something that cannot be"] += bool(dashboard.problems)
        except Exception as error:
            counts["wrong"].append(f"{query}: {type(error).__name__}: {error}")
        seconds = time.monotonic() - start
        counts["slowest"] = max(counts["slowest"], round(seconds, 2))
        if seconds > patience:
            counts["wrong"].append(f"{query}: {seconds:.0f} s")
    return counts


def run(count: int, seed: int, address: str, log: Path, patience: float = 10.0) -> dict:
    """Ask a running server for so many pages; ``wrong`` lists what must not happen."""
    rng = np.random.default_rng(seed)
    counts = {"addresses": 0, "answered": 0, "slowest": 0.0, "wrong": []}
    for _ in range(count):
        query = search(rng)
        counts["addresses"] += 1
        start = time.monotonic()
        try:
            with urllib.request.urlopen(address + query, timeout=60) as answer:
                content = answer.read().decode()
            counts["answered"] += 1
            if "<script>alert(1)" in content:
                counts["wrong"].append(f"{query}: its script is in the page")
        except (OSError, urllib.error.HTTPError) as error:
            counts["wrong"].append(f"{query}: {error}")
        seconds = time.monotonic() - start
        counts["slowest"] = max(counts["slowest"], round(seconds, 2))
        if seconds > patience:
            counts["wrong"].append(f"{query}: {seconds:.0f} s")
    printed = log.read_text()
    if "Traceback" in printed or "ERROR" in printed:
        counts["wrong"].append(f"the server's log: {printed[-2000:]}")
    return counts
