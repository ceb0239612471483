"""Your data: a file's column, streamed once through the individuals' side into the estimator.

>>> model = DataCollection(mechanism="randomized_response", particles=100, expected=(0, 100))
>>> model.take(b"age\\n" + b"\\n".join(b"%d" % age for age in range(20, 60)), "people.csv")
>>> model.column, len(model.compute().y), model.columns
('age', 40, [])

The file is held until its values have been asked, and no longer: results, messages and downloads are made from answers
alone, and a second collection needs the file again.
"""

import time
from typing import NamedTuple

import numpy as np
import pandas as pd
import param

from explorer.engine.compute.threads import stop_if_asked
from explorer.engine.inference.priors import SemiConjugatePrior
from explorer.engine.run.collection import people_needed
from explorer.engine.run.estimator import OnlineEstimator
from explorer.engine.run.open_estimate import OpenEstimate, open_estimate
from explorer.engine.run.recorded_collection import RecordedCollection, try_release
from explorer.io.answer_file import LEVELS
from explorer.io.data_file import DataFile, UnclearFirstRowError
from explorer.models.computation import Computation
from explorer.models.limits import check_work, largest_upload
from explorer.models.script import Code, call, family_argument, program, without_unused

#: So many of a file's people are asked.
MOST_PEOPLE = 10_000
#: What is known is shown anew so often, in seconds.
_PAUSE = 0.3


class Collected(NamedTuple):
    """What has been revealed so far, and what is known from it. Rows are answers; the last columns are μ and σ."""

    y: np.ndarray
    left: np.ndarray
    right: np.ndarray
    #: Posterior quantiles at 2.5 %, 50 % and 97.5 %: (n, 3, 2).
    quantiles: np.ndarray
    people: int
    rows: int
    missing: int
    finished: bool
    #: The answer without privacy; None unless the data were said to be public.
    open: OpenEstimate | None
    settings: dict

    @property
    def width(self) -> np.ndarray:
        """Of the 95 % credible interval of μ, after each answer."""
        return self.quantiles[:, 2, 0] - self.quantiles[:, 0, 0]

    def table(self) -> pd.DataFrame:
        """One row for each answer: the question, the answer, and what is then known. It holds nobody's value."""
        columns = {"t": np.arange(1, self.y.size + 1), "left": self.left, "right": self.right, "y": self.y}
        for k, level in enumerate(LEVELS):
            columns |= {f"{side}_{100 * level:g}%": self.quantiles[:, k, j] for j, side in enumerate(("mu", "sigma"))}
        return pd.DataFrame(columns)

    def script(self) -> str:
        """The same collection from a file of one's own; its noise and its order differ each time."""
        names = ("epsilon", "mechanism", "particles", "policy", "score", "sampler", "delta", "best")
        settings = {name: self.settings[name] for name in names}
        settings["family"] = family_argument(self.settings["family"], self.settings["df"])
        low, high = self.settings["expected"]
        settings["prior"] = Code(f"ex.SemiConjugatePrior.expecting({low!r}, {high!r})")
        return program(
            f"column = ex.DataFile('your_file.csv').read({self.settings['column']!r})",
            f"estimator = {call('ex.OnlineEstimator', without_unused(settings))}",
            f"for answered in ex.Collection(column.values, estimator, most={self.settings['most']!r}):",
            "    pass",
            "print(estimator.posterior.quantiles([0.025, 0.5, 0.975]))",
        )

    def needed(self, wanted: float) -> int | None:
        """How many people it took until the interval was as narrow as wanted and stayed so."""
        return people_needed(self.width, wanted)


class DataCollection(Computation):
    """Holds a file until it is collected from; the privacy, the population's family and N are the experiment's."""

    mode = "on demand"

    header = param.Selector(
        default="auto",
        objects={"detect": "auto", "names": "yes", "a person’s data": "no"},
        label="The first row",
        doc="Whether the first row of the next CSV file holds names or already a person's data.",
    )
    columns = param.List([], item_type=str, doc="The columns of the file that is held; none without a file.")
    file_name = param.String("", doc="The name of the file that is held.")
    notes = param.List([], item_type=str, doc="What was assumed about the file.")
    column = param.String("", label="Column", doc="The column with one number for each person.")
    expected = param.Range(
        (0.0, 100.0),
        label="Most values lie between",
        doc="A rough guess that everybody may know, made without looking at the data: the prior of μ and σ, and with "
        "it the first interval, come from it. A guess that is wrong by a factor of ten costs some answers, not the "
        "result.",
    )
    most = param.Integer(
        1000,
        bounds=(1, MOST_PEOPLE),
        softbounds=(10, MOST_PEOPLE),
        label="People asked at most",
        doc="If the file has more, so many of them are drawn at random. Each is asked once.",
    )
    wanted = param.Number(
        0.0,
        bounds=(0, None),
        label="Wanted width of the 95 % interval",
        doc="How narrow the credible interval of μ shall become: the page says how many people that took. 0: any.",
    )
    public = param.Boolean(
        False,
        label="These data are public",
        doc="Shows, beside the private estimate, the one from the values themselves. It has no noise and protects "
        "nobody: tick this only for data that everybody may see anyway.",
    )

    def __init__(self, **params):
        self._file: DataFile | None = None
        super().__init__(**params)

    def take(self, content: bytes, name: str) -> None:
        """Hold a file; a ValueError if it is none that can be used."""
        self.forget()
        self.hold(self.opened(content, name))

    def opened(self, content: bytes, name: str) -> DataFile:
        """The file, if it is one that can be used. Changes nothing, so that it may be called in a thread."""
        if len(content) > largest_upload():
            raise ValueError(f"{name} is larger than {largest_upload() / 1e6:g} MB: explorer collect takes any size")
        try:
            return DataFile(content, name, {"yes": True, "no": False}.get(self.header))
        except UnclearFirstRowError as error:
            raise ValueError(f"{error} above, at “{self.param.header.label}”, and choose the file again") from None

    def hold(self, file: DataFile) -> None:
        """Hold a file until it is collected from."""
        self._file = file
        self.param.update(columns=file.columns, file_name=file.name, notes=file.notes, column=file.columns[0])

    async def refresh(self, *events) -> None:
        """Collect, unless that is going on already: nobody may be asked twice."""
        if not self._busy:
            await super().refresh()

    def forget(self) -> None:
        """Let go of the file, and of what was said of it."""
        self._file = None
        self.param.update(columns=[], file_name="", notes=[], public=False)

    @param.depends("status", watch=True)
    def _forget_after_failure(self) -> None:
        if self.status == "failed" and self._file is None:
            self.forget()

    def close(self):
        super().close()
        self._file = None

    def is_preview(self, result):
        return not result.finished

    def _publish(self, result):
        if self._file is None:
            self.forget()
        super()._publish(result)

    def estimator(self) -> OnlineEstimator:
        """A fresh one, for the settings of now; it has not seen anything."""
        now = self.experiment
        low, high = self.expected
        return OnlineEstimator(
            now.epsilon,
            mechanism=now.chosen_mechanism,
            family=now.chosen_family,
            particles=now.particles,
            policy=now.policy,
            score=now.score,
            sampler=now.sampler,
            prior=SemiConjugatePrior.expecting(low, high),
            best=now.interval_by_hand,
        )

    def work(self):
        if self._file is None:
            raise ValueError("there is no file: choose one first")
        now, file = self.experiment, self._file
        check_work(now.sampler, now.particles, self.most)
        return self._results(file, self.estimator(), self.public, self._settings())

    def _settings(self) -> dict:
        now = self.experiment
        names = ("epsilon", "mechanism", "delta", "family", "df", "particles", "policy", "score", "sampler")
        return {name: getattr(now, name) for name in names} | {
            "expected": self.expected,
            "best": now.interval_by_hand,
            "column": self.column,
            "most": self.most,
        }

    def _results(self, file: DataFile, estimator: OnlineEstimator, public: bool, settings: dict):
        column = file.read(settings["column"])
        try_release(estimator)
        if self._file is file:
            self._file = None  # from here on there are only people who wait to be asked
        del file
        rows, missing = column.values.size, column.missing
        opened = open_estimate(column.values, estimator.family) if public else None
        collection = RecordedCollection(column.values, estimator, settings["most"])
        del column
        last = time.monotonic()

        def collected(finished: bool) -> Collected:
            _, left, right, y, known = (np.array(column) for column in zip(*collection.rows, strict=True))
            quantiles = known.reshape(-1, len(LEVELS), 2)
            return Collected(y, left, right, quantiles, collection.people, rows, missing, finished, opened, settings)

        while len(collection.rows) < collection.people and not self._cancelled.is_set():
            answered = next(collection)
            stop_if_asked()
            if time.monotonic() - last > _PAUSE:
                self.report(answered.t / collection.people)
                yield collected(False)
                last = time.monotonic()
        if collection.rows:
            yield collected(len(collection.rows) == collection.people)
