"""The posterior of (mu, sigma) given answers that have all been collected already.

>>> rng = np.random.default_rng(1)
>>> y = np.clip(rng.normal(5, 2, 400), -5, 15) + rng.laplace(0, 20 / 10, 400)
>>> posterior = batch_posterior(y, left=-5, right=15, epsilon=10, sampler="metropolis", iterations=2000, seed=1)
>>> bool(np.all(abs(posterior.mean - [5, 2]) < 3 * posterior.sd))
True
"""

import numpy as np

from explorer.engine.compute.arguments import common_shape, finite_array, ordered_arrays, seeded
from explorer.engine.inference.history import History
from explorer.engine.inference.priors import Prior, SemiConjugatePrior
from explorer.engine.inference.samplers import Posterior, batch_sampler
from explorer.engine.mechanisms import DEFAULT_DELTA, Mechanism, mechanism as find_mechanism
from explorer.engine.population import Family, family as find_family


def batch_posterior(
    y,
    left,
    right,
    epsilon: float,
    *,
    mechanism: str | Mechanism = "laplace",
    family: str | Family = "normal",
    sampler: str = "mhaar",
    seed: int | None = None,
    prior: Prior | None = None,
    delta: float = DEFAULT_DELTA,
    **options,
) -> Posterior:
    """By Markov chain Monte Carlo, from the answers ``y`` to the intervals ``[left, right]``, one or one for each.

    ``sampler`` is ``"mhaar"``, the paper's baseline, or ``"metropolis"``, on the exact likelihood; ``options`` are
    theirs: ``iterations``, of which a quarter is burnt in, and for mhaar ``auxiliary``.
    """
    y, (left, right) = finite_array("y", y), ordered_arrays(("left", "right"), left, right)
    shape = common_shape({"y": y, "left": left, "right": right})
    columns = (np.broadcast_to(column, shape).ravel() for column in (y, left, right))
    mech = find_mechanism(mechanism, epsilon, delta)
    prior = SemiConjugatePrior() if prior is None else prior
    chain = batch_sampler(sampler, find_family(family), mech, prior, **options)
    return chain.sample(seeded("seed", seed), History(*columns))[0]
