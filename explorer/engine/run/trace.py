"""A finished run, as arrays over time; and the blocks of rows that it is put together from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explorer.engine.inference.resampling import systematic
from explorer.engine.inference.samplers import SAMPLERS
from explorer.engine.inference.samplers.protocol import check_array, check_cloud
from explorer.engine.information import SCORES
from explorer.engine.mechanisms import MECHANISMS
from explorer.engine.policy import POLICIES
from explorer.engine.population import FAMILIES
from explorer.io import archive

_FORMAT, _VERSION = "explorer trace", 1


class Cloud(NamedTuple):
    """The particles after ``t`` answers."""

    t: int
    particles: np.ndarray
    weights: np.ndarray


class Block(NamedTuple):
    """What happened to one individual or to several in a row, a row each, and the clouds that are kept of them."""

    x: np.ndarray
    y: np.ndarray
    left: np.ndarray
    right: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray
    ess: np.ndarray
    log_evidence: np.ndarray
    resampled: np.ndarray
    seconds: np.ndarray
    lost: np.ndarray
    clouds: list[Cloud]

    @classmethod
    def empty(cls, levels: int) -> "Block":
        shapes = {"mean": (0, 2), "sd": (0, 2), "quantiles": (0, levels, 2)}
        types = {"resampled": bool, "lost": bool}
        columns = {name: np.empty(shapes.get(name, 0), types.get(name, float)) for name in cls._fields[:-1]}
        return cls(**columns, clouds=[])


@dataclass(frozen=True, eq=False)
class Trace:
    """A finished run. Arrays over time have one row an individual; their columns mu, sigma come last."""

    #: The sensitive values, which only a simulation knows.
    x: np.ndarray
    #: The answers, and the intervals they were given to.
    y: np.ndarray
    left: np.ndarray
    right: np.ndarray
    #: Posterior means and standard deviations, (n, 2).
    mean: np.ndarray
    sd: np.ndarray
    #: Posterior quantiles at ``levels``, (n, levels, 2).
    quantiles: np.ndarray
    levels: np.ndarray
    ess: np.ndarray
    log_evidence: np.ndarray
    #: Whether the particles were resampled after this answer, and the seconds that it took.
    resampled: np.ndarray
    seconds: np.ndarray
    #: Whether the sampler knows that it is lost: that other parameters explain the answers far better than its own.
    lost: np.ndarray
    #: The clouds after the answers ``kept`` (counted from 1): (kept, N, 2) and (kept, N).
    kept: np.ndarray
    particles: np.ndarray
    weights: np.ndarray
    #: The arguments of the run.
    settings: dict

    @classmethod
    def of(cls, blocks: Sequence[Block], levels: np.ndarray, settings: dict) -> "Trace":
        """All blocks of a run in one; of a run that was cancelled before its first answer, there is none."""
        blocks = blocks or [Block.empty(levels.size)]
        columns = {name: np.concatenate([getattr(block, name) for block in blocks]) for name in Block._fields[:-1]}
        clouds = _stacked([cloud for block in blocks for cloud in block.clouds])
        return cls(**columns, **clouds, levels=levels, settings=settings)

    def __len__(self) -> int:
        return self.y.size

    def __repr__(self) -> str:
        if not len(self):
            return "<Trace without answers>"
        (mu, sigma), (mu_sd, sigma_sd) = self.mean[-1], self.sd[-1]
        return f"<Trace of {len(self)} answers: mu = {mu:.4g} ± {mu_sd:.2g}, sigma = {sigma:.4g} ± {sigma_sd:.2g}>"

    def save(self, path: str | Path) -> None:
        """As a NumPy ``.npz``: one array for each attribute, and the settings as JSON in ``header``."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "settings"}
        archive.write(path, _FORMAT, _VERSION, {"settings": self.settings}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Trace":
        """Load the trace that was saved, to the last bit. Raises ValueError if the file is damaged."""
        header, arrays = archive.read(path, _FORMAT, _VERSION)
        try:
            arrays.setdefault("lost", np.zeros(len(arrays["y"]), dtype=bool))  # files of version 0.1.0
            trace = cls(**arrays, settings=header["settings"])
            trace._check()
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        return trace

    def _check(self) -> None:
        """Raise ValueError if no run could have left these arrays."""
        n, (kept, size) = self.y.size, self.weights.shape
        for name in ("x", "y", "left", "right", "ess", "log_evidence", "seconds"):
            check_array(name, getattr(self, name), (n,))
        for name in ("resampled", "lost"):
            check_array(name, getattr(self, name), (n,), kind="b")
        for name in ("mean", "sd"):
            check_array(name, getattr(self, name), (n, 2))
        check_array("levels", self.levels, (self.levels.size,))
        check_array("quantiles", self.quantiles, (n, self.levels.size, 2))
        check_array("kept", self.kept, (kept,), kind="i")
        check_array("particles", self.particles, (kept, size, 2))
        for particles, weights in zip(self.particles, self.weights, strict=True):
            check_cloud(particles, weights, size)
        if not isinstance(self.settings, dict):
            raise ValueError("settings must be a dictionary")
        if not np.all(self.left < self.right):
            raise ValueError("left must be below right")
        if not np.all((self.levels >= 0) & (self.levels <= 1)):
            raise ValueError("levels must lie between 0 and 1")
        if np.any(self.kept < 1) or np.any(self.kept > n) or np.any(np.diff(self.kept) <= 0):
            raise ValueError("kept must name answers in their order")
        positive = self.sd, self.ess, self.seconds, self.mean[..., 1], self.quantiles[..., 1]
        if any(np.any(column < 0) for column in positive):
            raise ValueError("standard deviations, sigma, ess and seconds must not be negative")

    def table(self):
        """A pandas DataFrame with a row an individual: what was asked and answered, and what is known after that."""
        import pandas as pd

        columns = {"t": np.arange(1, len(self) + 1), "left": self.left, "right": self.right, "y": self.y}
        names = ("mu", "sigma")
        for what, values in (("mean", self.mean), ("sd", self.sd)):
            columns |= {f"{name}_{what}": values[:, k] for k, name in enumerate(names)}
        for level, values in zip(self.levels, self.quantiles.transpose(1, 0, 2), strict=True):
            columns |= {f"{name}_{100 * level:g}%": values[:, k] for k, name in enumerate(names)}
        return pd.DataFrame(columns | {"ess": self.ess, "lost": self.lost})

    def script(self) -> str:
        """The Python call that makes this run again. Raises ValueError if it had something of somebody's own."""
        if not all(name.isidentifier() for name in self.settings):  # as a file may say
            raise ValueError("the settings of this run cannot be serialised")
        lines = [f"    {name}={_spelled(name, value)}," for name, value in self.settings.items() if value is not None]
        return "\n".join(["import explorer as ex", "", "trace = ex.simulate(", *lines, ")", "print(trace)"])

    def to_arviz(self):
        """The last cloud, resampled to even weights, as ArviZ InferenceData; needs the ``arviz`` extra."""
        try:
            import arviz
        except ImportError:
            raise ImportError("to_arviz needs ArviZ: pip install 'explorer[arviz]'") from None
        if not self.kept.size:
            raise ValueError("this trace has kept no particles: simulate with keep=...")
        chosen = systematic(np.random.default_rng(0), self.weights[-1])
        mu, sigma = self.particles[-1][chosen].T
        at = int(self.kept[-1])
        return arviz.from_dict(
            posterior={"mu": mu[None], "sigma": sigma[None]},
            observed_data={"y": self.y[:at], "left": self.left[:at], "right": self.right[:at]},
            attrs={"log_evidence": float(self.log_evidence[at - 1]), "answers": at},
        )


#: Arguments of a run that a description stands for, and what makes the object of it.
_KNOWN: dict[str, Mapping[str, object]] = {
    "family": FAMILIES,
    "mechanism": MECHANISMS,
    "policy": POLICIES,
    "sampler": SAMPLERS,
    "score": SCORES,
}
_MADE_BY = {"family": "ex.family", "mechanism": "ex.mechanism", "answers_by": "ex.mechanism"}


def _spelled(name: str, value) -> str:
    """An argument of a run as Python text."""
    if name == "prior" and isinstance(value, dict):
        own = dict(value)
        if own.pop("name") == "semi_conjugate":
            return f"ex.SemiConjugatePrior({_arguments(own)})"
    if isinstance(value, dict) and name in _MADE_BY:
        own = dict(value)
        return f"{_MADE_BY[name]}({own.pop('name')!r}{', ' if own else ''}{_arguments(own)})"
    unknown = isinstance(value, str) and name in _KNOWN and value not in _KNOWN[name]
    if (isinstance(value, dict) and name != "sampler_options") or unknown:
        raise ValueError(f"the {name} of this run cannot be serialised")
    return repr(tuple(value) if isinstance(value, list) else value)


def _arguments(given: dict) -> str:
    if not all(name.isidentifier() for name in given):
        raise ValueError("the settings of this run cannot be serialised")
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _stacked(clouds: list[Cloud]) -> dict[str, np.ndarray]:
    """Clouds as one array. The grid's differ in size: the shorter ones are filled up with particles of weight 0."""
    size = max((len(weights) for _, _, weights in clouds), default=0)
    particles, weights = np.empty((len(clouds), size, 2)), np.zeros((len(clouds), size))
    for row, (_, cloud, weight) in enumerate(clouds):
        particles[row, : len(cloud)], particles[row, len(cloud) :] = cloud, cloud[-1]
        weights[row, : len(weight)] = weight
    return {"kept": np.array([t for t, _, _ in clouds], dtype=int), "particles": particles, "weights": weights}
