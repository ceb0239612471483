"""The Fisher map: the score of one answer's information over all intervals [a, b], and the best of them.

>>> model = FisherSurface(epsilon=5)
>>> model.compute().best.b.__round__(3)
0.728
>>> model.result.surface.values.shape
(50, 50)
"""

import time
from typing import NamedTuple

from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.information import (
    BestInterval,
    NoBestIntervalError,
    Surface,
    best_interval,
    best_near,
    score_surface,
)
from explorer.models.computation import Computation

#: How long the settings must stand still before the whole plane is searched.
_REST_SECONDS = 0.12


class FisherResult(NamedTuple):
    """A map with the settings it was computed for: the controls may have moved on."""

    surface: Surface
    #: The best interval; None if the score is 0 for every interval.
    best: BestInterval | None
    #: Whether ``best`` is the best of all intervals, and not only the top of the map's highest hill.
    exact: bool
    epsilon: float
    mechanism: str
    score: str
    limit: float


class FisherSurface(Computation):
    """The score over (a, b): first the map with its highest hill, then the best interval of all."""

    inputs = ("epsilon", "mechanism", "delta", "family", "df", "score", "resolution", "limit")

    def is_preview(self, result):
        return not result.exact

    def work(self):
        now = self.experiment
        family, mechanism, score = now.chosen_family, now.chosen_mechanism, now.score
        shared = {"epsilon": now.epsilon, "family": family, "mechanism": mechanism, "score": score}
        settings = now.epsilon, now.mechanism, score, now.limit
        grid = {"resolution": now.resolution, "limits": (-now.limit, now.limit)}

        def results():
            surface = score_surface(**shared, **grid)
            yield FisherResult(surface, best_near(surface, **shared), False, *settings)
            deadline = time.monotonic() + _REST_SECONDS
            while time.monotonic() < deadline:
                stop_if_asked()
                time.sleep(0.002)
            try:
                best = best_interval(**shared)
            except NoBestIntervalError:
                best = None
            yield FisherResult(surface, best, True, *settings)

        return results()
