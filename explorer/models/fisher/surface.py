"""The Fisher map: the score of one answer's information over all intervals [a, b], and the best of them.

>>> model = FisherSurface(epsilon=5)
>>> model.compute().best.b.__round__(3)
0.728
>>> model.result.surface.values.shape
(50, 50)
"""

import time
from typing import NamedTuple

import numpy as np
import pandas as pd

from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.information import (
    BestInterval,
    NoBestIntervalError,
    Surface,
    best_interval,
    best_near,
    fisher_information,
    score_function,
    score_surface,
)
from explorer.models.computation import Computation
from explorer.models.script import call, family_argument, program, without_unused

#: Seconds that the settings must stand still before the whole plane is searched.
_REST_SECONDS = 0.12


class FisherResult(NamedTuple):
    """A map with the settings that it was computed with: the controls may have moved on."""

    surface: Surface
    #: The best interval; None if the score is 0 for every interval.
    best: BestInterval | None
    #: Whether ``best`` is the best of all intervals, and not only the top of the map's highest hill.
    exact: bool
    #: Half-widths h of symmetric intervals [−h, h], and the score of each; empty before the result is exact.
    half: np.ndarray
    half_score: np.ndarray
    #: The arguments of ``score_surface``, with mechanism and family by name where the name says all.
    settings: dict

    @property
    def edges(self) -> tuple[float, float]:
        """Where the map's pixels begin and end, along a and along b."""
        half = (self.surface.a[1] - self.surface.a[0]) / 2
        return self.surface.a[0] - half, self.surface.a[-1] + half

    @property
    def top(self) -> float:
        """The highest score on the map, or 1 if all are 0."""
        return float(np.nanmax(self.surface.values)) or 1.0

    @property
    def outside(self) -> bool:
        """Whether the best interval lies outside the map."""
        return self.best is not None and max(abs(self.best.a), abs(self.best.b)) > self.settings["limits"][1]

    def table(self) -> pd.DataFrame:
        """The score at every a < b of the grid."""
        rows, columns = np.nonzero(~np.isnan(self.surface.values))
        values = self.surface.values[rows, columns]
        return pd.DataFrame({"a": self.surface.a[rows], "b": self.surface.b[columns], "score": values})

    def script(self) -> str:
        """The map and the best interval."""
        grid = without_unused(self.settings)
        shared = {name: value for name, value in grid.items() if name not in ("resolution", "limits")}
        surface, best = call("ex.score_surface", grid), call("ex.best_interval", shared)
        return program(f"surface = {surface}", "", f"best = {best}", "", "print(best)")


class FisherSurface(Computation):
    """The score over (a, b): first the map with its highest hill, then the best interval of all."""

    inputs = ("epsilon", "mechanism", "delta", "family", "df", "score", "resolution", "limit")

    def is_preview(self, result):
        return not result.exact

    def work(self):
        now = self.experiment
        family, mechanism, score = now.chosen_family, now.chosen_mechanism, now.score
        shared = {"epsilon": now.epsilon, "family": family, "mechanism": mechanism, "score": score}
        grid = {"resolution": now.resolution, "limits": (-now.limit, now.limit)}
        settings = {"epsilon": now.epsilon, "mechanism": now.mechanism, "score": score}
        settings |= {"family": family_argument(now.family, now.df), "delta": now.delta} | grid

        def results():
            surface = score_surface(**shared, **grid)
            none = np.empty(0)
            yield FisherResult(surface, best_near(surface, **shared), False, none, none, settings)
            deadline = time.monotonic() + _REST_SECONDS
            while time.monotonic() < deadline:
                stop_if_asked()
                time.sleep(0.002)
            try:
                best = best_interval(**shared)
            except NoBestIntervalError:
                best = None
            half = np.linspace(0, grid["limits"][1], 201)[1:]
            matrices = fisher_information(-half, half, mechanism.epsilon, family=family, mechanism=mechanism)
            yield FisherResult(surface, best, True, half, score_function(score)(matrices), settings)

        return results()
