"""Does a mechanism keep its epsilon? Nobody should have to take it on trust.

Three ways to ask:

1. *analytic*, for the mechanisms here: the largest log-ratio of the densities of one answer under two values, and where
   it is reached;
2. *black box*, for any callable ``release(x, interval, rng)``: many answers for two values, an event that tells them
   apart, found on one half of the answers, and its odds measured on the other half. Whatever the callable does, as
   long as its answers are independent of each other, its real epsilon is above the lower bound with the confidence
   that was asked for;
3. *whole runs*, in which intervals depend on answers: ``audit_run``, for two streams of people who differ in one.

>>> from explorer.engine.mechanisms import mechanism
>>> report = audit(mechanism("laplace", 1.0), Interval(-1, 1), trials=2000, seed=1)
>>> report.violation, round(report.analytic.epsilon, 6), report.epsilon_lower < 1
(False, 1.0, True)
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from explorer.engine.arguments import finite_array, positive, probability, seeded, whole
from explorer.engine.estimation import OnlineEstimator
from explorer.engine.interval import Interval
from explorer.engine.kernels import OWN
from explorer.engine.mechanisms import GaussianMechanism, LaplaceMechanism, Mechanism, RandomizedResponse

#: Of the two values, as multiples of the interval's width from its midpoint: its ends, and far outside,
#: where a clip that is forgotten shows.
_PLACES = (-0.5, 0.5, -20.0, 20.0)
_MORE_PLACES = (-0.4, -0.25, -0.1, 0.0, 0.1, 0.25, 0.4)
#: An event is a union of so many ranges of answers at most.
_RANGES = 40
#: What rounding may add to the analytic epsilon.
_ROUNDING = 1e-9


class Certificate(NamedTuple):
    """The largest log-ratio ``log p(y|x) - log p(y|x')`` of an answer, and where it is reached."""

    epsilon: float
    y: float
    x: float
    other: float


class Event(NamedTuple):
    """What tells two values apart, and how often it happened under each among the answers it was measured on."""

    x: float
    other: float
    #: The ranges of answers ``[low, high)`` that it is made of.
    ranges: tuple[tuple[float, float], ...]
    count: int
    other_count: int
    answers: int


@dataclass(frozen=True)
class AuditReport:
    """What an audit found: a violation is proved by the analytic epsilon or, with that confidence, by the event."""

    claim: str
    epsilon: float
    delta: float
    confidence: float
    trials: int
    #: The real epsilon is above this, with that confidence.
    epsilon_lower: float
    event: Event | None
    #: None for a black box.
    analytic: Certificate | None = None

    @property
    def violation(self) -> bool:
        """Whether the claim is refuted."""
        beyond = self.analytic is not None and self.analytic.epsilon > self.epsilon * (1 + _ROUNDING)
        return bool(beyond or self.epsilon_lower > self.epsilon)

    def __str__(self) -> str:
        lines = [f"{self.claim}: epsilon = {self.epsilon:g}" + (f", delta = {self.delta:g}" if self.delta else "")]
        if self.analytic is not None:
            found = self.analytic
            lines.append(
                f"  exact: the largest log-ratio is {found.epsilon:.10g}, at y = {found.y:.6g} "
                f"for the values {found.x:.6g} and {found.other:.6g}"
            )
        lines.append(
            f"  measured: epsilon is above {self.epsilon_lower:.4g} with {100 * self.confidence:g} % confidence "
            f"({self.trials} answers for each value)"
        )
        if self.event is not None:
            event = self.event
            shown = " or ".join(f"[{low:.4g}, {high:.4g})" for low, high in event.ranges[:3])
            more = f" or {len(event.ranges) - 3} more" if len(event.ranges) > 3 else ""
            lines.append(
                f"  by the event y in {shown}{more}: {event.count} of {event.answers} times for {event.x:.6g}, "
                f"{event.other_count} times for {event.other:.6g}"
            )
        lines.append("  VIOLATION: the claim is refuted" if self.violation else "  no violation found")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(str(self))}</pre>"


def audit(
    release: Mechanism | Callable,
    interval: Interval,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    trials: int = 20_000,
    confidence: float = 0.999,
    seed: int | None = None,
    values: Sequence[float] | None = None,
) -> AuditReport:
    """Whether one answer keeps its ``epsilon`` (and ``delta``).

    ``release`` is a mechanism, whose claim is its own, or any callable ``release(x, interval, rng)`` that takes an
    array of values, with the epsilon that it claims. ``values`` are the ones to tell apart; by default the interval's
    ends and two far outside. ``trials`` answers are drawn for each: half of them find the event, half measure it.
    """
    interval, confidence, trials = (
        Interval.of(interval),
        probability("confidence", confidence),
        whole("trials", trials, 20),
    )
    rng = seeded("seed", seed)
    places = [interval.midpoint + place * interval.width for place in _PLACES]
    values = places if values is None else finite_array("values", values).tolist()
    if len(set(values)) < 2:
        raise ValueError(f"values must hold two different numbers, got {values!r}")
    analytic = None
    if isinstance(release, Mechanism):
        claim, draw = repr(release), release.release
        epsilon = release.epsilon if epsilon is None else positive("epsilon", epsilon)
        delta = release.delta if delta is None else delta
        # Of somebody's own mechanism nobody knows where to look: it is measured, at more values.
        if release.kind == OWN:
            values = values + [interval.midpoint + place * interval.width for place in _MORE_PLACES]
        elif not isinstance(release, GaussianMechanism):
            analytic = certificate(release, interval)
    else:
        if not callable(release):
            raise ValueError(f"release must be a mechanism or a callable, got {release!r}")
        if epsilon is None:
            raise ValueError("epsilon must be given: what does this callable claim?")
        claim, draw = getattr(release, "__name__", type(release).__name__), release
    epsilon, delta = positive("epsilon", epsilon), 0.0 if not delta else probability("delta", delta)
    answers = {value: _answers(draw, value, interval, rng, trials) for value in values}
    lower, event = measured(answers, confidence, delta)
    return AuditReport(claim, epsilon, delta, confidence, trials, max(lower, 0.0), event, analytic)


def as_coded(epsilon: float) -> Callable:
    """The release of the author's published code, which takes the scale of its noise for a standard deviation.

    Its noise is sqrt(2) too small: what claims ``epsilon`` has sqrt(2) times as much.
    """
    slip = LaplaceMechanism(math.sqrt(2) * positive("epsilon", epsilon))

    def as_coded(x, interval, rng):
        return slip.release(x, interval, rng)

    return as_coded


def _answers(draw: Callable, value: float, interval: Interval, rng, trials: int) -> np.ndarray:
    drawn = np.asarray(draw(np.full(trials, value), interval, rng), dtype=float)
    if drawn.shape != (trials,):
        raise ValueError(f"release must give one answer for each of {trials} values, got shape {drawn.shape}")
    return np.where(np.isnan(drawn), np.inf, drawn)  # an answer like any other: it may tell people apart


def certificate(release: Mechanism, interval: Interval) -> Certificate:
    """The supremum over answers and pairs of values, and where it is reached.

    The densities given x depend on the clipped x alone, and are piecewise monotone in it and in y: the supremum is at
    an end of the interval or where a density jumps.
    """
    interval = Interval.of(interval)
    if isinstance(release, GaussianMechanism):
        raise ValueError("the gaussian mechanism has no finite log-ratio: it is (epsilon, delta)-private")
    ends = np.array([*interval, interval.midpoint])
    if isinstance(release, RandomizedResponse):
        y = np.array([-1.0, 1.0])
    else:
        low, high = release.support(interval)
        reach = interval.width if np.isinf(high) else 0.0
        low, high = max(low, interval.left - reach), min(high, interval.right + reach)
        y = np.concatenate([np.linspace(low, high, 4001), interval])
    with np.errstate(divide="ignore"):
        logs = np.log(np.array([release.density(y, x, interval) for x in ends]))
    ratio = logs[:, None, :] - logs[None, :, :]
    ratio = np.where(np.isnan(ratio), -np.inf, ratio)
    i, j, k = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    return Certificate(float(ratio[i, j, k]), float(y[k]), float(ends[i]), float(ends[j]))


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
            edges, orders = _rankings(own[:quarter], others[:quarter])
            first, second = (_counts(drawn[quarter : 2 * quarter], edges) for drawn in (own, others))
            for order in orders:
                totals = zip(np.cumsum(first[order]).tolist(), np.cumsum(second[order]).tolist(), strict=True)
                promises = [_bound(count, other_count, quarter, confidence, delta) for count, other_count in totals]
                if max(promises) > best:
                    best, chosen = max(promises), (x, other, edges, order[: int(np.argmax(promises)) + 1])
    if chosen is None:
        return -math.inf, None
    x, other, edges, parts = chosen
    rest = slice(2 * quarter, 4 * quarter)
    counts = [int(_counts(answers[value][rest], edges)[parts].sum()) for value in (x, other)]
    return _bound(*counts, 2 * quarter, confidence, delta), Event(x, other, _ranges(edges, parts), *counts, 2 * quarter)


def _rankings(own: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Cuts of the line into ranges ``[edge, next edge)``, and three orders in which to put them together to an event.

    By how much likelier they are under the first value, which finds any event, and from either end of the line, which
    is simpler and therefore better known where large or small answers are what tells the values apart.
    """
    pooled = np.concatenate([own, others])
    levels = np.unique(pooled)
    if levels.size > _RANGES:
        levels = np.unique(np.quantile(pooled, np.linspace(0, 1, _RANGES + 1), method="inverted_cdf"))
    edges = np.append(np.append(-np.inf, levels[1:]), np.inf) if levels[-1] < np.inf else np.append(-np.inf, levels)
    first, second = _counts(own, edges), _counts(others, edges)
    by_ratio = np.argsort(-(first + 0.5) / (second + 0.5), kind="stable")
    rising = np.arange(first.size)
    return edges, [by_ratio, rising, rising[::-1]]


def _counts(drawn: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """How many fall into each range; the last range holds what is infinite too."""
    part = np.clip(np.searchsorted(edges, drawn, side="right") - 1, 0, edges.size - 2)
    return np.bincount(part, minlength=edges.size - 1)


def _ranges(edges: np.ndarray, parts: np.ndarray) -> tuple[tuple[float, float], ...]:
    """The ranges of an event, neighbours joined."""
    joined: list[tuple[float, float]] = []
    for part in sorted(parts.tolist()):
        low, high = float(edges[part]), float(edges[part + 1])
        if joined and joined[-1][1] == low:
            low, _ = joined.pop()
        joined.append((low, high))
    return tuple(joined)


def _bound(count: int, other_count: int, size: int, confidence: float, delta: float) -> float:
    """log((p - delta)/q), with p from below and q from above, each wrong with half of 1 - confidence."""
    wrong = (1 - confidence) / 2
    low = float(special.betaincinv(count, size - count + 1, wrong)) if count else 0.0
    high = float(special.betaincinv(other_count + 1, size - other_count, 1 - wrong)) if other_count < size else 1.0
    return math.log((low - delta) / high) if low > delta else -math.inf


def adaptive_run(**settings) -> Callable:
    """The adaptive loop as ``audit_run`` takes it: a fresh ``OnlineEstimator(**settings)`` for each run.

    Of each person it reveals the interval, the answer, and the answer's place in the interval.
    """

    def run(people: np.ndarray, rng: np.random.Generator) -> list[float]:
        estimator = OnlineEstimator(seed=int(rng.integers(2**63)), **settings)
        revealed = []
        for x in people.tolist():
            interval = estimator.interval
            y = estimator.mechanism.release(x, interval, rng)
            estimator.observe(y)
            revealed += [*interval, y, (y - interval.midpoint) / interval.width]
        return revealed

    return run


def audit_run(
    run: Callable,
    people: Sequence[float],
    changed: int,
    value: float,
    *,
    epsilon: float,
    delta: float = 0.0,
    trials: int = 2000,
    confidence: float = 0.999,
    seed: int | None = None,
) -> AuditReport:
    """Whether a whole run keeps ``epsilon`` for each person, with everything revealed as its output.

    ``run(people, rng)`` gives all that is revealed as one flat array: answers, intervals. It is called ``trials`` times
    for ``people`` and for the same with ``people[changed]`` replaced by ``value``. Each number of the output alone is
    looked at, and which of them tells most is chosen on the first half of the runs.
    """
    people, confidence = finite_array("people", people), probability("confidence", confidence)
    trials, rng = whole("trials", trials, 20), seeded("seed", seed)
    epsilon = positive("epsilon", epsilon)
    neighbours = people.copy()
    neighbours[whole("changed", changed, 0)] = value
    outputs = [np.array([run(stream, rng) for _ in range(trials)], dtype=float) for stream in (people, neighbours)]
    if outputs[0].shape != outputs[1].shape or outputs[0].ndim != 2:
        raise ValueError("run must reveal as many numbers each time, in one flat array")
    half = trials // 2
    columns = range(outputs[0].shape[1])
    promises = [measured({0.0: outputs[0][:half, k], 1.0: outputs[1][:half, k]}, confidence, delta)[0] for k in columns]
    best = int(np.argmax(promises))
    second = {float(people[changed]): outputs[0][half:, best], float(value): outputs[1][half:, best]}
    lower, event = measured(second, confidence, delta)
    claim = f"a run of {people.size} people, number {best} of what it reveals"
    return AuditReport(claim, epsilon, delta, confidence, trials, max(lower, 0.0), event)
