"""Likelihood and information for a mechanism of somebody's own, from its density alone.

The mechanisms of this package have compiled kernels of their own. Any other gives ``_density(y, x, interval)``, and
everything follows by quadrature over the clipped value: its two atoms, and between them Gauss-Legendre on panels that
follow the population's scale and the places where the density jumps or bends (``Mechanism.kinks``).

The information is an integral over answers, on panels that end at quantiles of the answers of three people: one at
either end of the interval and one in its middle. As the mechanism is private, nobody else's answers are far from
theirs.
"""

import numpy as np

from explorer.engine.compute.quadrature import FEW_NODES, FEW_WEIGHTS, NODES, WEIGHTS
from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.population import Family

#: Panels end at these distances from mu, in units of sigma.
_REACHES = np.array([0.0, 0.5, 1.0, 1.75, 2.5, 4.0, 6.0, 9.0, 16.0, 40.0, 200.0, 2000.0])
_OFFSETS = np.concatenate([-_REACHES[:0:-1], _REACHES])
#: Panels of answers end at these quantiles.
_TAIL = 10.0 ** -np.array([12.0, 9.0, 7.0, 5.0, 4.0, 3.0, 2.0])
_QUANTILES = np.concatenate([_TAIL, np.linspace(0.03, 0.97, 24), 1 - _TAIL[::-1]])
_FEW_QUANTILES = np.concatenate([_TAIL, np.linspace(0.03, 0.97, 12), 1 - _TAIL[::-1]])
#: So many answers are worked on at a time, each with some two hundred nodes.
_AT_ONCE = 10_000


def evaluate(family: Family, mechanism, y, left, right, mu, sigma) -> np.ndarray:
    """``(log p, dlog p/dmu, dlog p/dsigma)`` for each element of five arrays of one length."""
    out = np.empty((y.size, 3))
    ends = np.stack([left, right], axis=1)
    for pair in np.unique(ends, axis=0):
        at = np.flatnonzero((ends == pair).all(axis=1))
        out[at] = _logarithms(_density(family, mechanism, y[at], Interval(*pair.tolist()), mu[at], sigma[at]))
    return out


def total(family: Family, mechanism, y, left, right, mu, sigma) -> np.ndarray:
    """The log-likelihood of all answers together, for each parameter."""
    summed = np.zeros(mu.size)
    for answer, *ends in zip(y.tolist(), left.tolist(), right.tolist(), strict=True):
        with np.errstate(divide="ignore"):
            summed += np.log(_density(family, mechanism, np.full(mu.size, answer), Interval(*ends), mu, sigma)[0])
    return summed


def information(family: Family, mechanism, a: np.ndarray, b: np.ndarray, rough: bool = False) -> np.ndarray:
    """(mu,mu), (mu,sigma) and (sigma,sigma) of one answer to each interval, at mu = 0 and sigma = 1."""
    levels, nodes, weights = (_FEW_QUANTILES, FEW_NODES, FEW_WEIGHTS) if rough else (_QUANTILES, NODES, WEIGHTS)
    out = np.empty((a.size, 3))
    for row, ends in zip(out, zip(a.tolist(), b.tolist(), strict=True), strict=True):
        stop_if_asked()
        interval = Interval(*ends)
        if mechanism.answers is not None:
            y = np.asarray(mechanism.answers, dtype=float)
            mass = np.ones(y.size)
        else:
            people = np.array([interval.left, interval.midpoint, interval.right])[:, None]
            quantiles = mechanism.answer(levels, people + np.zeros(levels.size), interval)
            edges = np.unique(np.append(quantiles, interval))  # at its ends, where many are, a density may jump
            half = np.diff(edges)[:, None] / 2
            y, mass = (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * weights).ravel()
        p, by_mu, by_sigma = _density(family, mechanism, y, interval, np.zeros(y.size), np.ones(y.size))
        weight = np.divide(mass, p, out=np.zeros(y.size), where=p > 0)
        row[:] = weight @ by_mu**2, weight @ (by_mu * by_sigma), weight @ by_sigma**2
    return out


def _logarithms(values: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    p, by_mu, by_sigma = values
    safe = np.where(p > 0, p, 1.0)
    with np.errstate(divide="ignore"):
        return np.stack([np.log(p), by_mu / safe, by_sigma / safe], axis=1)


def _density(family: Family, mechanism, y, interval: Interval, mu, sigma) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p(y | mu, sigma) and its derivatives, for each of some answers to one interval."""
    pieces = range(_AT_ONCE, y.size, _AT_ONCE)
    columns = (np.split(column, pieces) for column in (y, mu, sigma))
    parts = [_few(family, mechanism, some, interval, *theta) for some, *theta in zip(*columns, strict=True)]
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _few(family: Family, mechanism, y, interval: Interval, mu, sigma):
    left, right = interval
    edges = [np.full((y.size, 1), left), np.full((y.size, 1), right), mu[:, None] + sigma[:, None] * _OFFSETS]
    kinks = np.asarray(mechanism.kinks(y, interval), dtype=float)
    if kinks.size:
        edges.append(kinks)
    edges = np.sort(np.clip(np.concatenate(edges, axis=1), left, right), axis=1)
    half = np.diff(edges, axis=1)[..., None] / 2
    x = edges[:, :-1, None] + half * (1 + FEW_NODES)
    z = (x - mu[:, None, None]) / sigma[:, None, None]
    mass = half * FEW_WEIGHTS * family.pdf(z) * mechanism.density(y[:, None, None], x, interval)
    mass /= sigma[:, None, None]
    score = np.where((mass > 0)[..., None], family.score(z), 0.0)  # which may be infinite where nobody is
    p, by_mu, by_sigma = mass.sum((1, 2)), (mass * score[..., 0]).sum((1, 2)), (mass * score[..., 1]).sum((1, 2))
    # The atoms: everybody at or below l, everybody at or above r. Their shares move with mu and sigma.
    for end, share, sign in ((left, family.cdf, -1.0), (right, family.sf, 1.0)):
        at = (end - mu) / sigma
        given = mechanism.density(y, np.full(y.size, end), interval)
        p = p + given * share(at)
        by_mu = by_mu + sign * given * family.pdf(at)
        by_sigma = by_sigma + sign * given * family.pdf(at) * at
    return p, by_mu / sigma, by_sigma / sigma
