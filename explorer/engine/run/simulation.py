"""A simulated run of the whole method: a population with known parameters answers, one by one.

    >>> trace = simulate(mu=50, sigma=10**0.5, n=100, epsilon=5, particles=200, seed=1)
    >>> trace.mean.shape, trace.y.shape
    ((100, 2), (100,))

The population, the noise, the particles and the choice of intervals draw from four streams of one seed. Change
epsilon, mu, sigma or the number of particles, and everything else stays what it was: the run moves, it does not jump.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from inspect import signature
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import finite, finite_array, positive, seed_sequence, whole
from explorer.engine.compute.threads import Stopped, stop_if_asked, stoppable
from explorer.engine.compute.uniform import open_uniform
from explorer.engine.inference.history import History
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import Prior
from explorer.engine.inference.samplers import Info, Sampler
from explorer.engine.information import Score
from explorer.engine.mechanisms import DEFAULT_DELTA, Interval, Mechanism, mechanism as find_mechanism
from explorer.engine.policy import Policy, policy as find_policy
from explorer.engine.population import Family, family as find_family
from explorer.engine.run.estimator import OnlineEstimator
from explorer.engine.run.trace import Block, Cloud, Trace

#: Half the width of the fixed interval of the paper's non-adaptive method, in units of sigma.
FIXED_HALF_WIDTH = 10.0


class Step(NamedTuple):
    """One individual: what they have, what they were asked and answered, and what is known after that."""

    t: int
    x: float
    y: float
    interval: Interval
    posterior: Posterior
    info: Info
    seconds: float


def iter_simulation(
    mu: float = 50.0,
    sigma: float = 10**0.5,
    n: int = 1000,
    epsilon: float = 1.0,
    *,
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
) -> "Run":
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
        epsilon,
        mechanism=mech,
        family=chosen,
        particles=particles,
        policy=policy,
        score=score,
        sampler=sampler,
        seed=own,
        prior=prior,
        first_interval=first,
        delta=delta,
        sampler_options=sampler_options,
    )
    values = mu + sigma * chosen.sample(np.random.default_rng(population), n)
    uniforms = open_uniform(np.random.default_rng(noise), n)
    if not isinstance(answers_by, Mechanism | None):
        raise ValueError(f"answers_by must be a mechanism, got {answers_by!r}")
    return Run(run, values, uniforms, answers_by or mech)


class Run(Iterator[Step]):
    """Individuals with these values answer an estimator, one by one; their noise comes from uniform numbers."""

    def __init__(
        self, estimator: OnlineEstimator, values: np.ndarray, uniforms: np.ndarray, answers_by: Mechanism
    ) -> None:
        self.estimator, self._values, self._uniforms, self._mechanism = estimator, values, uniforms, answers_by
        self.t = 0
        self._noise = None
        if estimator.can_stretch and answers_by is estimator.mechanism:
            self._noise = answers_by.noise(uniforms)

    def __next__(self) -> Step:
        if self.t == self._values.size:
            raise StopIteration
        x, interval = float(self._values[self.t]), self.estimator.interval
        y = float(self._mechanism.answer(float(self._uniforms[self.t]), x, interval))
        start = time.perf_counter()
        info = self.estimator.observe(y)
        self.t += 1
        return Step(self.t, x, y, interval, self.estimator.posterior, info, time.perf_counter() - start)

    def all_answers(self) -> History:
        """What everybody answers, if all are asked for the first interval."""
        interval = self.estimator.interval
        y = self._mechanism.answer(self._uniforms, self._values, interval)
        return History(y, *(np.full(y.size, end) for end in interval))

    def block(self, kept: np.ndarray, levels: np.ndarray, one: bool) -> Block:
        """The next individual's row or, unless ``one`` is asked for, those of all up to the next move at once."""
        block = None if one or self._noise is None else self._stretch(kept, levels)
        return block or self._row(kept, levels)

    def _row(self, kept: np.ndarray, levels: np.ndarray) -> Block:
        step = next(self)
        after = step.posterior
        row = {
            "x": step.x,
            "y": step.y,
            "left": step.interval.left,
            "right": step.interval.right,
            "mean": after.mean,
            "sd": after.sd,
            "quantiles": after.quantiles(levels),
            "ess": after.ess,
            "log_evidence": after.log_evidence,
            "resampled": step.info.resampled,
            "seconds": step.seconds,
            "lost": after.lost,
        }
        clouds = [Cloud(step.t, after.particles, after.weights)] if kept[step.t - 1] else []
        return Block(**{name: np.asarray(value)[None] for name, value in row.items()}, clouds=clouds)

    def _stretch(self, kept: np.ndarray, levels: np.ndarray) -> Block | None:
        """Those who come next, up to the one whose answer makes the particles move; None if that is the next one."""
        start, before = time.perf_counter(), self.t
        found = self.estimator.stretch(self._values[before:], self._noise[before:], kept[before:], levels)
        size = len(found.y)
        if not size:
            return None
        self.t += size
        posterior = self.estimator.posterior
        moments = (before + 1 + np.flatnonzero(kept[before : self.t])).tolist()
        clouds = [Cloud(t, posterior.particles, weights) for t, weights in zip(moments, found.weights, strict=True)]
        return Block(
            x=self._values[before : self.t],
            **{name: column for name, column in found._asdict().items() if name != "weights"},
            resampled=np.zeros(size, dtype=bool),
            seconds=np.full(size, (time.perf_counter() - start) / size),
            lost=np.full(size, posterior.lost),  # between two moves nothing about that changes
            clouds=clouds,
        )

    def last_cloud(self) -> Cloud:
        posterior = self.estimator.posterior
        return Cloud(self.t, posterior.particles, posterior.weights)


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
    run = iter_simulation(mu, sigma, n, epsilon, **settings)
    kept, last = _kept(keep, n)
    blocks: list[Block] = []
    try:
        with stoppable(cancelled):
            while run.t < n:
                stop_if_asked()
                before = run.t
                blocks.append(run.block(kept, levels, one=cancelled is not None))  # who is asked before each answer
                if progress is not None:
                    for t in range(before, run.t):
                        progress(t + 1)
    except Stopped:
        if cancelled is None:  # somebody else wants it to stop, and does not want the trace
            raise
    if last and run.t and not kept[run.t - 1]:
        blocks[-1].clouds.append(run.last_cloud())
    given = {"mu": mu, "sigma": sigma, "n": n, "epsilon": epsilon} | settings
    defaults = {name: parameter.default for name, parameter in signature(iter_simulation).parameters.items()}
    return Trace.of(blocks, levels, {name: _plain(value) for name, value in (defaults | given).items()})


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
