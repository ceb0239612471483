"""Samplers: engines that turn answers into a posterior of (mu, sigma).

``SAMPLERS`` take one answer after the other, behind one small protocol. ``BATCH_SAMPLERS`` take all of them at once.
"""

from inspect import signature

from explorer.engine.compute.arguments import one_of
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import Prior
from explorer.engine.inference.samplers.batch import BATCH_SAMPLERS, BatchSampler
from explorer.engine.inference.samplers.gradient import Gradient
from explorer.engine.inference.samplers.grid import Grid
from explorer.engine.inference.samplers.marginal import Marginal
from explorer.engine.inference.samplers.metropolis import Metropolis
from explorer.engine.inference.samplers.mhaar import Mhaar
from explorer.engine.inference.samplers.protocol import SAMPLERS, ImpossibleAnswerError, Info, Sampler, register
from explorer.engine.inference.samplers.resample_move import ResampleMove
from explorer.engine.mechanisms import Mechanism
from explorer.engine.population import Family

SAMPLERS.put_first("marginal", "resample_move", "grid", "gradient")
BATCH_SAMPLERS.put_first("mhaar", "metropolis")

__all__ = [
    "BATCH_SAMPLERS",
    "SAMPLERS",
    "BatchSampler",
    "Gradient",
    "Grid",
    "ImpossibleAnswerError",
    "Info",
    "Marginal",
    "Metropolis",
    "Mhaar",
    "Posterior",
    "ResampleMove",
    "Sampler",
    "batch_sampler",
    "register",
    "sampler",
]


def sampler(
    name: str | type[Sampler], family: Family, mechanism: Mechanism, prior: Prior, particles: int, **options
) -> Sampler:
    """The sampler of that name, or of a class of your own; ``options`` are those of its class."""
    if isinstance(name, type) and issubclass(name, Sampler):
        return name(family, mechanism, prior, particles, **_known(name.name, name, options))
    if name in BATCH_SAMPLERS:
        raise ValueError(f"sampler {name!r} takes all answers at once: use explorer.batch_posterior")
    cls = SAMPLERS[one_of("sampler", name, SAMPLERS)]
    return cls(family, mechanism, prior, particles, **_known(name, cls, options))


def batch_sampler(name: str, family: Family, mechanism: Mechanism, prior: Prior, **options) -> BatchSampler:
    """The batch sampler of that name; ``options`` are those of its class, such as ``iterations``."""
    cls = BATCH_SAMPLERS[one_of("sampler", name, BATCH_SAMPLERS)]
    return cls(family, mechanism, prior, **_known(name, cls, options))


def _known(name: str, cls: type, options: dict) -> dict:
    unknown = set(options) - set(signature(cls).parameters)
    if unknown:
        raise ValueError(f"sampler {name!r} does not take {', '.join(sorted(unknown))}")
    return options
