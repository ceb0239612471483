"""What the figures show, as data frames: the numbers behind every download."""

import numpy as np
import pandas as pd

from explorer.engine.information import Option, Surface
from explorer.engine.run.collection import LEVELS
from explorer.models.data_collection import Collected
from explorer.models.epsilon_curve import Curve
from explorer.models.exact_posterior import JointPicture
from explorer.models.live_run import Runs
from explorer.models.mechanism_densities import MechanismPicture
from explorer.models.planning import Plan


def runs_table(runs: Runs) -> pd.DataFrame:
    """One row an individual and a run: what was asked and answered, what is known after that, what is possible."""
    frames = []
    for name, run in (("adaptive", runs.adaptive), ("fixed", runs.fixed)):
        if run is None:
            continue
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
            "mu_error": np.abs(trace.mean[:, 0] - runs.settings["mu"]),
            "mu_error_limit": run.limit,
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def collected_table(found: Collected) -> pd.DataFrame:
    """One row an answer: what was asked and answered, and what is known after that; nobody's value."""
    columns = {"t": np.arange(1, found.y.size + 1), "left": found.left, "right": found.right, "y": found.y}
    for k, level in enumerate(LEVELS):
        columns |= {f"{side}_{100 * level:g}%": found.quantiles[:, k, j] for j, side in enumerate(("mu", "sigma"))}
    return pd.DataFrame(columns)


def plan_table(plan: Plan) -> pd.DataFrame:
    """The options of a plan."""
    return pd.DataFrame(plan.options, columns=Option._fields)


def joint_table(picture: JointPicture) -> pd.DataFrame:
    """The particles of even weight that are shown."""
    return pd.DataFrame(picture.particles, columns=["mu", "sigma"]).assign(t=picture.t)


def surface_table(surface: Surface) -> pd.DataFrame:
    """The score at every a < b of the grid."""
    rows, columns = np.nonzero(~np.isnan(surface.values))
    values = surface.values[rows, columns]
    return pd.DataFrame({"a": surface.a[rows], "b": surface.b[columns], "score": values})


def curve_table(curve: Curve) -> pd.DataFrame:
    """The best interval and its score for each ε."""
    names = ("epsilon", "a", "b", "information")
    return pd.DataFrame({name: getattr(curve, name) for name in names}).assign(limit=curve.limit)


def mechanism_table(picture: MechanismPicture) -> pd.DataFrame:
    """Densities and privacy loss at each y."""
    return pd.DataFrame(
        {
            "y": picture.y,
            "density": picture.density,
            "density_given_x": picture.given[0],
            "density_given_neighbour": picture.given[1],
            "loss": picture.loss,
        }
    )
