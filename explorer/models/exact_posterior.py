"""The particles at a chosen t, and the exact posterior's contours over them."""

from typing import NamedTuple

import contourpy
import numpy as np
import pandas as pd
import param

from explorer.engine.inference.posterior_surface import posterior_surface
from explorer.engine.inference.resampling import systematic
from explorer.models.computation import Computation
from explorer.models.script import call, program, without_unused

#: The shares of the posterior inside the contours.
SHARES = (0.5, 0.95)
_NODES = 48
_MOST_POINTS = 2000


class JointPicture(NamedTuple):
    """Particles of even weight, and a list of (mu, sigma) lines for each of ``SHARES``."""

    t: int
    particles: np.ndarray
    contours: list[list[np.ndarray]]
    exact: bool
    window: tuple[tuple[float, float], tuple[float, float]]
    #: Those of the run.
    settings: dict

    def table(self) -> pd.DataFrame:
        """The particles of even weight that are shown."""
        return pd.DataFrame(self.particles, columns=["mu", "sigma"]).assign(t=self.t)

    def script(self) -> str:
        """The run, and its weighted particles after t answers."""
        run = call("ex.simulate", without_unused(self.settings) | {"keep": [self.t]})
        return program(f"trace = {run}", "", "print(trace.particles[-1], trace.weights[-1])")


class ExactPosterior(Computation):
    """What is known at time t: the cloud at once, then the exact posterior of the same answers."""

    run = param.ClassSelector(class_=Computation, doc="The run that is looked at.")
    t = param.Integer(1000, bounds=(1, None), label="t", doc="t, how many individuals have answered.")

    def is_preview(self, result):
        return not result.exact

    def work(self):
        runs = None if self.run is None else self.run.result
        t = self.t

        def results():
            if runs is None:
                return
            at, particles, weights = runs.adaptive.cloud(t)
            rng = np.random.default_rng(at)
            shown = particles[systematic(rng, weights, min(len(weights), _MOST_POINTS))]
            window = _window(particles, weights)
            yield JointPicture(at, shown, [[] for _ in SHARES], False, window, runs.settings)
            trace, settings = runs.adaptive.trace, runs.settings
            surface = posterior_surface(
                *(np.ascontiguousarray(side[:at]) for side in (trace.y, trace.left, trace.right)),
                np.linspace(*window[0], _NODES),
                np.linspace(*window[1], _NODES),
                **{name: settings[name] for name in ("epsilon", "family", "mechanism", "delta")},
            )
            generator = contourpy.contour_generator(surface.mu, surface.sigma, surface.density.T)
            contours = [generator.lines(surface.level(share)) for share in SHARES]
            yield JointPicture(at, shown, contours, True, window, settings)

        return results()


def _window(particles: np.ndarray, weights: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ranges that hold nearly all of the cloud, with room around."""
    sides = []
    for column in (0, 1):
        order = np.argsort(particles[:, column])
        below = np.cumsum(weights[order])
        low, high = particles[order[np.searchsorted(below, [0.002 * below[-1], 0.998 * below[-1]])], column]
        room = 0.25 * (high - low) + 1e-6 * max(abs(low), abs(high), 1e-300)
        sides.append((float(low - room), float(high + room)))
    (low, high) = sides[1]
    return sides[0], (max(low, high * 1e-3), high)
