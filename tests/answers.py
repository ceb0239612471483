"""Fixed data for the samplers' tests: answers of a known population to intervals that wander."""

from typing import NamedTuple

import numpy as np

import explorer as ex

MU, SIGMA = 5.0, 2.0
#: Has all the moments that the tests compare; under the paper's own prior the posterior variance of sigma is infinite.
PRIOR = ex.SemiConjugatePrior(mean=0, variance=100, shape=4, scale=12)


class Answers(NamedTuple):
    family: ex.Family
    mechanism: ex.Mechanism
    y: np.ndarray
    left: np.ndarray
    right: np.ndarray

    def feed(self, sampler, seed=None):
        """The posterior after all of them."""
        rng = np.random.default_rng(seed)
        state = sampler.init(rng)
        for y, left, right in zip(self.y.tolist(), self.left.tolist(), self.right.tolist(), strict=True):
            state, _ = sampler.step(rng, state, y, ex.Interval(left, right))
        return sampler.posterior(state)


def answers(epsilon: float, mechanism: str, n: int, family: str = "normal", first_away: float = 0.0) -> Answers:
    """``n`` answers; the first interval lies ``first_away`` sigmas off, the others come closer and closer."""
    chosen, mech = ex.family(family), ex.mechanism(mechanism, epsilon)
    a, b, _ = ex.best_interval(epsilon, family=chosen, mechanism=mech)
    rng = np.random.default_rng(1)
    rows = []
    for t in range(n):
        centre = MU + 8 * rng.normal() / np.sqrt(1 + t) + (first_away * SIGMA if t == 0 else 0)
        scale = SIGMA * np.exp(0.5 * rng.normal())
        interval = ex.Interval(float(centre + scale * a), float(centre + scale * b))
        rows.append((mech.release(MU + SIGMA * float(chosen.sample(rng)), interval, rng), *interval))
    return Answers(chosen, mech, *np.array(rows).T)
