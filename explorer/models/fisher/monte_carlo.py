"""The exact score along symmetric intervals [−h, h], beside the paper's Monte Carlo estimate of it.

>>> found = MonteCarlo(epsilon=2, answers=50, samples=200, points=3).compute()
>>> found.estimate.shape, found.exact.shape
((3,), (200,))
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import param

from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.information import fisher_information, monte_carlo_information, score_function
from explorer.models.computation import Computation
from explorer.models.script import Code, call, family_argument, indented, program, without_unused


class EstimatedSlice(NamedTuple):
    """Exact scores at ``half``; estimates, with the standard errors of their entries, at ``half_estimated``."""

    half: np.ndarray
    exact: np.ndarray
    half_estimated: np.ndarray
    estimate: np.ndarray
    standard_error: np.ndarray
    #: The arguments of ``monte_carlo_information`` besides the interval and the seed.
    settings: dict
    #: The seed of the first estimate; each of the others has the next one.
    seed: int
    score: str
    complete: bool

    def table(self) -> pd.DataFrame:
        """The estimate for each interval, and its standard error."""
        columns = {"h": self.half_estimated, "estimate": self.estimate, "standard_error": self.standard_error}
        return pd.DataFrame(columns)

    def script(self) -> str:
        """The estimate of the whole matrix for each interval."""
        arguments = {"a": Code("-h"), "b": Code("h")} | without_unused(self.settings) | {"seed": Code("seed")}
        estimate = call("ex.monte_carlo_information", arguments)
        half = self.half_estimated.tolist()
        return program(f"for seed, h in enumerate({half!r}, {self.seed}):", f"    print(h, {indented(estimate)})")


class MonteCarlo(Computation):
    """Eq. (8) with the gradients of Algorithm 4, point by point; its cost is why it is not the default."""

    mode = "on demand"

    answers = param.Integer(200, bounds=(10, 2000), label="Answers M", doc="M of eq. (8). The paper's is 1000.")
    samples = param.Integer(
        1000, bounds=(10, 20_000), label="Samples", doc="Draws behind each gradient (Algorithm 4). The paper's: 10 000."
    )
    points = param.Integer(12, bounds=(2, 50), label="Points", doc="Intervals at which to estimate.")

    inputs = ("epsilon", "mechanism", "delta", "family", "df", "score", "limit")

    def is_preview(self, result):
        return not result.complete

    def work(self):
        now = self.experiment
        family, mechanism, score = now.chosen_family, now.chosen_mechanism, now.score
        half = np.linspace(0, now.limit, 201)[1:]
        chosen = np.linspace(0, now.limit, self.points + 1)[1:]
        answers, samples, seed = self.answers, self.samples, now.seed
        settings = {"epsilon": now.epsilon, "mechanism": now.mechanism, "delta": now.delta}
        settings |= {"family": family_argument(now.family, now.df), "answers": answers, "samples": samples}

        def results():
            sc, rows = score_function(score), []
            values = sc(fisher_information(-half, half, mechanism.epsilon, family=family, mechanism=mechanism))
            for k, h in enumerate(chosen):
                stop_if_asked()
                found = monte_carlo_information(
                    -h,
                    h,
                    mechanism.epsilon,
                    family=family,
                    mechanism=mechanism,
                    answers=answers,
                    samples=samples,
                    seed=seed + k,
                )
                rows.append((h, float(sc(found.value)), _error(sc, found)))
                self.report(len(rows) / chosen.size)
                complete = len(rows) == chosen.size
                yield EstimatedSlice(half, values, *np.array(rows).T, settings, seed, score, complete)

        return results()


def _error(sc, found) -> float:
    """The score's standard error, to first order: entries as if they were independent."""
    total = 0.0
    for i, j in ((0, 0), (0, 1), (1, 1)):
        shifted = found.value.copy()
        shifted[i, j] += found.standard_error[i, j]
        shifted[j, i] = shifted[i, j]
        total += float(sc(shifted) - sc(found.value)) ** 2
    return total**0.5
