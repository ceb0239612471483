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

import numpy as np

from explorer.engine.compute.arguments import finite, finite_array, positive, probability, seeded, whole
from explorer.engine.compute.threads import Stopped
from explorer.engine.compute.uniform import open_uniform
from explorer.engine.mechanisms import LaplaceMechanism, Mechanism
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.privacy.certificate import Certificate, certificate
from explorer.engine.privacy.event import Event, measured, spelled

#: More answers than these for each value do not fit into the memory of a small machine.
MOST_TRIALS = 10_000_000
#: Beside the interval's ends, as multiples of its width from its midpoint: far outside, where a clip that is forgotten
#: shows.
_FAR = (-20.0, 20.0)
_MORE_PLACES = (-0.4, -0.25, -0.1, 0.0, 0.1, 0.25, 0.4)
#: What rounding may add to the analytic epsilon.
_ROUNDING = 1e-9


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
        # A larger log-ratio is allowed where answers that have it are rarer than delta.
        exact = self.analytic is not None and self.delta == 0
        beyond = exact and self.analytic.epsilon > self.epsilon * (1 + _ROUNDING)
        return bool(beyond or self.epsilon_lower > self.epsilon)

    def __str__(self) -> str:
        lines = [f"{self.claim}: epsilon = {self.epsilon:g}" + (f", delta = {self.delta:g}" if self.delta else "")]
        if self.analytic is not None:
            found = self.analytic
            x, other = spelled((found.x, found.other), 6)
            lines.append(
                f"  exact: the largest log-ratio is {found.epsilon:.10g}, at y = {found.y:.6g} "
                f"for the values {x} and {other}"
            )
        lines.append(
            f"  measured: epsilon is above {self.epsilon_lower:.4g} with {100 * self.confidence:.12g} % confidence "
            f"({self.trials} answers for each value)"
        )
        if self.event is not None:
            event = self.event
            x, other = spelled((event.x, event.other), 6)
            lines.append(
                f"  by the event {event}: {event.count} of {event.answers} times for {x}, "
                f"{event.other_count} times for {other}"
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
    ends and two far outside. ``trials`` answers are drawn for each, ten million at most: half of them find the event,
    half measure it.

    Raises ValueError if ``release`` raises anything, or returns anything but one real number for each value: NaN and
    the infinities are such numbers, and answers like any other.
    """
    interval, confidence = Interval.of(interval), probability("confidence", confidence)
    trials, rng = _trials(trials), seeded("seed", seed)
    values = _places(interval, _FAR, *interval) if values is None else _numbers("values", values).tolist()
    analytic = None
    if isinstance(release, Mechanism):
        own_release = type(release).release is not Mechanism.release  # which may do anything
        claim, draw = repr(release), release.release if own_release else _drawn_by(release)
        epsilon = release.epsilon if epsilon is None else epsilon
        delta = release.delta if delta is None else delta
        # Where to look is known only of a mechanism whose density is monotone: others are measured, at more values.
        if own_release or not release.monotone:
            values = values + _places(interval, _MORE_PLACES)
        elif release.pure:
            analytic = certificate(release, interval)
    else:
        if not callable(release):
            raise ValueError(f"release must be a mechanism or a callable, got {release!r}")
        if epsilon is None:
            raise ValueError("epsilon must be given: what does this callable claim?")
        claim, draw = getattr(release, "__name__", type(release).__name__), release
    if len(set(values)) < 2:
        raise ValueError("values must hold two different numbers")
    epsilon, delta = positive("epsilon", epsilon), _delta(delta)
    answers = {value: _answers(draw, value, interval, rng, trials) for value in values}
    lower, event = measured(answers, confidence, delta)
    return AuditReport(claim, epsilon, delta, confidence, trials, max(lower, 0.0), event, analytic)


def _drawn_by(mechanism: Mechanism) -> Callable:
    """Its answers, also to intervals that ``release`` refuses because they leave the floating-point range."""
    return lambda x, interval, rng: mechanism.answer(open_uniform(rng, x.shape), x, interval)


def as_coded(epsilon: float) -> Callable:
    """The release of the author's published code, which takes the scale of its noise for a standard deviation.

    Its noise is sqrt(2) too small: what claims ``epsilon`` has sqrt(2) times as much. Raises ValueError if either is
    beyond what the laplace mechanism takes.
    """
    claimed = LaplaceMechanism(epsilon).epsilon
    largest = LaplaceMechanism.largest_epsilon / math.sqrt(2)
    if claimed > largest:
        raise ValueError(f"epsilon must be at most {largest:g} for the noise of the author's code, got {epsilon!r}")
    slip = LaplaceMechanism(math.sqrt(2) * claimed)

    def as_coded(x, interval, rng):
        return slip.release(x, interval, rng)

    return as_coded


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

    Raises ValueError if ``run`` raises anything, or returns anything but real numbers, as many each time.
    """
    people, confidence = _numbers("people", people), probability("confidence", confidence)
    trials, rng = _trials(trials), seeded("seed", seed)
    epsilon, delta = positive("epsilon", epsilon), _delta(delta)
    neighbours = _neighbours(people, whole("changed", changed, 0), value)
    outputs = [_outputs(run, stream, rng, trials) for stream in (people, neighbours)]
    if outputs[0].shape != outputs[1].shape:
        raise ValueError("run must reveal as many numbers each time: how many there are tells people apart")
    half = trials // 2
    columns = range(outputs[0].shape[1])
    promises = [measured({0.0: outputs[0][:half, k], 1.0: outputs[1][:half, k]}, confidence, delta)[0] for k in columns]
    best = int(np.argmax(promises))
    own, other = (output[half:, best] for output in outputs)
    second = {float(people[changed]): own, float(neighbours[changed]): other}
    lower, event = measured(second, confidence, delta)
    claim = f"a run of {people.size} people, number {best} of what it reveals"
    return AuditReport(claim, epsilon, delta, confidence, trials, max(lower, 0.0), event)


def _trials(trials: int) -> int:
    if whole("trials", trials, 20) > MOST_TRIALS:
        raise ValueError(f"trials must be at most {MOST_TRIALS}, got {trials!r}")
    return int(trials)


def _delta(delta: float | None) -> float:
    return 0.0 if delta is None or delta == 0 else probability("delta", delta)


def _places(interval: Interval, multiples: tuple[float, ...], *ends: float) -> list[float]:
    """Values at multiples of the width from the midpoint; of a huge interval, no further out than numbers go."""
    with np.errstate(over="ignore"):
        places = interval.midpoint + np.array(multiples) * interval.width
    return [*ends, *np.nan_to_num(places).tolist()]


def _numbers(name: str, given) -> np.ndarray:
    """A flat array of finite numbers, which are somebody's: none of them is told if one is wrong."""
    try:
        numbers = finite_array(name, given)
    except ValueError:
        raise ValueError(f"{name} must be finite numbers") from None
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"{name} must be a flat array of at least one number, got shape {numbers.shape}")
    return numbers


def _neighbours(people: np.ndarray, changed: int, value: float) -> np.ndarray:
    """The same people but for one."""
    if changed >= people.size:
        raise ValueError(f"changed must be the index of one of {people.size} people, got {changed}")
    try:
        value = finite("value", value)
    except ValueError:
        raise ValueError("value must be a finite number") from None
    if value == people[changed]:
        raise ValueError("value must differ from that of the person who is changed")
    neighbours = people.copy()
    neighbours[changed] = value
    return neighbours


def _answers(draw: Callable, value: float, interval: Interval, rng, trials: int) -> np.ndarray:
    drawn = _called("release", draw, np.full(trials, value), interval, rng)
    if drawn.shape != (trials,):
        raise ValueError(f"release must give one answer for each of {trials} values, got shape {drawn.shape}")
    return drawn


def _outputs(run: Callable, people: np.ndarray, rng, trials: int) -> np.ndarray:
    """What each run reveals, shape (trials, numbers)."""
    if not callable(run):
        raise ValueError(f"run must be a callable, got {run!r}")
    # A copy for each run: one that changes its people must not hand them on.
    outputs = [_called("run", run, people.copy(), rng) for _ in range(trials)]
    shapes = {output.shape for output in outputs}
    if len(shapes) > 1 or len(outputs[0].shape) != 1 or not outputs[0].size:
        raise ValueError("run must reveal at least one number, and as many each time, in one flat array")
    return np.array(outputs)


def _called(name: str, function: Callable, *arguments) -> np.ndarray:
    """The real numbers that a callable gives. The words of its own errors may hold a value: they are not told."""
    try:
        given = function(*arguments)
    except (MemoryError, Stopped, SystemError):  # not its fault: SystemError is an interruption between two kernels
        raise
    except Exception as error:
        told = f"{name} raised {type(error).__name__}; what it says is kept in __context__, as it may hold a value"
        raise ValueError(told) from None
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must return a flat array of real numbers") from None
    if array.dtype.kind not in "biuf":  # to float, text would be parsed, None become NaN and complex lose a part
        raise ValueError(f"{name} must return a flat array of real numbers, got one of {array.dtype}")
    return array.astype(float)
