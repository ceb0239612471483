"""The best interval and what it tells, as functions of ε.

>>> curve = EpsilonCurve(mechanism="randomized_response").compute()
>>> bool(curve.information[-1] < curve.limit)
True
"""

from typing import NamedTuple

import numpy as np

from explorer.engine.information import NoBestIntervalError, best_interval, classical_information, score_function
from explorer.engine.mechanisms import mechanism as find_mechanism
from explorer.models.computation import Computation

EPSILONS = np.geomspace(0.1, 10, 21)


class Curve(NamedTuple):
    """Arrays over those ε that are done so far; NaN where every interval scores 0."""

    epsilon: np.ndarray
    a: np.ndarray
    b: np.ndarray
    information: np.ndarray
    #: The score of an answer without privacy.
    limit: float
    score: str

    @property
    def complete(self) -> bool:
        return self.epsilon.size == EPSILONS.size


class EpsilonCurve(Computation):
    """Grows point by point."""

    inputs = ("mechanism", "delta", "family", "df", "score")

    def is_preview(self, result):
        return not result.complete

    def work(self):
        now = self.experiment
        family, name, score, delta = now.chosen_family, now.mechanism, now.score, now.delta

        def results():
            limit = float(score_function(score)(classical_information(family)))
            rows = []
            for epsilon in EPSILONS:
                try:
                    best = best_interval(
                        epsilon, family=family, mechanism=find_mechanism(name, epsilon, delta), score=score
                    )
                except NoBestIntervalError:
                    best = (np.nan, np.nan, np.nan)
                rows.append((epsilon, *best))
                if len(rows) % 3 == 0 or len(rows) == EPSILONS.size:
                    yield Curve(*np.array(rows).T, limit, score)
                self.report(len(rows) / EPSILONS.size)

        return results()
