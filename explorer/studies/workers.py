"""Where replicates are carried out: in this process, in processes of its own, or on a Dask cluster.

Each of the three is an iterator of ``(cell, row)``, in the order in which rows are finished. Leave it early, and what
still runs is stopped. The rows are the same wherever they come from.
"""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from explorer.engine.compute.threads import stop_if_asked
from explorer.studies.replicate import failed, run

#: A process that died is replaced, and its replicate tried again, so many times in all.
_ATTEMPTS = 2
#: A scheduler has to answer within so many seconds.
PATIENCE = 10

Results = Iterator[tuple[dict, dict]]


def in_this_process(cells: Sequence[dict]) -> Results:
    for cell in cells:
        stop_if_asked()
        yield cell, run(cell)


def in_processes(cells: Sequence[dict], count: int) -> Results:
    """By ``count`` child processes, each with one replicate at a time, and one thread.

    They are started afresh, so that nothing of this process, such as its threads or its ``__main__``, gets into them.
    """
    waiting, finished = SimpleQueue(), SimpleQueue()
    for cell in cells:
        waiting.put(cell)
    children = [_Child(waiting, finished) for _ in range(min(count, len(cells)))]
    try:
        for _ in cells:
            yield _next(finished)
    finally:
        for child in children:
            child.stop()


def _next(finished: SimpleQueue, check: Callable[[], None] = lambda: None):
    """What is finished next; meanwhile it is looked whether somebody wants to stop, or anything is wrong."""
    while True:
        stop_if_asked()
        check()
        try:
            found = finished.get(timeout=0.1)
        except Empty:
            continue
        if isinstance(found, Exception):
            raise found
        return found


class _Child(threading.Thread):
    """A thread that hands cells to a process of its own."""

    def __init__(self, waiting: SimpleQueue, finished: SimpleQueue) -> None:
        super().__init__(daemon=True, name="explorer replicates")
        self._waiting, self._finished = waiting, finished
        self._process: subprocess.Popen | None = None
        self._lock, self._stopped = threading.Lock(), False
        self.start()

    def run(self) -> None:
        try:
            while not self._stopped:
                cell = self._waiting.get_nowait()
                row = self._row(cell)
                if row is not None:
                    self._finished.put((cell, row))
        except Empty:
            pass
        except Exception as error:  # such as no memory for one more process: for whoever waits
            self._finished.put(error)
        self.stop()

    def _row(self, cell: dict) -> dict | None:
        for _ in range(_ATTEMPTS):
            if not self._running():
                return None
            try:
                self._process.stdin.write(json.dumps(cell) + "\n")
                self._process.stdin.flush()
                line = self._process.stdout.readline()
            except OSError:
                line = ""
            if line.endswith("\n"):
                return json.loads(line)
            code = self._process.wait()  # it has closed its output: it is about to end
        return failed(cell, f"its process ended with code {code}")

    def _running(self) -> bool:
        """Whether there is a process to work with, started now if need be."""
        with self._lock:
            if self._stopped:
                return False
            if self._process is None or self._process.poll() is not None:
                root = str(Path(__file__).resolve().parents[2])
                path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "explorer.studies.replicate"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=os.environ | {"EXPLORER_THREADS": "1", "PYTHONPATH": path},
                    start_new_session=True,  # an interruption is for this process, which then stops its children
                )
            return True

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                self._process.wait()
                self._process.stdout.close()
                with suppress(OSError):  # what was not sent yet cannot be sent any more
                    self._process.stdin.close()


class Cluster:
    """A connection to a Dask scheduler, such as ``tcp://10.0.0.1:8786``; ValueError if it does not answer."""

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ValueError("a scheduler needs Dask: pip install 'explorer[dask]'") from None
        if not _ADDRESS.match(address):
            raise ValueError(f"scheduler must look like tcp://host:port, got {address!r}")
        _reachable(address)
        found = SimpleQueue()

        class Connection(Client):
            def __del__(self) -> None:
                """Without the farewell of one that was never connected, which takes long and fails aloud."""

        def connect() -> None:
            # In a thread that nobody waits for: what is at the other end may accept, and then say nothing for ever.
            try:
                found.put(Connection(address, timeout=PATIENCE, set_as_default=False))
            except Exception as error:
                found.put(error)

        threading.Thread(target=connect, daemon=True, name="explorer scheduler").start()
        try:
            self._client = found.get(timeout=PATIENCE)
        except Empty:
            raise _silent(address, "it accepts a connection, but does not speak as a scheduler does") from None
        if isinstance(self._client, Exception):
            raise _silent(address, str(self._client).partition("\n")[0] or type(self._client).__name__)

    def close(self) -> None:
        with suppress(Exception):  # a scheduler that is gone cannot be told
            self._client.close(timeout=2)

    def results(self, cells: Sequence[dict]) -> Results:
        """By the cluster's workers; what a worker had not finished when it died is given to another."""
        finished = SimpleQueue()
        futures = {self._client.submit(run, cell, pure=False): cell for cell in cells}
        for future in futures:
            future.add_done_callback(finished.put)
        try:
            for _ in cells:
                future = _next(finished, self._still_there)
                self._still_there()
                if future.status == "cancelled":
                    raise ValueError(_LOST)
                cell, error = futures[future], future.exception()
                yield cell, (future.result() if error is None else failed(cell, f"{type(error).__name__}: {error}"))
                future.release()
        finally:
            with suppress(Exception):
                self._client.cancel(list(futures))

    def _still_there(self) -> None:
        if self._client.status != "running":
            raise ValueError(_LOST)


_ADDRESS = re.compile(r"^(tcp|tls)://(\[[0-9a-fA-F:.]+\]|[^:/\[\]]+):\d{1,5}$")
_LOST = "the connection to the scheduler was lost: start the study again to go on"


def _reachable(address: str) -> None:
    """Told at once where nothing listens."""
    host, _, port = address.partition("://")[2].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise _silent(
            address, error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        ) from None


def _silent(address: str, reason: str) -> ValueError:
    return ValueError(f"the scheduler {address} does not answer within {PATIENCE} s: {reason}")
