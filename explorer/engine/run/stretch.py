"""Many answers of a simulated run in one compiled go, from one move of the particles to the next.

Between two moves of ``marginal`` only the weights change. For the paper's own setting, a normal population under the
Laplace mechanism, all of a step is plain arithmetic then: the answer, its likelihood, the weights, what is read off
them, and the next interval. Done in one loop it gives, to the last bit, what ``OnlineEstimator.observe`` gives answer
by answer, several times faster.
"""

import math
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.compiled import kernel
from explorer.engine.inference.posterior import moments, pick, read_off
from explorer.engine.inference.samplers.marginal import RESAMPLE_BELOW, Marginal
from explorer.engine.inference.samplers.outlook import next_look
from explorer.engine.inference.weighting import reweight
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.normal_laplace import normal_laplace_total
from explorer.engine.policy import Fixed, Oracle, PlugIn, Thompson
from explorer.engine.policy.policy import NARROW, NARROWEST
from explorer.engine.run.estimator import OnlineEstimator

# How the next interval is placed.
_SAME, _MEAN, _DRAW = 0, 1, 2
_PLACING = {Fixed: _SAME, Oracle: _SAME, PlugIn: _MEAN, Thompson: _DRAW}
#: A stretch is at most so many likelihoods long, so that a run can be stopped between two.
_MOST_WORK = 200_000


class Stretch(NamedTuple):
    """What happened, a row an answer; ``weights`` has a row for each answer whose cloud is to be kept."""

    y: np.ndarray
    left: np.ndarray
    right: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray
    ess: np.ndarray
    log_evidence: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return self.y.size


def can_stretch(run: OnlineEstimator) -> bool:
    """Whether this estimator's steps are plain arithmetic."""
    # With more particles, the likelihood of one answer is computed in blocks, which may round otherwise.
    simple = type(run.sampler) is Marginal and run.sampler.particles < 40_000
    return simple and type(run.policy) in _PLACING and run.mechanism.stretches(run.family)


def stretch(run: OnlineEstimator, x: np.ndarray, noise: np.ndarray, kept: np.ndarray, levels: np.ndarray) -> Stretch:
    """Let individuals with these values and this noise (in units of its scale) answer until the particles must move.

    The individual whose answer makes them move is the first who is left out; if all are in, nobody is.
    """
    most = max(1, _MOST_WORK // run.sampler.particles)
    # Nor is the answer in after which the sampler looks around.
    most = min(most, next_look(run.answers) - run.answers - 1)
    x, noise, kept = x[:most], noise[:most], kept[:most]
    state, placing = run.state, _PLACING[type(run.policy)]
    a, b = run.policy.best if placing != _SAME else (0.0, 0.0)
    done, left, right, log_weights, weights, log_likelihood, log_evidence, *columns = _stretch(
        x,
        noise,
        kept,
        run.coming_draws(x.size),
        levels,
        run.mechanism.epsilon,
        placing,
        a,
        b,
        *run.interval,
        state.particles,
        state.by_sigma,
        state.log_weights,
        state.weights,
        state.log_likelihood,
        state.log_evidence,
        RESAMPLE_BELOW * run.sampler.particles,
    )
    found = Stretch(*(column[:done] for column in columns[:-1]), columns[-1][: int(np.count_nonzero(kept[:done]))])
    history = state.history
    for answer in zip(found.y.tolist(), found.left.tolist(), found.right.tolist(), strict=True):
        history = history.append(*answer)
    if done:
        state = state._replace(
            log_weights=log_weights,
            weights=weights,
            log_likelihood=log_likelihood,
            log_evidence=float(log_evidence),
            history=history,
        )
    run.go_on_from(state, Interval(float(left), float(right)), done)
    return found


@kernel
def _stretch(
    x,
    noise,
    kept,
    uniforms,
    levels,
    epsilon,
    placing,
    a,
    b,
    left,
    right,
    particles,
    by_sigma,
    log_weights,
    weights,
    log_likelihood,
    log_evidence,
    least,
):
    size, count = weights.size, x.size
    mu, sigma = particles[:, 0].copy(), particles[:, 1].copy()
    by_mu = np.arange(size)
    log_likelihood = log_likelihood.copy()
    answers, lefts, rights = np.empty(count), np.empty(count), np.empty(count)
    means, sds = np.empty((count, 2)), np.empty((count, 2))
    quantiles, quantile = np.empty((count, levels.size, 2)), np.empty(levels.size)
    sizes, evidences = np.empty(count), np.empty(count)
    clouds, cloud = np.empty((np.count_nonzero(kept), size)), 0
    done = 0
    for t in range(count):
        y = min(max(x[t], left), right) + (right - left) / epsilon * noise[t]
        answers[t], lefts[t], rights[t] = y, left, right
        gain = normal_laplace_total(answers[t : t + 1], lefts[t : t + 1], rights[t : t + 1], mu, sigma, epsilon)
        new_log_weights, new_weights, log_sum, ess = reweight(log_weights, gain, 1.0)
        if not ess >= least or log_sum == -math.inf:
            break
        log_weights, weights = new_log_weights, new_weights
        for i in range(size):
            log_likelihood[i] += gain[i]
        log_evidence += log_sum
        mean, sd, squares = moments(particles, weights)
        means[t], sds[t], sizes[t], evidences[t] = mean, sd, squares, log_evidence
        read_off(particles, weights, by_mu, 0, levels, quantile)
        quantiles[t, :, 0] = quantile
        read_off(particles, weights, by_sigma, 1, levels, quantile)
        quantiles[t, :, 1] = quantile
        if kept[t]:
            clouds[cloud] = weights
            cloud += 1
        done += 1
        if placing != _SAME:
            m, c = mean[0], mean[1]
            if placing == _DRAW:
                m, c = pick(particles, weights, by_mu, uniforms[t])
            left, right = m + c * a, m + c * b
            if not right - left > NARROW * abs(m):
                reach = max(NARROW * abs(m), NARROWEST)
                left, right = m - reach, m + reach
    columns = answers, lefts, rights, means, sds, quantiles, sizes, evidences, clouds
    return (done, left, right, log_weights, weights, log_likelihood, log_evidence, *columns)
