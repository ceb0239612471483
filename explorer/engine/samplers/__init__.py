"""Samplers: engines that turn answers into a posterior of (mu, sigma), behind one small protocol."""

from inspect import signature

from explorer.engine.arguments import one_of
from explorer.engine.families import Family
from explorer.engine.mechanisms import Mechanism
from explorer.engine.priors import Prior
from explorer.engine.samplers.gradient import Gradient
from explorer.engine.samplers.grid import Grid
from explorer.engine.samplers.marginal import Marginal
from explorer.engine.samplers.posterior import Posterior
from explorer.engine.samplers.protocol import ImpossibleAnswerError, Info, Sampler
from explorer.engine.samplers.resample_move import ResampleMove

SAMPLERS: dict[str, type[Sampler]] = {cls.name: cls for cls in (Marginal, ResampleMove, Grid, Gradient)}

__all__ = ["SAMPLERS", "Grid", "ImpossibleAnswerError", "Info", "Marginal", "Posterior", "ResampleMove", "Sampler"]


def sampler(name: str, family: Family, mechanism: Mechanism, prior: Prior, particles: int, **options) -> Sampler:
    """The sampler of that name; ``options`` are those of its class."""
    cls = SAMPLERS[one_of("sampler", name, SAMPLERS)]
    unknown = set(options) - set(signature(cls).parameters)
    if unknown:
        raise ValueError(f"sampler {name!r} does not take {', '.join(sorted(unknown))}")
    return cls(family, mechanism, prior, particles, **options)
