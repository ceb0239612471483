"""A simulated run of the whole method: a population with known parameters answers, one by one.

    >>> trace = simulate(mu=50, sigma=10**0.5, n=100, epsilon=5, particles=200, seed=1)
    >>> trace.mean.shape, trace.y.shape
    ((100, 2), (100,))

The population, the noise, the particles and the choice of intervals draw from four streams of one seed. Change
epsilon, mu, sigma or the number of particles, and everything else stays what it was: the run moves, it does not jump.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from inspect import signature
from pathlib import Path
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite, finite_array, positive, seed_sequence, whole
from explorer.engine.compute.threads import Stopped, stop_if_asked, stoppable
from explorer.engine.compute.uniform import open_uniform
from explorer.engine.inference.history import History
from explorer.engine.inference.priors import Prior
from explorer.engine.inference.resampling import systematic
from explorer.engine.inference.samplers import Info, Posterior, Sampler
from explorer.engine.inference.samplers.protocol import check_array, check_cloud
from explorer.engine.information import Score
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.policy import Policy, policy as find_policy
from explorer.engine.population import Family, family as find_family
from explorer.engine.run.estimator import OnlineEstimator
from explorer.engine.run.stretch import Stretch, can_stretch, stretch
from explorer.io import archive

#: Half the width of the fixed interval of the paper's non-adaptive method, in units of sigma.
FIXED_HALF_WIDTH = 10.0
_FORMAT, _VERSION = "explorer trace", 1
_OVER_TIME = (
    *("x", "y", "left", "right", "mean", "sd", "quantiles", "ess", "log_evidence"),
    *("resampled", "seconds", "lost"),
)
_TYPES = {"resampled": bool, "lost": bool}


class Step(NamedTuple):
    """One individual: what they have, what they were asked and answered, and what is known after that."""

    t: int
    x: float
    y: float
    interval: Interval
    posterior: Posterior
    info: Info
    seconds: float


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


def iter_simulation(
    mu: float = 50.0,
    sigma: float = 10**0.5,
    n: int = 1000,
    epsilon: float = 1.0,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    particles: int = 1000,
    policy: str | Policy = "thompson",
    score: Score = "mu",
    sampler: str | type[Sampler] = "marginal",
    seed: int | None = None,
    prior: Prior | None = None,
    first_interval: Interval | None = None,
    delta: float = DEFAULT_DELTA,
    sampler_options: dict | None = None,
    best: tuple[float, float] | None = None,
    answers_by: Mechanism | None = None,
) -> Iterator[Step]:
    """The run as an iterator of steps; leave it at any time. The arguments are those of OnlineEstimator, and the truth.

    The policy ``"fixed"`` asks for ``first_interval`` or, as the paper does, for mu ± 10 sigma, always. ``answers_by``
    is what the individuals really use, if that is not the mechanism that the estimator believes in.
    """
    mu, sigma, n = finite("mu", mu), positive("sigma", sigma), whole("n", n, 1)
    chosen, mech = find_family(family), find_mechanism(mechanism, epsilon, delta)
    first = None if first_interval is None else Interval.of(first_interval)
    if policy == "fixed" and first is None:
        first = Interval(mu - FIXED_HALF_WIDTH * sigma, mu + FIXED_HALF_WIDTH * sigma)
    policy = find_policy(policy, chosen, mech, score, interval=first, truth=(mu, sigma), best=best)
    population, noise, own = seed_sequence("seed", seed).spawn(3)
    run = OnlineEstimator(
        epsilon, mech, chosen, particles, policy, score, sampler, own, prior, first, delta, sampler_options
    )
    values = mu + sigma * chosen.sample(np.random.default_rng(population), n)
    uniforms = open_uniform(np.random.default_rng(noise), n)
    if not isinstance(answers_by, Mechanism | None):
        raise ValueError(f"answers_by must be a mechanism, got {answers_by!r}")
    return _Steps(run, values, uniforms, answers_by or mech)


class _Steps(Iterator[Step]):
    """Individuals with these values answer, one by one or many at a time; their noise comes from uniform numbers."""

    def __init__(self, run: OnlineEstimator, values: np.ndarray, uniforms: np.ndarray, answers_by: Mechanism) -> None:
        self.run, self.values, self._uniforms, self._mechanism = run, values, uniforms, answers_by
        self.t = 0
        self.stretches = can_stretch(run) and answers_by is run.mechanism
        if self.stretches:
            self._noise = run.mechanism.noise(uniforms)

    def __next__(self) -> Step:
        if self.t == self.values.size:
            raise StopIteration
        x, interval = float(self.values[self.t]), self.run.interval
        y = float(self._mechanism.answer(float(self._uniforms[self.t]), x, interval))
        start = time.perf_counter()
        info = self.run.observe(y)
        self.t += 1
        return Step(self.t, x, y, interval, self.run.posterior, info, time.perf_counter() - start)

    def all_answers(self) -> History:
        """What everybody answers, if all are asked for the first interval."""
        interval = self.run.interval
        y = self._mechanism.answer(self._uniforms, self.values, interval)
        return History(y, *(np.full(y.size, end) for end in interval))

    def stretch(self, kept: np.ndarray, levels: np.ndarray) -> Stretch:
        """Those who come next, up to the one whose answer makes the particles move."""
        found = stretch(self.run, self.values[self.t :], self._noise[self.t :], kept[self.t :], levels)
        self.t += len(found)
        return found


def simulate(
    mu: float = 50.0,
    sigma: float = 10**0.5,
    n: int = 1000,
    epsilon: float = 1.0,
    *,
    keep: int | Sequence[int] = 20,
    levels: Sequence[float] = (0.025, 0.5, 0.975),
    progress: Callable[[int], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    **settings,
) -> Trace:
    """A whole run, with the arguments of ``iter_simulation``.

    ``keep`` says which clouds of particles to keep: every so many answers and the last, or after the answers named.
    ``progress`` is called with the number of answers so far after each. ``cancelled`` is asked before each and during
    those that take long: if it says yes, the trace ends there.
    """
    levels = finite_array("levels", levels)
    if levels.ndim != 1 or np.any((levels < 0) | (levels > 1)):
        raise ValueError(f"levels must be a sequence of numbers between 0 and 1, got {levels!r}")
    if settings.get("seed") is None:
        settings["seed"] = np.random.SeedSequence().entropy  # so that the trace can say how to make it again
    steps = iter_simulation(mu, sigma, n, epsilon, **settings)
    kept, last = _kept(keep, n)
    trace = _Recorder(levels)
    try:
        with stoppable(cancelled):
            while steps.t < n:
                stop_if_asked()
                before = steps.t
                if steps.stretches and cancelled is None:  # which is to be asked before each answer
                    trace.extend(steps, kept)
                if steps.t == before:
                    trace.add(next(steps), kept[before])
                if progress is not None:
                    for t in range(before, steps.t):
                        progress(t + 1)
    except Stopped:
        if cancelled is None:  # somebody else wants it to stop, and does not want the trace
            raise
    if last:
        trace.keep_last(steps)
    given = {"mu": mu, "sigma": sigma, "n": n, "epsilon": epsilon} | settings
    defaults = {name: parameter.default for name, parameter in signature(iter_simulation).parameters.items()}
    return trace.finished({name: _plain(value) for name, value in (defaults | given).items()})


def _kept(keep: int | Sequence[int], n: int) -> tuple[np.ndarray, bool]:
    """After which answers to keep the cloud, and whether after the last one too, wherever the run ends."""
    kept = np.zeros(n, dtype=bool)
    if isinstance(keep, int | np.integer):
        kept[whole("keep", keep, 1) - 1 :: keep] = True
        return kept, True
    named = {whole("keep", step, 1) for step in keep}
    if named and max(named) > n:
        raise ValueError(f"keep must name answers up to n={n}, got {max(named)}")
    kept[[step - 1 for step in named]] = True
    return kept, False


class _Recorder:
    """Collects steps, and stretches of them, into a Trace."""

    def __init__(self, levels: np.ndarray) -> None:
        self.levels = levels
        self.rows: list[tuple] = []
        self.clouds: list[tuple[int, np.ndarray, np.ndarray]] = []

    def add(self, step: Step, kept: bool) -> None:
        after = step.posterior
        summary = after.mean, after.sd, after.quantiles(self.levels), after.ess, after.log_evidence
        row = step.x, step.y, *step.interval, *summary, step.info.resampled, step.seconds, after.lost
        self.rows.append(tuple(np.asarray(value)[None] for value in row))
        if kept:
            self.clouds.append((step.t, after.particles, after.weights))

    def extend(self, steps: _Steps, kept: np.ndarray) -> None:
        """Let the individuals that come next answer, as many as can in one go, and note what happened."""
        start, before = time.perf_counter(), steps.t
        found = steps.stretch(kept, self.levels)
        size = len(found)
        if not size:
            return
        seconds = np.full(size, (time.perf_counter() - start) / size)
        x = steps.values[before : steps.t]
        lost = np.full(size, steps.run.posterior.lost)  # between two moves nothing about that changes
        self.rows.append((x, *found[:-1], np.zeros(size, dtype=bool), seconds, lost))
        moments = before + 1 + np.flatnonzero(kept[before : steps.t])
        particles = steps.run.posterior.particles
        self.clouds += [(int(t), particles, weights) for t, weights in zip(moments, found.weights, strict=True)]

    def keep_last(self, steps: _Steps) -> None:
        if steps.t and (not self.clouds or self.clouds[-1][0] < steps.t):
            posterior = steps.run.posterior
            self.clouds.append((steps.t, posterior.particles, posterior.weights))

    def finished(self, settings: dict) -> Trace:
        nothing = {"mean": (0, 2), "sd": (0, 2), "quantiles": (0, self.levels.size, 2)}
        if self.rows:
            columns = [np.concatenate(column) for column in zip(*self.rows, strict=True)]
        else:  # cancelled before the first answer
            columns = [np.empty(nothing.get(name, 0), _TYPES.get(name, float)) for name in _OVER_TIME]
        arrays = dict(zip(_OVER_TIME, columns, strict=True))
        return Trace(**arrays, **_stacked(self.clouds), levels=self.levels, settings=settings)


def _stacked(clouds: list[tuple[int, np.ndarray, np.ndarray]]) -> dict[str, np.ndarray]:
    """Clouds as one array. The grid's differ in size: the shorter ones are filled up with particles of weight 0."""
    size = max((len(weights) for _, _, weights in clouds), default=0)
    particles, weights = np.empty((len(clouds), size, 2)), np.zeros((len(clouds), size))
    for row, (_, cloud, weight) in enumerate(clouds):
        particles[row, : len(cloud)], particles[row, len(cloud) :] = cloud, cloud[-1]
        weights[row, : len(weight)] = weight
    return {"kept": np.array([t for t, _, _ in clouds], dtype=int), "particles": particles, "weights": weights}


def _plain(value):
    """An argument as JSON can hold it: numbers and words as they are, objects by their description."""
    if isinstance(value, np.integer | np.floating):
        return value.item()
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | np.ndarray):
        return [_plain(item) for item in value]
    return _plain(getattr(value, "description", None) or repr(value))
