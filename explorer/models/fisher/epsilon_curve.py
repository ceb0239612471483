"""The best interval and what it tells, as functions of ε.

>>> curve = EpsilonCurve(mechanism="randomized_response").compute()
>>> bool(curve.information[-1] < curve.limit)
True
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from explorer.engine.information import NoBestIntervalError, best_interval, classical_information, score_function
from explorer.engine.mechanisms import mechanism as find_mechanism
from explorer.models.computation import Computation
from explorer.models.script import Code, call, family_argument, indented, program, without_unused

EPSILONS = np.geomspace(0.1, 10, 21)


class Curve(NamedTuple):
    """Arrays over those ε that are done so far; NaN where every interval scores 0."""

    epsilon: np.ndarray
    a: np.ndarray
    b: np.ndarray
    information: np.ndarray
    #: The score of an answer without privacy.
    limit: float
    #: The arguments of ``best_interval`` besides ε.
    settings: dict

    def table(self) -> pd.DataFrame:
        """The best interval and its score for each ε."""
        names = ("epsilon", "a", "b", "information")
        return pd.DataFrame({name: getattr(self, name) for name in names}).assign(limit=self.limit)

    def script(self) -> str:
        """The best interval for each ε."""
        best = call("ex.best_interval", {"epsilon": Code("epsilon")} | without_unused(self.settings))
        return program(f"for epsilon in {self.epsilon.tolist()!r}:", f"    print(epsilon, {indented(best)})")

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
        settings = {"mechanism": name, "delta": delta, "family": family_argument(now.family, now.df), "score": score}

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
                    yield Curve(*np.array(rows).T, limit, settings)
                self.report(len(rows) / EPSILONS.size)

        return results()
