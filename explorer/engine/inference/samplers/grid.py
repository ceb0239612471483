"""The reference: the posterior of (mu, sigma) by quadrature, on cells that follow it. No randomness.

The plane of (mu, log sigma) is cut into rectangles, each with 8 x 8 Gauss-Legendre nodes at which the exact
posterior density is kept. A cell is halved while the Legendre coefficients of its highest degrees say that its
polynomial does not follow the density yet. Where a new answer's likelihood turns, cells are halved before it is taken
in, so that no bump can hide between the nodes.

Most of the plane soon matters no more. Cells without visible mass sleep: their density is not kept up to date.
Privacy itself says when to wake them. One answer of an epsilon-private mechanism changes the ratio of two likelihoods
by at most e**epsilon, so after k answers a cell's share of the posterior is at most what it was times e**(epsilon k).
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.inference.history import History
from explorer.engine.inference.likelihood import total_log_likelihood
from explorer.engine.inference.posterior import Posterior
from explorer.engine.inference.priors import LARGEST_SIGMA
from explorer.engine.inference.samplers.protocol import (
    ROUNDING,
    ImpossibleAnswerError,
    Info,
    Sampler,
    check_array,
    register,
)
from explorer.engine.mechanisms.interval import Interval

_SIZE = 8
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_SIZE)
# Node values to Legendre coefficients: c_k = (k + 1/2) sum_i w_i P_k(x_i) f(x_i)
_TO_LEGENDRE = (np.arange(_SIZE) + 0.5)[:, None] * np.polynomial.legendre.legvander(_NODES, _SIZE - 1).T * _WEIGHTS
_CELL_WEIGHTS = np.outer(_WEIGHTS, _WEIGHTS).ravel()
#: A cell is halved if its highest two degrees hold more than this share of the whole mass. The quadrature is
#: exact to twice the degree and more, so that its own error is smaller still where the density is smooth.
_TOLERANCE = 1e-6
#: log of the share of the posterior below which a cell sleeps.
_ASLEEP = -50.0
#: More cells than any posterior of two parameters should need.
_MOST_CELLS = 100_000


class GridState(NamedTuple):
    """The cells, the log-density at their nodes, and all answers."""

    #: (cells, 4): the ranges of mu and of log sigma.
    boxes: np.ndarray
    #: (cells, 64): the log of prior times likelihood at the nodes, in (mu, log sigma).
    log_density: np.ndarray
    #: (cells,): how many answers are in it.
    counted: np.ndarray
    #: (cells,): an upper bound of the log of the cell's share of the posterior.
    log_share: np.ndarray
    log_evidence: float
    history: History


@register
class Grid(Sampler):
    """Deterministic quadrature on an adaptive grid. The number of particles is ignored, and no rng is needed."""

    name = "grid"
    has_particles = False
    state_type = GridState

    def init(self, rng=None):
        box = self.prior.box()
        jumps = self.prior.jumps()
        mu = _edges(*box.mu, jumps[0])
        log_sigma = _edges(*np.log(box.sigma), np.log(jumps[1]))
        boxes = np.array([[*sides, *heights] for sides in pairwise(mu) for heights in pairwise(log_sigma)])
        history = History()
        cells = _Cells(boxes, self._log_prior(boxes), np.zeros(len(boxes), int), np.zeros(len(boxes)))
        self._refine(cells, history)
        return self._state(cells, history)

    def step(self, rng, state, y, interval):
        interval = Interval.of(interval)
        history = state.history.append(y, *interval)
        cells = _Cells(state.boxes, state.log_density, state.counted, state.log_share)
        before = len(cells.boxes)
        self._prepare(cells, y, interval, state.history)
        cells.log_share = cells.log_share + self.mechanism.largest_log_ratio(y, interval)
        work = self._wake(cells, history)
        if not np.any(np.isfinite(cells.log_density[cells.log_share > _ASLEEP])):
            raise ImpossibleAnswerError.of(y)
        work += self._refine(cells, history)
        state = self._state(cells, history)
        awake = np.count_nonzero(cells.log_share > _ASLEEP)
        return state, Info(len(cells.boxes) != before, {}, int(awake) * _SIZE**2, int(work))

    def posterior(self, state):
        awake = state.log_share > _ASLEEP
        return GridPosterior(state.boxes[awake], state.log_density[awake])

    def restored(self, values, history):
        state = super().restored(values, history)
        cells = len(state.boxes)
        check_array("boxes", state.boxes, (cells, 4))
        check_array("counted", state.counted, (cells,), kind="i")
        # A cell without any mass has the logarithm -inf.
        for name, shape in (("log_density", (cells, _SIZE**2)), ("log_share", (cells,))):
            array = np.asarray(getattr(state, name))
            check_array(name, np.where(array == -np.inf, 0.0, array), shape)
        left, right, low, high = state.boxes.T
        if not (0 < cells <= _MOST_CELLS and np.all(left < right) and np.all(low < high)):
            raise ValueError("the cells must be rectangles")
        if np.abs(state.boxes[:, 2:]).max() > np.log(LARGEST_SIGMA) * (1 + ROUNDING):
            raise ValueError("log sigma must lie in its range")
        if np.any((state.counted < -1) | (state.counted > len(history))):
            raise ValueError("the cells cannot have counted more answers than there are")
        awake = state.log_share > _ASLEEP
        if not np.any(awake) or np.any(state.counted[awake] != len(history)):
            raise ValueError("the cells that matter must have counted all answers")
        again = self._log_prior(state.boxes[awake]) + self._likelihood(state.boxes[awake], history, 0)
        if not np.allclose(again, state.log_density[awake], rtol=ROUNDING, atol=ROUNDING):
            raise ValueError("the density must be that of the answers")
        return self._state(_Cells(state.boxes, state.log_density, state.counted, state.log_share), history)

    def _state(self, cells: "_Cells", history: History) -> GridState:
        awake = cells.log_share > _ASLEEP
        log_evidence = float(logsumexp(_log_mass(cells.boxes[awake], cells.log_density[awake])))
        return GridState(cells.boxes, cells.log_density, cells.counted, cells.log_share, log_evidence, history)

    def _log_prior(self, boxes: np.ndarray) -> np.ndarray:
        mu, log_sigma = _nodes(boxes)
        return self.prior.log_density(mu, np.exp(log_sigma)) + log_sigma

    def _likelihood(self, boxes: np.ndarray, history: History, start: int) -> np.ndarray:
        """The log-likelihood at the nodes of the answers from ``start`` on."""
        mu, log_sigma = (node.ravel() for node in _nodes(boxes))
        answers = (column[start:] for column in history.arrays)
        gain = total_log_likelihood(*answers, mu, np.exp(log_sigma), self.family, self.mechanism)
        return np.where(np.isnan(gain), -np.inf, gain).reshape(-1, _SIZE**2)

    def _prepare(self, cells: "_Cells", y: float, interval: Interval, history: History) -> None:
        """Halve the cells where a new answer says something, until their nodes cannot overlook it."""
        start, stop, scale = self.mechanism.turns(y, interval)
        while True:
            left, right, low, high = cells.boxes.T
            sigma = np.exp(low)
            near = (left < stop + scale + 3 * sigma) & (right > start - scale - 3 * sigma)
            tall = near & (high - low > 1.5)
            wide = near & ~tall & (right - left > 8 * np.hypot(sigma, scale))
            if not np.any(tall | wide):
                return
            cells.halve(tall | wide, along_mu=wide[tall | wide])
            self._fill(cells, history)

    def _fill(self, cells: "_Cells", history: History) -> int:
        """Give new cells (not counted yet) that are awake their densities; returns the work."""
        fresh = (cells.counted < 0) & (cells.log_share > _ASLEEP)
        boxes = cells.boxes[fresh]
        cells.log_density[fresh] = self._log_prior(boxes) + self._likelihood(boxes, history, 0)
        cells.counted[fresh] = len(history)
        return boxes.shape[0] * _SIZE**2 * len(history)

    def _wake(self, cells: "_Cells", history: History) -> int:
        """Bring the cells that may matter up to date; returns the work."""
        work = self._fill(cells, history)
        behind = (cells.log_share > _ASLEEP) & (cells.counted < len(history))
        for counted in np.unique(cells.counted[behind]):
            group = behind & (cells.counted == counted)
            cells.log_density[group] += self._likelihood(cells.boxes[group], history, int(counted))
            cells.counted[group] = len(history)
            work += np.count_nonzero(group) * _SIZE**2 * (len(history) - int(counted))
        return work

    def _refine(self, cells: "_Cells", history: History) -> int:
        """Halve cells until every density is followed; returns the work."""
        work = 0
        while True:
            stop_if_asked()
            awake = np.flatnonzero(cells.log_share > _ASLEEP)
            log_mass = _log_mass(cells.boxes[awake], cells.log_density[awake])
            log_total = float(logsumexp(log_mass))
            cells.log_share[awake] = log_mass - log_total
            along_mu, along_sigma = _unresolved(cells.boxes[awake], cells.log_density[awake] - log_total)
            coarse = np.maximum(along_mu, along_sigma) > _TOLERANCE
            if not np.any(coarse):
                return work
            chosen = np.zeros(len(cells.boxes), dtype=bool)
            chosen[awake[coarse]] = True
            cells.halve(chosen, along_mu=(along_mu > along_sigma)[coarse])
            if len(cells.boxes) > _MOST_CELLS:
                raise ValueError(f"this posterior needs more than {_MOST_CELLS} cells: use another sampler")
            work += self._fill(cells, history)


class _Cells:
    """The mutable side of a step: cells that are halved and filled."""

    def __init__(self, boxes, log_density, counted, log_share) -> None:
        self.boxes = boxes
        self.log_density = log_density.copy()
        self.counted = counted.copy()
        self.log_share = log_share.copy()

    def halve(self, chosen: np.ndarray, along_mu: np.ndarray) -> None:
        """Replace the chosen cells by their halves, whose density is yet to be filled in."""
        first, second = self.boxes[chosen], self.boxes[chosen]
        axis = np.where(along_mu, 0, 2)
        rows = np.arange(len(first))
        middle = 0.5 * (first[rows, axis] + first[rows, axis + 1])
        first[rows, axis + 1] = second[rows, axis] = middle
        fresh = 2 * len(first)
        self.boxes = np.concatenate([self.boxes[~chosen], first, second])
        self.log_density = np.concatenate([self.log_density[~chosen], np.zeros((fresh, _SIZE**2))])
        self.counted = np.concatenate([self.counted[~chosen], np.full(fresh, -1)])
        self.log_share = np.concatenate([self.log_share[~chosen], np.tile(self.log_share[chosen], 2)])


class GridPosterior(Posterior):
    """The nodes as weighted particles; quantiles by integrating the cells' polynomials."""

    def __init__(self, boxes: np.ndarray, log_density: np.ndarray) -> None:
        log_evidence = float(logsumexp(_log_mass(boxes, log_density)))
        mu, log_sigma = _nodes(boxes)
        weights = _areas(boxes)[:, None] * _CELL_WEIGHTS * np.exp(log_density - log_evidence)
        particles = np.stack([mu.ravel(), np.exp(log_sigma).ravel()], axis=1)
        super().__init__(particles, weights.ravel(), log_evidence)
        self._boxes = boxes

    def _quantiles(self, q, column, out):
        out[:] = [self._quantile(level, column) for level in q]

    def _quantile(self, q: float, column: int) -> float:
        low, high = self._boxes[:, 2 * column], self._boxes[:, 2 * column + 1]
        grid = self.weights.reshape(-1, _SIZE, _SIZE).sum(axis=2 - column)  # (cells, nodes along the column)
        # On each cell the marginal density as a polynomial, and its integral from the cell's lower end.
        integral = np.polynomial.legendre.legint(_TO_LEGENDRE @ (grid / _WEIGHTS).T, lbnd=-1)
        below, above = low.min(), high.max()
        for _ in range(200):
            stop_if_asked()
            middle = 0.5 * (below + above)
            if not below < middle < above:
                break
            position = np.clip(2 * (middle - low) / (high - low) - 1, -1, 1)
            mass = np.polynomial.legendre.legval(position, integral, tensor=False).sum()
            below, above = (middle, above) if mass < q else (below, middle)
        return float(middle if column == 0 else np.exp(middle))


def _edges(low: float, high: float, jumps: np.ndarray) -> np.ndarray:
    """Eight even parts, cut also where the prior jumps."""
    return np.unique(np.append(np.linspace(low, high, 9), jumps[(jumps > low) & (jumps < high)]))


def _nodes(boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """mu and log sigma at the nodes of each cell, shape (cells, 64)."""
    mu = boxes[:, :1] + (boxes[:, 1:2] - boxes[:, :1]) * (1 + _NODES) / 2
    log_sigma = boxes[:, 2:3] + (boxes[:, 3:] - boxes[:, 2:3]) * (1 + _NODES) / 2
    return np.repeat(mu, _SIZE, axis=1), np.tile(log_sigma, _SIZE)


def _areas(boxes: np.ndarray) -> np.ndarray:
    return (boxes[:, 1] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 2]) / 4


def _log_mass(boxes: np.ndarray, log_density: np.ndarray) -> np.ndarray:
    """The logarithm of the integral over each cell, however small: a cell that sleeps must be able to wake."""
    top = log_density.max(axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return top[:, 0] + np.log(_areas(boxes) * (np.exp(log_density - top) @ _CELL_WEIGHTS))


def _unresolved(boxes: np.ndarray, log_density: np.ndarray) -> np.ndarray:
    """What the two highest degrees of each cell's polynomial hold, along mu and along log sigma."""
    values = np.exp(log_density).reshape(-1, _SIZE, _SIZE)
    coefficients = np.abs(_TO_LEGENDRE @ values @ _TO_LEGENDRE.T)
    along_mu = coefficients[:, -2:, :].sum(axis=(1, 2))
    along_sigma = coefficients[:, :, -2:].sum(axis=(1, 2))
    return 4 * _areas(boxes) * np.stack([along_mu, along_sigma])
