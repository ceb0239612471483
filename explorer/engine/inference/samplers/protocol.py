"""What every sampler offers: the paper's G, as a pure step on an immutable state.

>>> from explorer.engine.population import family
>>> from explorer.engine.mechanisms import mechanism
>>> from explorer.engine.inference.priors import SemiConjugatePrior
>>> from explorer.engine.inference.samplers.marginal import Marginal
>>> sampler = Marginal(family("normal"), mechanism("laplace", 1.0), SemiConjugatePrior(), particles=100)
>>> rng = np.random.default_rng(1)
>>> state, info = sampler.step(rng, sampler.init(rng), 0.3, Interval(-1, 1))
>>> len(state.history), sampler.posterior(state).mean.shape
(1, (2,))

A state is a NamedTuple of arrays and numbers (and a ``History``). Nothing in it is changed by a step, so an old
state can be kept, shown, or continued in another way.
"""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from explorer.engine.compute.arguments import whole
from explorer.engine.compute.registry import Registry
from explorer.engine.inference.history import History
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import LARGEST_SIGMA, SMALLEST_SIGMA, Prior
from explorer.engine.mechanisms import Mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.population import Family

SAMPLERS = Registry("sampler")
#: The decorator that makes a sampler known everywhere.
register = SAMPLERS.register
#: What rounding may add up to in numbers that a file holds.
ROUNDING = 1e-6


class Info(NamedTuple):
    """What a step did."""

    #: Whether particles were resampled (for the grid: whether cells were halved).
    resampled: bool
    #: The share of proposals that were accepted, for each kind of move that was made.
    acceptance: dict[str, float]
    #: How many different particles there are now; for resample_move, how many of the old ones have descendants.
    unique: int
    #: Evaluations of one particle against one answer (for latent samplers: proposals of one x).
    work: int


class ImpossibleAnswerError(ValueError):
    """No particle could have given rise to this answer."""

    @classmethod
    def of(cls, y: float) -> "ImpossibleAnswerError":
        return cls(f"y has probability 0 under every particle, got {y!r}")


def known_release(sampler: str, mechanism: Mechanism) -> Mechanism:
    """The mechanism, if samplers with latent values can use it: if it gives a ``log_release`` that compiles."""
    if mechanism.log_release is None:
        raise ValueError(f"sampler {sampler!r} needs a mechanism with a compiled log_release, got {mechanism!r}")
    return mechanism


class Sampler:
    """Base class: a subclass gives ``init``, ``step`` and ``posterior``."""

    name: ClassVar[str]
    #: Whether the number of particles matters to it.
    has_particles: ClassVar[bool] = True
    #: The NamedTuple that its states are.
    state_type: ClassVar[type]

    def __init__(self, family: Family, mechanism: Mechanism, prior: Prior, particles: int = 1000) -> None:
        self.family = family
        self.mechanism = mechanism
        self.prior = prior
        self.particles = whole("particles", particles, 1)

    @property
    def options(self) -> dict:
        """What this sampler takes beside the arguments of all."""
        return {}

    def init(self, rng: np.random.Generator) -> Any:
        """The state before the first answer: the prior."""
        raise NotImplementedError

    def step(self, rng: np.random.Generator, state: Any, y: float, interval: Interval) -> tuple[Any, Info]:
        """The state after one more answer, and what the step did."""
        raise NotImplementedError

    def posterior(self, state: Any) -> Posterior:
        """What a state says about (mu, sigma)."""
        raise NotImplementedError

    def restored(self, values: dict, history: History) -> Any:
        """The state that a file describes: its fields but for the history.

        Raises ValueError if no run could have left these values. A subclass checks its arrays here, before a kernel
        sees them.
        """
        try:
            return self.state_type(**values, history=history)
        except TypeError as error:
            raise ValueError(f"its state is not complete: {error}") from None


def check_array(name: str, array, shape: tuple[int, ...], kind: str = "f") -> None:
    """Raise ValueError unless this is an array of finite numbers of the kind and shape that a state needs."""
    if not isinstance(array, np.ndarray) or array.dtype.kind != kind or array.shape != shape:
        raise ValueError(f"{name} must be an array of shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite")


def check_cloud(particles, weights, size: int) -> None:
    """Raise ValueError unless these are ``size`` weighted particles."""
    check_array("particles", particles, (size, 2))
    check_array("weights", weights, (size,))
    sigma = particles[:, 1]
    if not np.all((sigma >= SMALLEST_SIGMA) & (sigma <= LARGEST_SIGMA)):
        raise ValueError("sigma must be above 0 for every particle")
    if np.any(weights < 0) or abs(weights.sum() - 1) > ROUNDING:
        raise ValueError("the weights must not be negative and their sum must be 1")
