"""Moves of a weighted cloud of points towards a target, in as many steps as it takes.

The target is ``base + gain``, as logarithms, and the cloud stands for ``base``. If ``gain`` would leave fewer than a
tenth of the particles effective, it is taken in by powers: ``base + power * gain``, the power as large as it can be.
After each step the particles are resampled and moved by Metropolis-Hastings. So a surprise does not leave one survivor.

*Have they moved?* A proposal of the smoothed cloud does not depend on where its particle is, so one that is accepted
has forgotten its ancestor. Moves are repeated until three particles in four have been replaced in this way. If two
rounds are not enough, the target is not what a smooth cloud can follow, a needle in a haystack perhaps: then every
other round is a random walk with steps of all sizes, which finds its way at any scale.

*How much do they weigh?* The proposals are draws from a known density, whose values of the target are known: importance
sampling gives the target's mass, whatever went wrong on the way there.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from explorer.engine.inference.priors import LARGEST_SIGMA
from explorer.engine.inference.resampling import systematic
from explorer.engine.inference.samplers.smoothed_cloud import SmoothedCloud
from explorer.engine.inference.weighting import largest_exponent, reweight

#: A step leaves at least this share of the particles effective.
TEMPER_BELOW = 0.1
#: The cloud has moved when this share of the particles has accepted a proposal,
MOVED = 0.75
#: or after so many attempts.
MOST_MOVES = 30
#: The proposals tell the target's mass if at least this share of them is effective.
EFFECTIVE = 0.05


class Values(NamedTuple):
    """What is known at each point, as logarithms; ``likelihood`` is only carried along."""

    base: np.ndarray
    gain: np.ndarray
    likelihood: np.ndarray


class Moved(NamedTuple):
    """Evenly weighted points that stand for the target, and how they came there."""

    points: np.ndarray
    log_likelihood: np.ndarray
    #: The logarithm of the target's mass, and of its ratio to that of the base; the mass is NaN if proposals were bad.
    log_mass: float
    log_ratio: float
    proposals: int
    accepted: int


def temper(
    rng: np.random.Generator,
    points: np.ndarray,
    log_weights: np.ndarray,
    values: Values,
    evaluate: Callable[[np.ndarray], Values],
    narrowest: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Moved:
    """Move points (mu, log sigma) whose weights are for ``base`` until they stand for ``base + gain``.

    ``evaluate`` gives the values at new points, ``narrowest(points, weights)`` the smallest sds of a proposal.
    """
    size = len(points)
    taken, log_ratio, proposals, accepted = 0.0, 0.0, 0, 0
    while taken < 1:
        gain = values.gain
        exponent = largest_exponent(log_weights, gain * (1 - taken), TEMPER_BELOW * size) * (1 - taken)
        taken = 1.0 if exponent >= 1 - taken else taken + exponent
        _, weights, log_sum, _ = reweight(log_weights, gain, exponent)
        log_ratio += log_sum
        cloud = SmoothedCloud(rng, points, weights, narrowest(points, weights))
        ancestors = systematic(rng, weights)
        points, values = points[ancestors], Values(*(value[ancestors] for value in values))
        log_weights = np.full(size, -np.log(size))
        rounds, changes, log_mass = _move(rng, cloud, points, values, taken, evaluate)
        proposals += rounds * size
        accepted += changes
    return Moved(points, values.likelihood, log_mass, float(log_ratio), proposals, accepted)


def _move(rng, cloud: SmoothedCloud, points: np.ndarray, values: Values, taken: float, evaluate):
    """Metropolis-Hastings, in place, until the cloud has moved: (rounds, acceptances, log of the target's mass)."""
    size = len(points)
    target, density = values.base + taken * values.gain, cloud.log_density(points)
    moved = np.zeros(size, dtype=bool)
    accepted, log_importance = 0, []
    for rounds in range(1, MOST_MOVES + 1):
        walk = rounds > 2 and rounds % 2 == 1
        proposal = cloud.walk(rng, points) if walk else cloud.draw(rng, size)
        log_uniform = np.log1p(-rng.random(size))
        inside = np.abs(proposal[:, 1]) < np.log(LARGEST_SIGMA)
        proposal[~inside] = points[~inside]
        new = evaluate(proposal)
        new_target, new_density = new.base + taken * new.gain, cloud.log_density(proposal)
        ratio = new_target - target - (0 if walk else new_density - density)
        accept = inside & (log_uniform < ratio)
        now = points, *values, target, density
        for array, there in zip(now, (proposal, *new, new_target, new_density), strict=True):
            array[accept] = there[accept]
        accepted += int(np.count_nonzero(accept))
        if not walk:
            moved |= accept
            log_importance.append(np.where(inside, new_target - new_density, -np.inf))
        if np.count_nonzero(moved) >= MOVED * size:
            break
    return rounds, accepted, _log_mean(np.concatenate(log_importance)) - cloud.log_constant


def _log_mean(logs: np.ndarray) -> float:
    """The logarithm of the mean, NaN if too few of the numbers make it up."""
    even = np.full(logs.size, -np.log(logs.size))
    _, _, log_mean, effective = reweight(even, logs, 1.0)
    return float(log_mean) if effective >= EFFECTIVE * logs.size else np.nan
