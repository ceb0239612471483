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
from explorer.engine.inference.samplers import Sampler
from explorer.engine.inference.samplers.marginal import RESAMPLE_BELOW, Marginal, MarginalState
from explorer.engine.inference.samplers.outlook import next_look
from explorer.engine.inference.weighting import reweight
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.mechanisms.normal_laplace import normal_laplace_total
from explorer.engine.policy import Fixed, Oracle, PlugIn, Policy, Thompson
from explorer.engine.policy.policy import placed_ends

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


def can_stretch(sampler: Sampler, policy: Policy) -> bool:
    """Whether the steps of this sampler and this policy are plain arithmetic between two moves."""
    # With more particles, the likelihood of one answer is computed in blocks, which may round otherwise.
    simple = type(sampler) is Marginal and sampler.particles < 40_000 and type(policy) in _PLACING
    return simple and sampler.mechanism.stretches(sampler.family)


def stretch(
    sampler: Marginal,
    policy: Policy,
    state: MarginalState,
    interval: Interval,
    uniforms: np.ndarray,
    x: np.ndarray,
    noise: np.ndarray,
    kept: np.ndarray,
    levels: np.ndarray,
) -> tuple[Stretch, MarginalState, Interval]:
    """Let individuals with these values and this noise (in units of its scale) answer until the particles must move.

    ``uniforms`` are the policy's next random numbers. The individual whose answer makes the particles move is the first
    who is left out; if all are in, nobody is. Returns what happened, and the state and the interval after that.
    """
    placing = _PLACING[type(policy)]
    a, b = policy.best if placing != _SAME else (0.0, 0.0)
    done, left, right, log_weights, weights, log_likelihood, log_evidence, *columns = _stretch(
        x,
        noise,
        kept,
        uniforms,
        levels,
        sampler.mechanism.epsilon,
        placing,
        a,
        b,
        *interval,
        state.particles,
        state.by_sigma,
        state.log_weights,
        state.weights,
        state.log_likelihood,
        state.log_evidence,
        RESAMPLE_BELOW * sampler.particles,
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
    return found, state, Interval(float(left), float(right))


def longest(sampler: Marginal, answers: int) -> int:
    """How many answers a stretch may hold after so many, so that a run can be stopped between two stretches."""
    # Nor is the answer in after which the sampler looks around.
    return min(max(1, _MOST_WORK // sampler.particles), next_look(answers) - answers - 1)


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
            left, right = placed_ends(m, c, a, b)
    columns = answers, lefts, rights, means, sds, quantiles, sizes, evidences, clouds
    return (done, left, right, log_weights, weights, log_likelihood, log_evidence, *columns)
