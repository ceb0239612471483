"""A collection whose answers are recorded as they are given: what the command line and the page have in common.

    >>> from explorer.engine.inference.priors import SemiConjugatePrior
    >>> from explorer.engine.run.estimator import OnlineEstimator
    >>> prior = SemiConjugatePrior.expecting(0, 100)
    >>> estimator = OnlineEstimator(1.0, mechanism="randomized_response", prior=prior, particles=50)
    >>> collection = RecordedCollection([40.0, 50.0, 60.0], estimator)
    >>> [row.t for row in collection]
    [1, 2, 3]

An answer is on disk, if there is a file, before the estimator learns from it, and what is known after it is written
before the next person is asked.
"""

from collections.abc import Iterator, Sequence

from explorer.engine.mechanisms import Interval
from explorer.engine.privacy.secure import secure
from explorer.engine.run.collection import Collection
from explorer.engine.run.estimator import OnlineEstimator
from explorer.io.answer_file import LEVELS, AnswerFile, Row


class RecordedCollection(Iterator[Row]):
    """Lets people answer, one with each step, and keeps their rows in ``rows``, and in ``out`` if that is given.

    ``rows`` of an earlier collection of the same values, with its ``order``, are gone on with: the estimator is told
    what was answered, and those people are not asked again. Once an answer could not be kept, nobody else is asked.
    """

    def __init__(
        self,
        values: Sequence[float],
        estimator: OnlineEstimator,
        most: int | None = None,
        *,
        out: AnswerFile | None = None,
        rows: Sequence[Row] = (),
        order: int | None = None,
    ) -> None:
        self.estimator, self.out, self.rows = estimator, out, list(rows)
        self._replay()
        self._collection = Collection(values, estimator, most, order=order, answered=len(self.rows))
        self._failed = False

    @property
    def people(self) -> int:
        """How many are asked in all."""
        return self._collection.people

    def __next__(self) -> Row:
        if self._failed:
            raise ValueError("an answer could not be kept: nobody else is asked")
        t, y, interval = self._collection.ask()
        self._failed = True
        if self.out is not None:
            self.out.answer(t, *interval, y)
        self.estimator.observe(y, interval)
        self.rows.append(Row(t, *interval, y, self._known()))
        if self.out is not None:
            self.out.known(self.rows[-1].known)
        self._failed = False
        return self.rows[-1]

    def _replay(self) -> None:
        for at, row in enumerate(self.rows):
            try:
                self.estimator.observe(row.y, Interval(row.left, row.right))
            except ValueError:
                where = "the rows are" if self.out is None else f"{self.out.path} is"
                raise ValueError(f"{where} damaged in line {at + 2}") from None
            if not row.known:  # it was cut off after the answer
                self.rows[at] = row._replace(known=self._known())
                if self.out is not None:
                    self.out.known(self.rows[at].known)

    def _known(self) -> tuple[float, ...]:
        return tuple(self.estimator.posterior.quantiles(LEVELS).ravel().tolist())


def try_release(estimator: OnlineEstimator) -> None:
    """Release nobody's value once. Raises ValueError or ImportError if that cannot be, before anybody is asked."""
    interval = estimator.interval
    estimator.mechanism.release(interval.midpoint, interval, secure)
