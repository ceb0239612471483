"""A collection of real answers: people answer once each, in random order, and nothing but their answers is kept.

    >>> from explorer.engine.run.estimator import OnlineEstimator
    >>> from explorer.engine.inference.priors import SemiConjugatePrior
    >>> prior = SemiConjugatePrior.expecting(0, 100)
    >>> estimator = OnlineEstimator(1.0, mechanism="randomized_response", prior=prior, particles=50)
    >>> collection = Collection([40.0, 50.0, 60.0], estimator)
    >>> len([step.y for step in collection]), collection.people
    (3, 3)

Each value goes through the individual's side alone: it is clipped to the interval that is asked for, and noise from
the operating system's randomness is added. What comes after sees answers and intervals. That protects people from
whoever sees the results, if this program runs where they trust it; in a real survey the individual's side runs with the
individual.
"""

import secrets
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from explorer.engine.compute.arguments import secret_array, whole
from explorer.engine.inference.samplers import Posterior
from explorer.engine.mechanisms.interval import Interval
from explorer.engine.privacy.secure import secure
from explorer.engine.run.estimator import OnlineEstimator


class Answered(NamedTuple):
    """One individual's answer, and what is known after it. The value itself is not part of it."""

    t: int
    y: float
    interval: Interval
    posterior: Posterior


class Collection(Iterator[Answered]):
    """Lets people answer, one with each step; those who have answered are forgotten.

    ``most`` of them, drawn at random, are asked; all by default. The noise cannot be seeded. ``order`` and ``answered``
    go on with an earlier collection of the same values: its ``order``, and how many have answered in it.

    Nobody may be asked twice. Raises ValueError if the estimator has had a collection of the same values already,
    unless ``again`` says that these are other people, or that they agreed. (Only the same values are noticed, as long
    as the estimator lives: no file keeps anything from which they could be told again.)
    """

    def __init__(
        self,
        values: Sequence[float],
        estimator: OnlineEstimator,
        most: int | None = None,
        *,
        again: bool = False,
        order: int | None = None,
        answered: int = 0,
    ) -> None:
        values = secret_array("values", values)
        if values.ndim != 1 or not values.size:
            raise ValueError(f"values must be a sequence of numbers, got an array of shape {values.shape}")
        self.people = values.size if most is None else min(values.size, whole("most", most, 1))
        self.order = secrets.randbits(128) if order is None else whole("order", order, 0)
        if whole("answered", answered, 0) > self.people:
            raise ValueError(f"answered must be at most {self.people}, got {answered}")
        if not estimator.meets(np.sort(values).tobytes()) and not again:
            raise ValueError("these people have answered this estimator before, and each may answer once")
        self.estimator = estimator
        self._waiting = values[_drawn(self.order, values.size)[: self.people]]
        self._waiting[:answered] = np.nan
        self._t = answered
        self._lock = Lock()
        #: An answer that was given and that the estimator has not seen yet.
        self._pending: tuple[int, float, Interval] | None = None

    def __reduce_ex__(self, protocol):
        raise TypeError("a collection cannot be copied: its people would be asked twice")

    def __next__(self) -> Answered:
        with self._lock:
            # Who was interrupted in the middle goes on with the answer that is there, if it was not taken in yet.
            interrupted = self._pending is not None
            if not interrupted:
                self._before = self.estimator.answers
                self._pending = self._ask()
            t, y, interval = self._pending
            since = (column[self._before :] for column in self.estimator.history.arrays)
            # Somebody else may have given the same answer meanwhile, and both count.
            if not (interrupted and (y, *interval) in zip(*since, strict=True)):
                self.estimator.observe(y, interval)
            self._pending = None
            return Answered(t, y, interval, self.estimator.posterior)

    def ask(self) -> tuple[int, float, Interval]:
        """Let the next person answer: their number, their answer, and what they were asked for.

        For those who keep the answer before they go on: the estimator has not seen it yet.
        """
        with self._lock:
            return self._ask()

    def _ask(self) -> tuple[int, float, Interval]:
        if self._t == self.people:
            raise StopIteration
        interval = self.estimator.interval
        value = float(self._waiting[self._t])
        self._waiting[self._t] = np.nan
        self._t += 1
        return self._t, self.estimator.mechanism.release(value, interval, secure), interval


def _drawn(order: int, people: int) -> np.ndarray:
    """All people in random order, the same for one ``order`` with every version of NumPy."""
    return np.argsort(np.random.PCG64(order).random_raw(people), kind="stable")


def people_needed(width: np.ndarray, wanted: float) -> int | None:
    """After how many answers the widths stay at or below what is wanted; None if they never do."""
    wide = np.flatnonzero(np.asarray(width) > wanted)
    needed = int(wide[-1]) + 2 if wide.size else 1
    return needed if needed <= np.size(width) else None
