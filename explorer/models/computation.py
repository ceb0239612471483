"""What every computing model does: work off the event loop, for the newest request only.

A subclass gives ``work()``, which reads its settings at once and returns a generator of results, each better than the
last: a coarse preview, say, and then the final one. ::

    model.compute()           # in a script: the last result, computed here and now
    await model.refresh()     # under an event loop: computed in a thread; a newer refresh supersedes this one

A request that is superseded stops within milliseconds, with one exception: its first result, if it takes no more than
``GRACE`` seconds of work, is still shown. Otherwise nothing would move while a slider is dragged without a pause. It is
the thread's own work that counts, as on a server with many visitors the same work takes longer; up to ``PATIENCE``.

Results, status, progress and errors are parameters, changed in the event loop's thread alone, so that whoever watches
them never sees a result older than one seen before.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, ClassVar

import param

from explorer.engine.compute.threads import Stopped, stoppable
from explorer.models.experiment import Experiment
from explorer.models.limits import computations

#: For so many seconds of work, the first result of a superseded request is waited for.
GRACE = 0.25
#: And for so many seconds by the clock.
PATIENCE = 2.0
#: After so many seconds, progress is told: a bar that comes and goes at once only distracts.
LONG = 1.0


class Computation(param.Parameterized):
    """Base class: computes from an ``Experiment``; further arguments are set on it."""

    experiment = param.ClassSelector(class_=Experiment, doc="What is computed from; may be shared.")
    result = param.Parameter(None, doc="The newest result, None before the first.")
    status = param.Selector(
        default="idle",
        objects=["idle", "waiting", "computing", "preview", "ready", "cancelled", "failed"],
        doc="waiting: a job waits for its turn. preview: the result is coarse or partial, a better one is on its way.",
    )
    progress = param.Number(0.0, bounds=(0, 1), doc="How much of the present computation is done.")
    remaining = param.Number(None, allow_None=True, doc="Seconds that the rest of a job will take, about.")
    error = param.String("", doc="Why the last computation failed, in one sentence.")

    #: "live": computed again whenever an input changes. "on demand": when somebody asks. "job": when somebody asks, for
    #: as long as it takes, with partial results; nothing but ``cancel`` ends it early.
    mode: ClassVar[str] = "live"
    #: The experiment's parameters that the result depends on,
    inputs: ClassVar[tuple[str, ...]] = ()
    #: and the model's own.
    own_inputs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, **params):
        settings = {name: params.pop(name) for name in list(params) if name in Experiment.param and name != "name"}
        if "experiment" not in params:
            params["experiment"] = Experiment(**settings)
        elif settings:
            params["experiment"].param.update(**settings)
        super().__init__(**params)
        self._newest = 0
        self._busy = False
        self._closed = threading.Event()
        self._cancelled = threading.Event()

    def work(self) -> Iterator[Any]:
        """A generator of ever better results for the settings of now; it runs in a thread."""
        raise NotImplementedError

    def is_preview(self, result: Any) -> bool:
        """Whether a better result follows."""
        return False

    def on_change(self, callback: Callable) -> None:
        """Call (or await) ``callback`` whenever an input changes."""
        self.experiment.param.watch(callback, list(self.inputs))
        if self.own_inputs:
            self.param.watch(callback, list(self.own_inputs))

    def compute(self) -> Any:
        """The last result, computed in this thread."""
        self._cancelled.clear()
        for result in self.work():
            self._publish(result)
        return self.result

    def recall(self) -> bool:
        """If all inputs stand at their defaults, take the result that is kept for them; whether that was so."""
        own = any(getattr(self, name) != type(self).param[name].default for name in self.own_inputs)
        if self.mode != "live" or own or set(self.inputs) & set(self.experiment.changed()):
            return False
        self._publish(_for_defaults(type(self)))
        return True

    def cancel(self) -> None:
        """Stop a job, or a computation on demand that looks for it; what is finished stays."""
        self._cancelled.set()

    def close(self) -> None:
        """Stop for good: nobody looks any more."""
        self._closed.set()
        self.cancel()

    async def refresh(self, *events) -> None:
        """Compute in a thread; while that runs, only the newest request is kept, and the running one stops.

        A job runs to its end: asked for while it runs, it goes on.
        """
        if self.mode == "job" and self._busy:
            return
        self._newest += 1
        if self._busy:
            return
        self._busy = True
        try:
            done = 0
            while done != self._newest and not self._closed.is_set():
                done = self._newest
                await self._run(done)
        finally:
            self._busy = False

    async def _run(self, request: int) -> None:
        shown, worker, worked, start, job = False, None, 0.0, time.monotonic(), self.mode == "job"

        def superseded() -> bool:
            late = shown or time.monotonic() - start > PATIENCE
            if threading.get_ident() == worker:  # its helpers do not know how long it has worked
                late = late or time.thread_time() - worked > GRACE
            return self._closed.is_set() or (self._newest != request and late)

        def advance() -> Any:
            nonlocal worker, worked
            if not shown:
                worker, worked = threading.get_ident(), time.thread_time()
            return _next(results, (lambda: False) if job else superseded)

        self._cancelled.clear()
        self.param.update(status="waiting" if job else "computing", error="", progress=0.0, remaining=None)
        self._report = _Reporter(self, asyncio.get_running_loop(), superseded)
        try:
            results = self.work()
            if job:
                self.result = None
            while not superseded():
                result = await (_in_own_thread if job else _in_turn)(advance)
                if result is _END or self._closed.is_set():
                    return
                self._publish(result)
                shown = True
        except Stopped:
            pass
        except Exception as error:  # whatever it is, it is told on the page and the server goes on
            if not superseded():
                self.param.update(status="failed", error=_sentence(error), progress=0.0, remaining=None)
        finally:
            self._report = None

    _report: "_Reporter | None" = None

    def report(self, share: float) -> None:
        """For ``work``: how much of it is done."""
        if self._report is not None:
            self._report(share)

    def show(self, result: Any, share: float, remaining: float) -> None:
        """For ``work`` of a job: a partial result, how much of the job is done, and the seconds that are left."""
        if self._report is not None:
            self._report.show(result, share, remaining)

    def _publish(self, result: Any) -> None:
        preview = self.is_preview(result)
        status = "ready"
        if preview:  # of what was cancelled there will be no more
            status = "cancelled" if self.mode != "live" and self._cancelled.is_set() else "preview"
        with param.parameterized.batch_call_watchers(self):
            self.param.update(result=result, status=status, error="", remaining=None)
            if not preview:
                self.progress = 1.0


@cache
def _for_defaults(model_class: type[Computation]) -> Any:
    """Computed once a process: most visitors begin there."""
    return model_class().compute()


@cache
def _workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(computations(), thread_name_prefix="explorer computation")


async def _in_turn(work: Callable[[], Any]) -> Any:
    """In one of the threads that all visitors share; who finds none free waits."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_workers(), context.run, work)


async def _in_own_thread(work: Callable[[], Any]) -> Any:
    """In a thread of its own, as a job takes long: the shared ones are for what is quick.

    It is a daemon: a job does not keep the process from ending.
    """
    loop = asyncio.get_running_loop()
    outcome = loop.create_future()

    def settle(method: Callable, value: Any) -> None:
        if not outcome.done():
            method(value)

    def thread() -> None:
        try:
            method, value = outcome.set_result, work()
        except Exception as error:
            method, value = outcome.set_exception, error
        with suppress(RuntimeError):  # the loop has been closed: nobody waits any more
            loop.call_soon_threadsafe(settle, method, value)

    # With the present context: the server keeps in it whose page this belongs to.
    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=[thread], daemon=True, name="explorer job").start()
    return await outcome


_END = object()


def _next(results: Iterator[Any], asked: Callable[[], bool]) -> Any:
    with stoppable(asked):
        return next(results, _END)


def _sentence(error: Exception) -> str:
    told = isinstance(error, ValueError | ImportError)  # which say what is missing
    return str(error) if told else f"{type(error).__name__}: {error}"


class _Reporter:
    """Hands progress from the working thread to the event loop: of what takes long, and five times a second at most."""

    def __init__(self, model: Computation, loop: asyncio.AbstractEventLoop, superseded: Callable[[], bool]) -> None:
        self._model, self._loop, self._superseded = model, loop, superseded
        self._last = time.monotonic() + LONG

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self._last > 0.2 and not self._superseded():
            self._last = now
            self._loop.call_soon_threadsafe(self._tell, share)

    def _tell(self, share: float) -> None:
        if not self._superseded() and self._model.status in ("computing", "preview"):
            self._model.progress = share

    def show(self, result: Any, share: float, remaining: float) -> None:
        with suppress(RuntimeError):  # the loop has been closed
            self._loop.call_soon_threadsafe(self._show, result, share, remaining)

    def _show(self, result: Any, share: float, remaining: float) -> None:
        if not self._superseded() and self._model.status in ("waiting", "preview"):
            self._model.param.update(result=result, status="preview", progress=share, remaining=remaining)
