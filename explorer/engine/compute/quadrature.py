"""Gauss-Legendre quadrature, and where to cut the line so that it converges.

A density is integrated panel by panel. ``panel_edges`` finds, for a family's density, the
panels on which sixteen nodes reach rounding error; they grow geometrically into the tails,
so that an interval of ten thousand scales costs a few dozen panels and not ten thousand.
"""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np

from explorer.engine.compute.compiled import kernel, map_scalar


def _running_integrals() -> np.ndarray:
    """Integrals of the polynomial through the values at the nodes, from Legendre's series."""
    degree = np.arange(NODES.size)
    values = np.polynomial.legendre.legvander(NODES, NODES.size)
    series = (2 * degree + 1) / 2 * WEIGHTS[:, None] * values[:, :-1]
    before = np.column_stack([np.full(NODES.size, -1.0), values[:, :-2]])  # P_{-1} stands for int_{-1} P_0 = t + 1
    integrals = (values[:, 1:] - before) / (2 * degree + 1)
    return integrals @ series.T


NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)
FEW_NODES, FEW_WEIGHTS = np.polynomial.legendre.leggauss(8)
#: RUNNING[i, j]: the integral from -1 to node i is the sum over j of RUNNING[i, j] f(node j).
RUNNING = _running_integrals()
#: How far the log of an integrand may run over one piece, so that sixteen nodes follow it.
RUN = 10.0
#: Beyond this many scales no family has mass that double precision could see.
_REACH = 1e40


@lru_cache(maxsize=512)
def panel_edges(logpdf, shape: float, norm: float, kinks: tuple[float, ...]) -> np.ndarray:
    """Edges of panels on which the density of a family is smooth at sixteen nodes."""
    positive = 2.0 * 3.0 ** np.arange(0, 84)
    positive = positive[positive < _REACH]
    edges = np.unique(np.concatenate([-positive, positive, kinks]))
    panels = list(pairwise(edges))
    kept = set(edges)
    while panels:
        low, high = panels.pop()
        middle = (low + high) / 2
        if high - low > 0.01 and not _converged(logpdf, shape, norm, low, middle, high):
            kept.add(middle)
            panels += [(low, middle), (middle, high)]
    found = np.array(sorted(kept))
    found.flags.writeable = False  # shared by all who ask
    return found


def _converged(logpdf, shape: float, norm: float, low: float, middle: float, high: float) -> bool:
    ends = map_scalar(logpdf, shape, norm, [low, high])
    if not ends.max() > -80:  # no mass here: the run of the integrand sets the pieces
        return True
    if abs(ends[1] - ends[0]) > 2 * RUN:
        return False
    whole = _mass(logpdf, shape, norm, low, high)
    halves = _mass(logpdf, shape, norm, low, middle) + _mass(logpdf, shape, norm, middle, high)
    return abs(whole - halves) <= 3e-14 * halves


def _mass(logpdf, shape: float, norm: float, low: float, high: float) -> float:
    ends = map_scalar(logpdf, shape, norm, [low, high])
    cuts = np.linspace(low, high, 2 + int(min(abs(ends[1] - ends[0]) / RUN, 1000.0)))
    half = np.diff(cuts)[:, None] / 2
    z = cuts[:-1, None] + half * (1 + NODES)
    return float(np.sum(half * WEIGHTS * np.exp(map_scalar(logpdf, shape, norm, z))))


@kernel
def cuts_between(edges, fraction, origin, length, longest):
    """Cuts of [origin, origin + length], as offsets from its start, exact however short it is.

    They stand at the family's panels divided by ``fraction``, and no two are further apart than ``longest``.
    """
    cuts = [0.0]
    panel = np.searchsorted(edges, origin, side="right")
    while cuts[-1] < length:
        start, stop, limit = cuts[-1], length, longest
        if panel < edges.size:
            stop = min(stop, edges[panel] - origin)
            limit = min(longest, (edges[panel] - edges[max(panel - 1, 0)]) / fraction)
        panel += 1
        if stop <= start:
            continue
        pieces = max(1, math.ceil(min((stop - start) / limit, 1e5)))
        for piece in range(1, pieces):
            cuts.append(start + (stop - start) * piece / pieces)
        cuts.append(stop)
    return np.array(cuts)
