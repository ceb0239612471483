"""A comparison of methods, started and cancelled on demand: the paper's Figure 3 for any population.

>>> model = Comparison(methods=["adaptive"], epsilons=[5.0], replicates=2, n=50, particles=100, workers=1)
>>> len(model.compute())
2
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pandas as pd
import param

from explorer.engine.mechanisms import MECHANISMS
from explorer.models.experiment import Experiment
from explorer.models.limits import check_work
from explorer.studies.replicate import METHODS
from explorer.studies.study import carry_out, planned_cells

#: Combinations of a method and a mechanism that one picture can hold.
MOST_SERIES = 8
#: The table is shown anew so often, in seconds: whoever looks cannot read faster.
_PAUSE = 0.5
#: A comparison uses all cores, so that a server with many visitors carries out one at a time.
_TURN = threading.Semaphore(1)


class Comparison(param.Parameterized):
    """Replicates of each method, mechanism and ε, for the experiment's population, n, N, score and seed."""

    experiment = param.ClassSelector(class_=Experiment, doc="The population and the sizes; may be shared.")
    methods = param.ListSelector(
        default=["adaptive", "fixed"],
        objects=[*METHODS, "metropolis/fixed", "resample_move/thompson"],
        label="Methods",
        doc="adaptive and fixed: the paper's SMC with adapted and with fixed ±10σ intervals; mcmc: its batch method, "
        "slow; oracle: knows the best interval; gradient: online point estimate; metropolis/fixed: batch, on the "
        "exact likelihood; resample_move/thompson: the paper's own sampler, very slow.",
    )
    mechanisms = param.ListSelector(
        default=["laplace"], objects=list(MECHANISMS), label="Mechanisms", doc="Each method is run with each of them."
    )
    epsilons = param.ListSelector(
        default=[1.0, 2.0, 5.0, 10.0],
        objects={f"{epsilon:g}": epsilon for epsilon in (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)},
        label="Privacy levels ε",
        doc="The paper's are 1, 2, 5 and 10.",
    )
    replicates = param.Integer(
        10, bounds=(1, 200), softbounds=(2, 50), label="Replicates", doc="Runs of each combination; the paper's are 30."
    )
    workers = param.Integer(None, bounds=(1, 64), allow_None=True, doc="Processes; as many as cores, if None.")

    result = param.Parameter(None, doc="The table of all finished runs, None before the first.")
    status = param.Selector(default="idle", objects=["idle", "waiting", "running", "done", "cancelled", "failed"])
    done = param.Integer(0, doc="Runs that are finished,")
    total = param.Integer(0, doc="of so many.")
    remaining = param.Number(None, allow_None=True, doc="Seconds that the rest will take, about.")
    error = param.String("", doc="Why the comparison failed, in one sentence.")

    def __init__(self, **params):
        settings = {name: params.pop(name) for name in list(params) if name in Experiment.param and name != "name"}
        params.setdefault("experiment", Experiment())
        params["experiment"].param.update(**settings)
        super().__init__(**params)
        self._cancelled = threading.Event()
        #: The settings of the result.
        self.shown = self.settings()

    def settings(self) -> dict:
        """The arguments of ``explorer.study``."""
        now = self.experiment
        names = ("n", "particles", "mu", "sigma", "score", "seed", "delta")
        settings = {name: getattr(self, name) for name in ("epsilons", "methods", "replicates", "mechanisms")}
        settings["epsilons"] = sorted(settings["epsilons"])
        family = now.chosen_family if now.family == "student_t" else now.family
        return settings | {"families": [family]} | {name: getattr(now, name) for name in names}

    def cells(self) -> list[dict]:
        """What is to be run. The first replicates of all come first, so that every box fills."""
        if len(self.methods) * len(self.mechanisms) > MOST_SERIES:
            raise ValueError(f"choose at most {MOST_SERIES} combinations of a method and a mechanism")
        cells = planned_cells(**self.settings(), prior=None, options=None)
        now = self.experiment
        latent = any(method.startswith("resample_move") for method in self.methods)
        check_work("resample_move" if latent else "marginal", now.particles, now.n, len(cells))
        return sorted(cells, key=lambda cell: cell["replicate"])

    def compute(self) -> pd.DataFrame:
        """The whole table, computed here and now."""
        self.shown = self.settings()
        self.result = carry_out(self.cells(), workers=self.workers)
        self.status = "done"
        return self.result

    def cancel(self) -> None:
        """Stop; what is finished stays."""
        self._cancelled.set()

    close = cancel

    async def run(self) -> None:
        """Compute in processes, and show what is finished while it grows."""
        if self.status in ("waiting", "running"):
            return
        self._cancelled.clear()
        self.param.update(status="waiting", error="", done=0, total=0, remaining=None, result=None)
        try:
            cells, self.shown = self.cells(), self.settings()
            self.total = len(cells)
            loop = asyncio.get_running_loop()
            table = await _in_a_thread(lambda: self._carry_out(cells, loop), loop)
            stopped = len(table) < len(cells)
            self.param.update(result=table, done=len(table), remaining=None, status="cancelled" if stopped else "done")
        except Exception as error:  # whatever it is, it is told on the page and the server goes on
            words = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
            self.param.update(status="failed", error=words, remaining=None)

    def _carry_out(self, cells: list[dict], loop: asyncio.AbstractEventLoop) -> pd.DataFrame:
        """In a thread: wait for a turn, and then for the processes."""
        while not _TURN.acquire(timeout=0.1):
            if self._cancelled.is_set():
                return carry_out([])
        try:
            rows = _Rows(self, loop)
            return carry_out(cells, workers=self.workers, progress=rows.add, cancelled=self._cancelled.is_set)
        finally:
            _TURN.release()


async def _in_a_thread(work: Callable, loop: asyncio.AbstractEventLoop):
    """In one of its own, as it takes long: those that all share are for what is quick. It keeps nobody from ending."""
    outcome = loop.create_future()

    def settle(method: Callable, value) -> None:
        if not outcome.done():
            method(value)

    def thread() -> None:
        try:
            method, value = outcome.set_result, work()
        except Exception as error:
            method, value = outcome.set_exception, error
        with suppress(RuntimeError):  # the loop has been closed: nobody waits any more
            loop.call_soon_threadsafe(settle, method, value)

    # With the context of now: in it a server keeps to whose page what happens belongs.
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=[thread], daemon=True, name="explorer comparison").start()
    return await outcome


class _Rows:
    """Collects rows in the working thread, and now and then shows them in the event loop's."""

    def __init__(self, model: Comparison, loop: asyncio.AbstractEventLoop) -> None:
        self._model, self._loop, self._rows = model, loop, []
        self._start = self._shown = time.monotonic()

    def add(self, row: dict, done: int, total: int) -> None:
        self._rows.append(row)
        now = time.monotonic()
        if now - self._shown >= _PAUSE and done < total:
            self._shown = now
            remaining = (now - self._start) / done * (total - done)
            with suppress(RuntimeError):  # the loop has been closed
                self._loop.call_soon_threadsafe(self._show, pd.DataFrame(self._rows), done, remaining)

    def _show(self, table: pd.DataFrame, done: int, remaining: float) -> None:
        if self._model.status in ("waiting", "running"):
            self._model.param.update(result=table, done=done, remaining=remaining, status="running")


def series(table: pd.DataFrame) -> Callable[[pd.Series], str]:
    """How to name the combination of a method and a mechanism: by what differs."""
    several = table["mechanism"].nunique() > 1
    return lambda row: f"{row['method']}, {row['mechanism']}" if several else row["method"]
