"""An event that tells two values apart by their answers, and the epsilon that its odds prove.

Finite answers are cut into ranges. NaN, the two infinities and -0.0 compare as no other number does, and any of them
may be just what gives a value away: each that occurs is an answer of its own, an atom, and part of no range.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

#: An event is a union of so many ranges of answers at most.
_RANGES = 40
#: Of its ranges so many are shown.
_SHOWN = 3
_ATOMS = (-math.inf, -0.0, math.inf, math.nan)


class Event(NamedTuple):
    """What tells two values apart, and how often it happened under each among the answers it was measured on."""

    x: float
    other: float
    #: What it is made of: the finite answers in ``[low, high)``, or the atom y as ``(y, y)``.
    ranges: tuple[tuple[float, float], ...]
    count: int
    other_count: int
    answers: int

    def __str__(self) -> str:
        within = [_range(low, high) for low, high in self.ranges if low < high]
        if len(within) > _SHOWN:
            within[_SHOWN:] = [f"{len(within) - _SHOWN} more"]
        atoms = [f"y = {low}" for low, high in self.ranges if not low < high]
        return " or ".join([f"y in {' or '.join(within)}"] * bool(within) + atoms)


def _range(low: float, high: float) -> str:
    ends = spelled((low, high), 4)
    return f"{'(' if low == -math.inf else '['}{ends[0]}, {ends[1]})"


def spelled(pair: tuple[float, float], digits: int) -> tuple[str, str]:
    """Two different numbers, with so many digits or as many more as tell them apart."""
    one, other = (f"{number:.{digits}g}" for number in pair)
    return spelled(pair, digits + 1) if one == other and digits < 17 else (one, other)


class _Cells(NamedTuple):
    """A cut of all answers: the atoms that occur, then ranges ``[edge, next edge)`` from -inf to inf."""

    atoms: tuple[float, ...]
    edges: np.ndarray

    def counts(self, drawn: np.ndarray) -> np.ndarray:
        """How many fall into each."""
        ranged = drawn[_ordinary(drawn)]
        part = np.searchsorted(self.edges, ranged, side="right") - 1
        atoms = [np.count_nonzero(_equals(drawn, atom)) for atom in self.atoms]
        return np.append(atoms, np.bincount(part, minlength=self.edges.size - 1)).astype(int)

    def rising(self) -> np.ndarray:
        """Their order on the line, with NaN at its end."""
        return np.argsort(np.append(self.atoms, self.edges[:-1]), kind="stable")

    def union(self, parts: np.ndarray) -> tuple[tuple[float, float], ...]:
        """Some of them as an event has them: ranges, neighbours joined, and atoms."""
        first = len(self.atoms)
        joined: list[tuple[float, float]] = []
        for part in sorted(part - first for part in parts.tolist() if part >= first):
            low, high = float(self.edges[part]), float(self.edges[part + 1])
            if joined and joined[-1][1] == low:
                low, _ = joined.pop()
            joined.append((low, high))
        return *joined, *((self.atoms[part], self.atoms[part]) for part in sorted(parts.tolist()) if part < first)


def _ordinary(drawn: np.ndarray) -> np.ndarray:
    """What is no atom."""
    return np.isfinite(drawn) & ~_equals(drawn, -0.0)


def _equals(drawn: np.ndarray, atom: float) -> np.ndarray:
    if math.isnan(atom):
        return np.isnan(drawn)
    return (drawn == atom) & (np.signbit(drawn) == np.signbit(atom))


def measured(answers: dict[float, np.ndarray], confidence: float, delta: float = 0.0) -> tuple[float, Event | None]:
    """A lower bound of epsilon from answers for several values, and the event behind it.

    A quarter of the answers ranks ranges of answers by how well they tell two values apart, a quarter chooses how many
    of them to take, and for which two values. So the remaining half is one plain measurement: Clopper and Pearson's
    bounds for its two probabilities, each with half of what may go wrong.
    """
    quarter = min(map(len, answers.values())) // 4
    best, chosen = -math.inf, None
    for x, own in answers.items():
        for other, others in answers.items():
            if x == other:
                continue
            cells, orders = _rankings(own[:quarter], others[:quarter])
            first, second = (cells.counts(drawn[quarter : 2 * quarter]) for drawn in (own, others))
            for order in orders:
                totals = zip(np.cumsum(first[order]).tolist(), np.cumsum(second[order]).tolist(), strict=True)
                promises = [_bound(count, other_count, quarter, confidence, delta) for count, other_count in totals]
                if max(promises) > best:
                    best, chosen = max(promises), (x, other, cells, order[: int(np.argmax(promises)) + 1])
    if chosen is None:
        return -math.inf, None
    x, other, cells, parts = chosen
    rest = slice(2 * quarter, 4 * quarter)
    counts = [int(cells.counts(answers[value][rest])[parts].sum()) for value in (x, other)]
    return _bound(*counts, 2 * quarter, confidence, delta), Event(x, other, cells.union(parts), *counts, 2 * quarter)


def _rankings(own: np.ndarray, others: np.ndarray) -> tuple[_Cells, list[np.ndarray]]:
    """A cut of all answers, and three orders in which to put its cells together to an event.

    By how much likelier they are under the first value, which finds any event, and from either end of the line, which
    is simpler and therefore better known where large or small answers are what tells the values apart.
    """
    pooled = np.concatenate([own, others])
    cells = _cut(pooled)
    first, second = cells.counts(own), cells.counts(others)
    by_ratio = np.argsort(-(first + 0.5) / (second + 0.5), kind="stable")
    rising = cells.rising()
    return cells, [by_ratio, rising, rising[::-1]]


def _cut(pooled: np.ndarray) -> _Cells:
    ordinary = _ordinary(pooled)
    atoms = () if ordinary.all() else tuple(atom for atom in _ATOMS if _equals(pooled, atom).any())
    levels = np.unique(pooled[ordinary])
    if levels.size > _RANGES:
        shares = np.linspace(0, 1, _RANGES + 1)
        levels = np.unique(np.quantile(pooled[ordinary], shares, method="inverted_cdf"))
    return _Cells(atoms, np.concatenate([[-np.inf], levels[1:], [np.inf]]))


def _bound(count: int, other_count: int, size: int, confidence: float, delta: float) -> float:
    """log((p - delta)/q), with p from below and q from above, each wrong with half of 1 - confidence."""
    wrong = (1 - confidence) / 2
    low = float(special.betaincinv(count, size - count + 1, wrong)) if count else 0.0
    high = float(special.betaincinv(other_count + 1, size - other_count, 1 - wrong)) if other_count < size else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf
