"""The surest policy: the interval with the largest score on average over the posterior."""

import numpy as np
import scipy  # loads scipy.optimize when first used

from explorer.engine.information import Score, fisher_information, score_function
from explorer.engine.mechanisms import Interval, Mechanism
from explorer.engine.policy.placed import PlacedPolicy
from explorer.engine.policy.policy import placed, register
from explorer.engine.population import Family


@register
class PseudoBayesian(PlacedPolicy):
    """The largest score on average over the posterior, of which ``draws`` even quantiles of mu stand for the whole."""

    name = "pseudo_bayesian"
    draws = 64

    def __init__(self, best, family: Family, mechanism: Mechanism, score: Score) -> None:
        super().__init__(best)
        self._family, self._mechanism, self._score = family, mechanism, score_function(score)
        self._given_score = score if isinstance(score, str) or callable(score) else tuple(map(float, score))

    @property
    def description(self):
        known = super().description
        if known is not None:  # null for what is somebody's own, which is given again
            known["arguments"] |= {"family": self._family.description, "mechanism": self._mechanism.description}
            known["arguments"]["score"] = None if callable(self._given_score) else self._given_score
        return known

    def choose(self, posterior, uniform):
        theta = np.array([posterior.pick((k + 0.5) / self.draws) for k in range(self.draws)])
        mu, sigma = theta.T

        def average(left, right):
            ends = ((np.asarray(end)[..., None] - mu) / sigma for end in (left, right))
            chosen = {"mechanism": self._mechanism, "family": self._family}
            matrices = fisher_information(*ends, self._mechanism.epsilon, **chosen)
            return self._score(matrices / sigma[:, None, None] ** 2).mean(axis=-1)

        # Start from what is best for one of them, or from an interval as wide as they are spread.
        starts = [placed(self.best, *pair) for pair in theta]
        starts += [
            placed(self.best, mu.mean(), sigma.mean()),
            placed(Interval(-1, 1), mu.mean(), mu.std() + sigma.min()),
        ]
        start = starts[int(np.argmax(average(*np.array(starts).T)))]

        def interval_at(point):
            width = start.width * np.exp(np.clip(point[1], -20, 20))
            return placed(Interval(-0.5, 0.5), start.midpoint + start.width * point[0], width)

        def loss(point):
            return -float(average(*interval_at(point)))

        options = {"xatol": 1e-3, "fatol": 0, "maxiter": 60, "initial_simplex": [[0, 0], [0.3, 0], [0, 0.3]]}
        return interval_at(scipy.optimize.minimize(loss, np.zeros(2), method="Nelder-Mead", options=options).x)
