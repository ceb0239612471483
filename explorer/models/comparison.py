"""A comparison of methods, started and cancelled on demand: the paper's Figure 3 for any population.

>>> model = Comparison(methods=["adaptive"], epsilons=[5.0], replicates=2, n=50, particles=100, workers=1)
>>> len(model.compute().table())
2
"""

import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import param

from explorer.engine.information import best_ldp
from explorer.engine.mechanisms import MECHANISMS
from explorer.engine.population import Family, family as find_family
from explorer.models.computation import Computation
from explorer.models.limits import check_work
from explorer.models.script import call, family_argument, program, without_unused
from explorer.studies.replicate import METHODS
from explorer.studies.study import carry_out, planned_cells
from explorer.studies.summary import summary

#: Maximum number of combinations of a method and a mechanism in one picture.
MOST_SERIES = 8
#: Seconds between two partial results.
_PAUSE = 0.5
#: A comparison uses all cores, so that a server with many visitors carries out one at a time.
_TURN = threading.Semaphore(1)


class Box(NamedTuple):
    """A box plot of some values: quartiles, whiskers to the last value within one and a half boxes, what lies beyond.

    In NumPy, as the only library that computes this, Matplotlib, is no dependency of the app.
    """

    epsilon: float
    series: str
    low: float
    middle: float
    high: float
    whiskers: tuple[float, float]
    far: np.ndarray

    @classmethod
    def of(cls, epsilon: float, series: str, values: np.ndarray) -> "Box":
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        reach = 1.5 * (high - low)
        near = (values >= low - reach) & (values <= high + reach)
        return cls(epsilon, series, low, middle, high, (values[near].min(), values[near].max()), values[~near])


class Compared:
    """The finished runs of a comparison, with the settings that they were made with."""

    def __init__(self, runs: pd.DataFrame, settings: dict, total: int) -> None:
        self.settings, self.done, self.total = settings, len(runs), total
        self.summary, self.boxes, self.limits = None, {}, []
        self.runs = runs
        if not self.done:
            return
        self.runs = runs.assign(series=runs.apply(series(runs), axis=1))
        found = summary(self.runs)
        self.summary = found.assign(series=found.apply(series(runs), axis=1)).sort_values(["epsilon", "series"])
        self.good = self.runs[self.runs["error"].isna()]
        self.limits = _limits(self.summary)
        for name in ("mu", "sigma"):
            groups = self.good.groupby(["epsilon", "series"])
            self.boxes[name] = [Box.of(*key, rows[name].to_numpy()) for key, rows in groups]

    @property
    def series(self) -> list[str]:
        """The combinations of a method and a mechanism, in the order of their first runs."""
        return list(dict.fromkeys(self.runs["series"])) if self.done else []

    def truth(self, name: str) -> float:
        return float(self.good[f"true_{name}"].iloc[0])

    def window(self, name: str) -> tuple[float, float]:
        """Limits of an axis that shows all posterior means, with the truth in the middle."""
        truth = self.truth(name)
        away = 1.1 * float(np.abs(self.good[name] - truth).max()) or 1.0
        return truth - away if name == "mu" else max(truth - away, 0.0), truth + away

    def table(self) -> pd.DataFrame:
        """One row for each finished run."""
        return self.runs.drop(columns="series", errors="ignore")

    def summary_table(self) -> pd.DataFrame:
        """One row for each combination and ε."""
        return summary(self.table())

    def script(self) -> str:
        """The study behind the comparison, and its summary."""
        study = call("ex.study", without_unused(self.settings))
        return program(f"table = {study}", "", "print(ex.summary(table).to_string())")


def _limits(found: pd.DataFrame) -> list[tuple[float, float]]:
    """(ε, σ/√(n F*)), with the information F* of the best ε-LDP mechanism."""
    first = found.iloc[0]
    population = find_family(first["family"], **({} if np.isnan(first["df"]) else {"df": first["df"]}))
    return [
        (epsilon, first["true_sigma"] / np.sqrt(first["n"] * _best_information(epsilon, population)))
        for epsilon in sorted(found["epsilon"].unique())
    ]


@lru_cache(maxsize=64)
def _best_information(epsilon: float, population: Family) -> float:
    return best_ldp(epsilon, family=population).value


class Comparison(Computation):
    """Replicates of each method, mechanism and ε, for the experiment's population, n, N, score and seed."""

    mode = "job"

    methods = param.ListSelector(
        default=["adaptive", "fixed"],
        objects=[*METHODS, "metropolis/fixed", "resample_move/thompson"],
        label="Methods",
        doc="adaptive and fixed: the paper's SMC with adapted and with fixed ±10σ intervals; mcmc: its batch method, "
        "slow; oracle: knows the best interval; gradient: online point estimate; metropolis/fixed: batch, on the "
        "exact likelihood; resample_move/thompson: the paper's own sampler, very slow.",
    )
    mechanisms = param.ListSelector(
        default=["laplace"], objects=list(MECHANISMS), label="Mechanisms", doc="Each method is run with each of them."
    )
    epsilons = param.ListSelector(
        default=[1.0, 2.0, 5.0, 10.0],
        objects={f"{epsilon:g}": epsilon for epsilon in (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)},
        label="Privacy levels ε",
        doc="The paper's are 1, 2, 5 and 10.",
    )
    replicates = param.Integer(
        10, bounds=(1, 200), softbounds=(2, 50), label="Replicates", doc="Runs of each combination; the paper's are 30."
    )
    workers = param.Integer(None, bounds=(1, 64), allow_None=True, doc="Processes; as many as cores, if None.")

    done = param.Integer(0, doc="Number of finished runs.")
    total = param.Integer(0, doc="Number of all runs.")

    def __init__(self, **params):
        # What was registered since this module was loaded can be chosen too.
        type(self).param.mechanisms.objects = list(MECHANISMS)
        super().__init__(**params)

    def settings(self) -> dict:
        """The arguments of ``explorer.study``."""
        now = self.experiment
        names = ("n", "particles", "mu", "sigma", "score", "seed", "delta")
        settings = {name: getattr(self, name) for name in ("epsilons", "methods", "replicates", "mechanisms")}
        settings["epsilons"] = sorted(settings["epsilons"])
        return (
            settings
            | {"families": [family_argument(now.family, now.df)]}
            | {name: getattr(now, name) for name in names}
        )

    def cells(self) -> list[dict]:
        """What is to be run. The first replicates of all come first, so that every box fills."""
        if len(self.methods) * len(self.mechanisms) > MOST_SERIES:
            raise ValueError(f"choose at most {MOST_SERIES} combinations of a method and a mechanism")
        cells = planned_cells(**self.settings(), prior=None, options=None)
        now = self.experiment
        latent = any(method.startswith("resample_move") for method in self.methods)
        check_work("resample_move" if latent else "marginal", now.particles, now.n, len(cells))
        return sorted(cells, key=lambda cell: cell["replicate"])

    def is_preview(self, result):
        return result.done < result.total

    @param.depends("result", watch=True)
    def _count(self) -> None:
        self.done = 0 if self.result is None else self.result.done

    def work(self):
        cells, settings = self.cells(), self.settings()
        self.param.update(done=0, total=len(cells))

        def results():
            while not _TURN.acquire(timeout=0.1):
                if self._cancelled.is_set():
                    yield Compared(carry_out([]), settings, len(cells))
                    return
            try:
                grow = _Growing(self, settings)
                table = carry_out(cells, workers=self.workers, progress=grow, cancelled=self._cancelled.is_set)
            finally:
                _TURN.release()
            yield Compared(table, settings, len(cells))

        return results()


class _Growing:
    """Collects rows in the working thread, and shows them every half second."""

    def __init__(self, model: Comparison, settings: dict) -> None:
        self._model, self._settings, self._rows = model, settings, []
        self._start = self._shown = time.monotonic()

    def __call__(self, row: dict, done: int, total: int) -> None:
        self._rows.append(row)
        now = time.monotonic()
        if now - self._shown >= _PAUSE and done < total:
            remaining = (now - self._start) / done * (total - done)
            self._model.show(Compared(pd.DataFrame(self._rows), self._settings, total), done / total, remaining)
            self._shown = time.monotonic()


def series(table: pd.DataFrame) -> Callable[[pd.Series], str]:
    """How to name the combination of a method and a mechanism: by what differs."""
    several = table["mechanism"].nunique() > 1
    return lambda row: f"{row['method']}, {row['mechanism']}" if several else row["method"]
