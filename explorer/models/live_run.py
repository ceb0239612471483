"""The live run: the whole method simulated, adaptive beside non-adaptive, ready to be drawn.

>>> model = LiveSimulation(n=100, particles=100, epsilon=5)
>>> runs = model.compute()
>>> len(runs.adaptive.trace), runs.fixed.mu_cloud.shape
(100, (100, 100))
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorer.engine.information import (
    best_interval,
    best_near,
    classical_information,
    fisher_information,
    score_surface,
)
from explorer.engine.run.simulation import FIXED_HALF_WIDTH, simulate
from explorer.engine.run.trace import Trace
from explorer.models.computation import Computation
from explorer.models.exact_posterior import ExactPosterior
from explorer.models.limits import check_work
from explorer.models.script import call, family_argument, program, without_unused

#: A preview has so many particles; below twice that, the run itself is as quick.
PREVIEW_PARTICLES = 100
#: Columns (moments of time) and rows (bins) of a picture of a cloud.
COLUMNS, ROWS = 120, 100


class Window(NamedTuple):
    """What the pictures show of μ and σ."""

    mu: tuple[float, float]
    sigma: tuple[float, float]

    @classmethod
    def around(cls, mu: float, sigma: float, before: "Window | None") -> "Window":
        """The window of before as long as it shows the truth well, so that the picture moves and not its axes."""
        if before is not None:
            low, high = before.mu
            shown = low + 2.5 * sigma <= mu <= high - 2.5 * sigma and high - low <= 20 * sigma
            if shown and 1.5 * sigma <= before.sigma[1] <= 8 * sigma:
                return before
        return cls((mu - 5 * sigma, mu + 5 * sigma), (0.0, 3 * sigma))


class Run(NamedTuple):
    """A trace, and the density of its particles over time: (rows, columns), each column's largest value is 1."""

    trace: Trace
    mu_cloud: np.ndarray
    sigma_cloud: np.ndarray
    #: σ_μ = σ/√(t F): what the information in t answers allows, for the interval that this run settles on.
    limit: np.ndarray

    def cloud(self, t: int) -> tuple[int, np.ndarray, np.ndarray]:
        """The last particles kept at or before t: (their t, particles, weights)."""
        at = max(int(np.searchsorted(self.trace.kept, t, side="right")) - 1, 0)
        weights = self.trace.weights[at]
        used = weights > 0
        return int(self.trace.kept[at]), self.trace.particles[at][used], weights[used]


class Runs(NamedTuple):
    """What is drawn, with the settings it was computed for."""

    adaptive: Run
    fixed: Run | None
    preview: bool
    window: Window
    #: (a, b): the adaptive run's intervals are [m + c a, m + c b].
    interval: tuple[float, float]
    settings: dict

    def table(self) -> pd.DataFrame:
        """One row for each run and individual: the question, the answer, what is then known and what is possible."""
        runs = (("adaptive", self.adaptive), ("fixed", self.fixed))
        return pd.concat([self._rows(name, run) for name, run in runs if run is not None], ignore_index=True)

    def _rows(self, name: str, run: Run) -> pd.DataFrame:
        trace = run.trace
        columns = {
            "run": name,
            "t": np.arange(1, len(trace) + 1),
            "left": trace.left,
            "right": trace.right,
            "y": trace.y,
            "mu_mean": trace.mean[:, 0],
            "sigma_mean": trace.mean[:, 1],
        }
        for k, level in enumerate(trace.levels):
            columns |= {f"{side}_{100 * level:g}%": trace.quantiles[:, k, j] for j, side in enumerate(("mu", "sigma"))}
        columns |= {
            "ess": trace.ess,
            "mu_error": np.abs(trace.mean[:, 0] - self.settings["mu"]),
            "mu_error_limit": run.limit,
        }
        return pd.DataFrame(columns)

    def script(self) -> str:
        """The adaptive run, and the fixed one if there is one."""
        settings = without_unused(self.settings)
        lines = [f"trace = {call('ex.simulate', settings)}"]
        if self.fixed is not None:
            fixed = {name: value for name, value in settings.items() if name != "best"} | {"policy": "fixed"}
            lines += ["", f"fixed = {call('ex.simulate', fixed)}"]
        return program(*lines, "", "print(trace)")


class LiveSimulation(Computation):
    """A coarse run first if the full one has many particles, then the full one and the non-adaptive one beside it."""

    inputs = (
        *("epsilon", "mechanism", "delta", "family", "df", "mu", "sigma", "score", "policy", "manual", "interval"),
        *("sampler", "particles", "n", "seed", "compare"),
    )

    def __init__(self, **params):
        super().__init__(**params)
        #: The cloud and the exact posterior after ``moment.t`` answers, kept up to date with the run.
        self.moment = ExactPosterior(experiment=self.experiment, run=self, t=self.experiment.n)

    def is_preview(self, result):
        return result.preview

    def compute(self):
        super().compute()
        self.moment.compute()
        return self.result

    async def refresh(self, *events):
        await super().refresh()
        if not self._busy and self.status == "ready":
            await self.moment.refresh()

    def recall(self):
        known = super().recall()
        if known:
            self.moment.compute()
        return known

    def close(self):
        super().close()
        self.moment.close()

    def _publish(self, result):
        before = self.result
        n = len(result.adaptive.trace)
        at_end = before is None or self.moment.t >= len(before.adaptive.trace)
        self.moment.t = n if at_end else min(self.moment.t, n)
        super()._publish(result)

    def settings(self) -> dict:
        """The arguments of ``simulate`` for the adaptive run."""
        now = self.experiment
        names = ("mu", "sigma", "n", "epsilon", "delta", "particles", "policy", "score", "sampler", "seed")
        settings = {name: getattr(now, name) for name in names}
        family = family_argument(now.family, now.df)
        return settings | {"mechanism": now.mechanism, "family": family, "best": now.interval_by_hand}

    def work(self):
        settings = self.settings()
        check_work(settings["sampler"], settings["particles"], settings["n"])
        mechanism, family = self.experiment.chosen_mechanism, self.experiment.chosen_family
        mu, sigma, particles = settings["mu"], settings["sigma"], settings["particles"]
        window = Window.around(mu, sigma, None if self.result is None else self.result.window)
        compare = self.experiment.compare

        def run(changes: dict, interval: tuple[float, float], report: Callable[[float], None] | None = None) -> Run:
            trace = _simulate(settings | changes, report)
            matrix = fisher_information(*interval, mechanism.epsilon, mechanism=mechanism, family=family)
            clouds = (cloud_picture(trace, column, window[column]) for column in (0, 1))
            return Run(trace, *clouds, sigma / np.sqrt(np.arange(1, len(trace) + 1) * matrix[0, 0]))

        def results():
            shared = {"family": family, "mechanism": mechanism, "score": settings["score"]}
            if settings["sampler"] != "grid" and particles > 2 * PREVIEW_PARTICLES:
                interval = settings["best"] or _nearly_best(mechanism.epsilon, shared)
                coarse = run({"particles": PREVIEW_PARTICLES, "best": interval}, interval)
                yield Runs(coarse, None, True, window, interval, settings)
            wide = (-FIXED_HALF_WIDTH, FIXED_HALF_WIDTH)
            interval = settings["best"] or best_interval(mechanism.epsilon, **shared)[:2]
            adaptive = run({"best": interval}, interval, lambda share: self.report(share / 2 if compare else share))
            # One after the other: two threads that wait for each other at every answer take longer.
            fixed = None
            if compare:
                fixed = run({"policy": "fixed", "best": None}, wide, lambda share: self.report(0.5 + share / 2))
            yield Runs(adaptive, fixed, False, window, interval, settings)

        return results()


def _nearly_best(epsilon: float, shared: dict) -> tuple[float, float]:
    """Good enough for a preview, and found while a slider moves."""
    near = best_near(score_surface(epsilon, resolution=25, **shared), epsilon, **shared)
    return best_interval(epsilon, **shared)[:2] if near is None else near[:2]


def _simulate(settings: dict, report: Callable[[float], None] | None) -> Trace:
    n = settings["n"]
    progress = None if report is None else lambda t: report(t / n)
    return simulate(**settings, keep=moments(n), progress=progress)


def moments(n: int) -> list[int]:
    """After which answers the particles are kept: each of the first, evenly later on, and the last."""
    return sorted({*range(1, min(n, 20) + 1), *np.linspace(1, n, min(n, COLUMNS)).astype(int).tolist(), n})


def cloud_picture(trace: Trace, column: int, limits: tuple[float, float], rows: int = ROWS) -> np.ndarray:
    """The particles' density over time: rows from the lower limit up, columns evenly over time; NaN where none is."""
    n = len(trace)
    columns = min(n, COLUMNS)
    times = (np.arange(columns) + 1) * n / columns
    at = np.maximum(np.searchsorted(trace.kept, np.floor(times), side="right") - 1, 0)
    values, weights = trace.particles[at][:, :, column], trace.weights[at]
    low, high = limits
    row = np.floor((values - low) * (rows / (high - low)))
    inside = (row >= 0) & (row < rows)
    cell = (np.arange(columns)[:, None] * rows + np.where(inside, row, 0)).astype(np.intp)
    picture = np.bincount(cell.ravel(), np.where(inside, weights, 0.0).ravel(), columns * rows).reshape(columns, rows)
    top = picture.max(axis=1, keepdims=True)
    picture = np.divide(picture, top, out=np.zeros_like(picture), where=top > 0)
    return np.where(picture > 0, picture, np.nan).T.astype(np.float32)


def efficiency(runs: Runs) -> float:
    """The information about μ of one answer to the run's interval, as a share of that without privacy."""
    family = runs.settings["family"]
    limit = runs.adaptive.limit[0]
    return float((runs.settings["sigma"] / limit) ** 2 / classical_information(family)[0, 0])
