"""One answer under the microscope: its density, the clipped value's two atoms, and what tells two individuals apart.

>>> picture = MechanismDensities(epsilon=2).compute()
>>> bool(abs(picture.loss).max() <= 2 + 1e-12)
True
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
import param

from explorer.engine.inference.likelihood import log_likelihood
from explorer.engine.information import best_interval
from explorer.engine.mechanisms import Mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.models.computation import Computation
from explorer.models.script import Code, call, family_argument, without_unused

_POINTS = 601


class MechanismPicture(NamedTuple):
    """Densities over ``y`` (for randomised response: probabilities of its two answers)."""

    interval: Interval
    y: np.ndarray
    #: Of an individual drawn from the population.
    density: np.ndarray
    #: Of two individuals with values x and x'.
    values: tuple[float, float]
    given: tuple[np.ndarray, np.ndarray]
    #: log p(y|x)/p(y|x'): what y tells an attacker.
    loss: np.ndarray
    #: P(X <= l) and P(X >= r): the atoms of the clipped value.
    atoms: tuple[float, float]
    discrete: bool
    #: epsilon, mechanism, delta, family, mu and sigma.
    settings: dict

    @property
    def epsilon(self) -> float:
        return float(self.settings["epsilon"])

    def table(self) -> pd.DataFrame:
        """Densities and privacy loss at each y."""
        columns = {"y": self.y, "density": self.density, "density_given_x": self.given[0]}
        return pd.DataFrame(columns | {"density_given_neighbour": self.given[1], "loss": self.loss})

    def script(self) -> str:
        """One answer, its density given a value, and its likelihood."""
        settings = without_unused(self.settings)
        left, right = self.interval
        place = {"y": Code("y"), "left": left, "right": right}
        named = ", ".join(f"{name}={settings[name]!r}" for name in ("epsilon", "delta") if name in settings)
        x, neighbour = self.values
        return "\n".join(
            [
                "import numpy as np",
                "",
                "import explorer as ex",
                "",
                f"mech = ex.mechanism({settings['mechanism']!r}, {named})",
                f"interval = ex.Interval({left!r}, {right!r})",
                f"y = mech.release({x!r}, interval, np.random.default_rng(1))",
                f"loss = np.log(mech.density(y, {x!r}, interval)",
                f"              / mech.density(y, {neighbour!r}, interval))",
                f"log_p = {call('ex.log_likelihood', place | settings)}",
                "print(y, loss, log_p)",
            ]
        )


class MechanismDensities(Computation):
    """The answer to the run's interval, or to the one set by hand, placed for the true (μ, σ)."""

    first = param.Number(
        -1.0,
        bounds=(-10, 10),
        softbounds=(-4, 4),
        step=0.05,
        label="x, in σ from μ",
        doc="The value x of one individual.",
    )
    second = param.Number(
        1.0,
        bounds=(-10, 10),
        softbounds=(-4, 4),
        step=0.05,
        label="x', in σ from μ",
        doc="The value x' of their neighbour: who sees y shall not be able to tell the two apart.",
    )

    inputs = ("epsilon", "mechanism", "delta", "family", "df", "mu", "sigma", "score", "manual", "interval")
    own_inputs = ("first", "second")

    def work(self):
        now = self.experiment
        family, mechanism, mu, sigma = now.chosen_family, now.chosen_mechanism, now.mu, now.sigma
        by_hand, score = now.interval_by_hand, now.score
        settings = {name: getattr(now, name) for name in ("epsilon", "mechanism", "delta", "mu", "sigma")}
        settings["family"] = family_argument(now.family, now.df)
        values = tuple(mu + sigma * side for side in (self.first, self.second))

        def results():
            a, b = by_hand or best_interval(mechanism.epsilon, family=family, mechanism=mechanism, score=score)[:2]
            interval = Interval(mu + sigma * a, mu + sigma * b)
            discrete = mechanism.answers is not None
            y = np.array(mechanism.answers) if discrete else _axis(mechanism, interval)
            density = np.exp(
                log_likelihood(y, mu, sigma, *interval, mechanism.epsilon, mechanism=mechanism, family=family)
            )
            given = tuple(mechanism.density(y, value, interval) for value in values)
            cut = [interval.midpoint] * 2 if mechanism.by_midpoint else list(interval)
            atoms = float(family.cdf((cut[0] - mu) / sigma)), float(family.sf((cut[1] - mu) / sigma))
            yield MechanismPicture(
                interval=interval,
                y=y,
                density=density,
                values=values,
                given=given,
                loss=mechanism.log_ratio(y, *values, interval),
                atoms=atoms,
                discrete=discrete,
                settings=settings,
            )

        return results()


def _axis(mechanism: Mechanism, interval: Interval) -> np.ndarray:
    """The answers to show, the interval's ends among them."""
    inside = np.linspace(*mechanism.shown_range(interval), _POINTS)
    return np.unique(np.concatenate([inside, list(interval)]))
