"""Before anybody is asked: which mechanism, which ε, how many people.

>>> plan = Planning(epsilon=2, sigma=3, standard_error=0.1).compute()
>>> plan.options[0].mechanism, plan.options[0].n
('randomized_response', 2438)
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import param

from explorer.engine.information import NoBestIntervalError, best_interval, classical_information
from explorer.engine.information.planner import PLANNED_SCORE, Option, plan
from explorer.engine.mechanisms import MECHANISMS, mechanism as find_mechanism
from explorer.engine.population import Family
from explorer.models.computation import Computation
from explorer.models.script import call, family_argument, program

EPSILONS = np.geomspace(0.1, 10, 17)


class Plan(NamedTuple):
    """The options, the best first, and for each mechanism the people that are needed at each of ``EPSILONS``."""

    options: list[Option]
    people: dict[str, np.ndarray]
    #: How many would be needed without privacy.
    without_privacy: float
    #: The arguments of ``plan``; of epsilon and n, the one that was not given is None.
    settings: dict
    complete: bool

    def table(self) -> pd.DataFrame:
        """The options, the best first."""
        return pd.DataFrame(self.options, columns=Option._fields)

    def script(self) -> str:
        """Prints the options."""
        settings = {name: value for name, value in self.settings.items() if value is not None}
        return program(f"for option in {call('ex.plan', settings)}:", "    print(option)")


class Planning(Computation):
    """From the exact Fisher information, for the experiment's family, σ, ε and δ."""

    standard_error = param.Number(
        0.1,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        label="Wanted standard error of μ",
        doc="How well μ shall be known: about 95 % of such surveys end within twice this of the truth.",
    )
    given = param.Selector(
        default="epsilon",
        objects={"I know ε: plan n": "epsilon", "I know n: plan ε": "n"},
        label="Given",
        doc="What is decided already; the other one is planned.",
    )

    people = param.Integer(
        3000, bounds=(1, 10**9), label="People n", doc="How many people there are; used if n is what is given."
    )

    inputs = ("epsilon", "delta", "family", "df", "sigma")
    own_inputs = ("standard_error", "given", "people")

    def is_preview(self, result):
        return not result.complete

    def work(self):
        now = self.experiment
        family, sigma, error, delta = now.chosen_family, now.sigma, self.standard_error, now.delta
        epsilon, n = (now.epsilon, None) if self.given == "epsilon" else (None, self.people)
        settings = {"standard_error": error, "sigma": sigma, "epsilon": epsilon, "n": n}
        settings |= {"family": family_argument(now.family, now.df), "delta": delta}

        def results():
            options = plan(error, sigma, n=n, epsilon=epsilon, family=family, delta=delta)
            wanted = (sigma / error) ** 2
            without = wanted / float(classical_information(family)[0, 0])
            people = {}
            for name in MECHANISMS:
                people[name] = wanted / _informations(name, family, delta)  # NaN if it never is enough
                complete = len(people) == len(MECHANISMS)
                yield Plan(options, dict(people), without, settings, complete)
                self.report(len(people) / len(MECHANISMS))

        return results()


@lru_cache(maxsize=64)
def _informations(name: str, family: Family, delta: float) -> np.ndarray:
    """What one answer to the best interval tells about μ, for each of ``EPSILONS``."""

    def value(epsilon: float) -> float:
        try:
            return best_interval(
                epsilon, family=family, mechanism=find_mechanism(name, epsilon, delta), score=PLANNED_SCORE
            ).value
        except NoBestIntervalError:
            return np.nan

    found = np.array([value(epsilon) for epsilon in EPSILONS])
    found.flags.writeable = False
    return found
