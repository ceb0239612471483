"""The paper's batch baseline: Metropolis-Hastings with averaged acceptance ratios (MHAAR) on the latent values.

Andrieu, Yildirim, Doucet & Chopin (2020), Section 3: a model with one latent value x_t for each answer. Beside its
present x_t, each answer gets ``auxiliary - 1`` fresh values from a proposal q that treats theta and theta' alike, here
the population midway between the two. With the weights w_theta(x) = f_theta(x) p(y_t | x) / q(x), the ratio for the
step from theta to theta' is the prior's (and the walk's) times ::

    product over t of   sum_i w_theta'(x_t^i) / sum_i w_theta(x_t^i)

an average in which the noise of single latent values is gone. All x_t are then drawn afresh from their candidates: by
w_theta' if theta' is accepted, by w_theta if not.
"""

import math

import numpy as np

from explorer.engine.compute.arguments import whole
from explorer.engine.compute.compiled import call, kernel, log_release
from explorer.engine.inference.samplers.batch import BatchSampler, register_batch
from explorer.engine.inference.samplers.protocol import known_release


@register_batch
class Mhaar(BatchSampler):
    """MHAAR with candidates refreshed on acceptance and on rejection."""

    name = "mhaar"

    def __init__(self, family, mechanism, prior, iterations=10_000, auxiliary: int = 10) -> None:
        super().__init__(family, known_release(self.name, mechanism), prior, iterations)
        self.auxiliary = whole("auxiliary", auxiliary, 2)

    def _work(self, history):
        return len(history) * self.auxiliary

    def _begin(self, rng, point, history):
        return point[0] + np.exp(point[1]) * self.family.sample(rng, len(history))

    def _attempt(self, rng, latent, here, there, history):
        middle = 0.5 * (here + there)
        fresh = self.family.sample(rng, (len(history), self.auxiliary - 1))
        uniform = rng.random(len(history))
        code = self.family.code[0], self.family.shape, self.family.norm, *self.mechanism.release_code
        log_ratio, taken, stayed = _averaged(*code, latent, fresh, uniform, *history.arrays, here, there, middle)
        log_ratio += self._log_prior(there) - self._log_prior(here)
        return (-np.inf if np.isnan(log_ratio) else log_ratio), taken, stayed


@kernel
def _averaged(logpdf, shape, norm, release, constants, x, fresh, uniform, y, left, right, here, there, middle):
    """The log of the product of averaged ratios; values drawn for theta' and for theta."""
    size, more = fresh.shape
    taken, stayed = np.empty(size), np.empty(size)
    candidates, at_here, at_there = np.empty(more + 1), np.empty(more + 1), np.empty(more + 1)
    sigma, new_sigma, middle_sigma = math.exp(here[1]), math.exp(there[1]), math.exp(middle[1])
    log_ratio = 0.0
    for t in range(size):
        top, new_top = -math.inf, -math.inf
        for i in range(more + 1):
            value = x[t] if i == 0 else middle[0] + middle_sigma * fresh[t, i - 1]
            drawn = call(logpdf, (value - middle[0]) / middle_sigma, shape, norm)
            common = log_release(release, constants, y[t], value, left[t], right[t]) - drawn
            candidates[i] = value
            at_here[i] = common + call(logpdf, (value - here[0]) / sigma, shape, norm)
            at_there[i] = common + call(logpdf, (value - there[0]) / new_sigma, shape, norm)
            top, new_top = max(top, at_here[i]), max(new_top, at_there[i])
        if new_top == -math.inf:
            log_ratio = -math.inf
            new_top = 0.0
        total, new_total = 0.0, 0.0
        for i in range(more + 1):
            at_here[i] = math.exp(at_here[i] - top)
            at_there[i] = math.exp(at_there[i] - new_top)
            total += at_here[i]
            new_total += at_there[i]
        stayed[t] = candidates[_drawn(at_here, uniform[t] * total)]
        taken[t] = candidates[_drawn(at_there, uniform[t] * new_total)]
        if log_ratio > -math.inf:
            log_ratio += new_top - top + math.log(new_total / total)
    # The factors 1/sigma of the densities, of which each answer has one.
    return log_ratio + size * (here[1] - there[1]), taken, stayed


@kernel
def _drawn(weights, target):
    """The position at which the running sum of the weights passes ``target``."""
    below = 0.0
    for i in range(weights.size):
        below += weights[i]
        if below > target:
            return i
    return weights.size - 1
