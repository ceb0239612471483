"""Twenty visitors who all drag ε at once for half a minute, and leave: nobody is thrown out, and nothing of them stays.

They come twice. What the first crowd needed, the process keeps and uses again for the next (Python and the C library
give little back to the system); that a second crowd adds nothing shows that pages are forgotten.

They speak the browser's side of the protocol, without a browser: twenty Chromiums would measure themselves.
"""

import asyncio
import itertools
import json
import math
import os
import re
import time
import urllib.request
from pathlib import Path
from typing import NamedTuple

from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

from benchmarks.browser import explorer_served
from benchmarks.timing import line

MOVES_A_SECOND = 15


class Size(NamedTuple):
    """A crowd, and for how many seconds it drags."""

    visitors: int
    seconds: float
    #: For so long the server may take to forget a session that nobody is connected to, and to collect its garbage.
    forgotten: float
    #: The server rests if it did next to nothing for so long.
    rest: float


def run(small: bool = False) -> None:
    size = Size(1, 1, 0, 0.5) if small else Size(20, 30, 40, 3)
    if not Path("/proc").exists():
        print("crowd: reads the server's memory from /proc, which this system does not have, skipped")
        return
    with explorer_served() as (address, process):
        asyncio.run(
            _crowd(address, min(size.visitors, 2), min(size.seconds, 5))
        )  # imports, kernels and caches belong to the start
        _let_rest(process.pid, size)
        memory, visitors = [_memory(process.pid)], []
        for _ in range(2):
            visitors += asyncio.run(_crowd(address, size.visitors, size.seconds))
            working = _let_rest(process.pid, size)
            print(f"      after they left, the server went on for {working:.0f} s with what they had asked for")
            memory.append(_memory(process.pid))
    lost = sum(visitor.lost for visitor in visitors)
    line(f"{size.visitors} visitors drag for {size.seconds} s, twice: thrown out", f"{lost}", "0", lost == 0)
    pictures = sorted(visitor.pictures for visitor in visitors)
    line("pictures that each of them got", f"{pictures[0]} to {pictures[-1]}", ">= 1", pictures[0] >= 1)
    start, first, second = memory
    text = f"server's memory {start:.0f} MB, after the first crowd {first:.0f} MB"
    line(text, f"{first / start:.2f}x", "<= 1.1x", first <= 1.1 * start)
    line(f"and after the second {second:.0f} MB", f"{second / first:.2f}x", "<= 1.1x", second <= 1.1 * first)


def _memory(process: int) -> float:
    """Megabytes that a process has in memory."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _let_rest(process: int, size: Size) -> float:
    """Until the server has nothing to do and has forgotten who left; returns for how many seconds it still worked."""
    start, used = time.monotonic(), -math.inf
    while _processor_time(process) - used > 0.1 * size.rest:
        used = _processor_time(process)
        time.sleep(size.rest)
    working = time.monotonic() - start - size.rest
    time.sleep(size.forgotten)
    return working


def _processor_time(process: int) -> float:
    """Seconds that a process has computed."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _crowd(address: str, count: int, seconds: float) -> list["_Visitor"]:
    visitors = [_Visitor(address) for _ in range(count)]
    for visitor in visitors:
        await visitor.arrive()
    await asyncio.gather(*(visitor.drag(seconds, phase) for phase, visitor in enumerate(visitors)))
    await asyncio.sleep(2)
    for visitor in visitors:
        visitor.leave()
    await asyncio.sleep(0.5)
    return visitors


class _Visitor:
    """One open page."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._number = itertools.count(1)
        self.pictures, self.lost, self._leaves = 0, False, False

    async def arrive(self) -> None:
        page = await asyncio.to_thread(lambda: urllib.request.urlopen(self._address, timeout=120).read())
        token = re.search(r'"token":"([^"]+)"', page.decode())[1]
        socket = self._address.replace("http", "ws") + "ws"
        request = HTTPRequest(socket, headers={"Origin": self._address.rstrip("/")}, request_timeout=120)
        self._socket = await websocket_connect(request, subprotocols=["bokeh", token], max_message_size=2**28)
        await self._reply("ACK")
        self._send("PULL-DOC-REQ", {})
        document = json.dumps(await self._reply("PULL-DOC-REPLY"))
        self._slider = re.search(r'"id": "([^"]+)", "attributes": \{[^{}]*"label": "Privacy \\u03b5"', document)[1]
        # What a browser tells once it has laid out the figures, and that it is ready.
        for figure in re.findall(r'"name": "Figure", "id": "([^"]+)"', document):
            self._change(figure, "inner_width", 400)
        ready = {"type": "event", "name": "document_ready", "values": {"type": "map", "entries": []}}
        self._patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready})
        self._listener = asyncio.ensure_future(self._listen())

    async def drag(self, seconds: float, phase: int) -> None:
        start = time.monotonic()
        while (now := time.monotonic() - start) < seconds and not self.lost:
            self._change(self._slider, "value", round(2.5 + 2 * math.sin(now + phase), 2))
            await asyncio.sleep(1 / MOVES_A_SECOND)

    def leave(self) -> None:
        self._leaves = True
        self._socket.protocol._abort()  # as a tab that is closed, and not after an exchange of farewells

    async def _reply(self, kind: str) -> dict:
        """The content of the next message of this kind."""
        while True:
            text = await self._socket.read_message()
            if text is None:
                raise ConnectionError("the server closed the connection")
            if isinstance(text, str) and f'"msgtype":"{kind}"' in text.replace(" ", ""):
                await self._socket.read_message()  # metadata
                return json.loads(await self._socket.read_message())

    async def _listen(self) -> None:
        while (text := await self._socket.read_message()) is not None:
            self.pictures += isinstance(text, str) and '"ColumnDataChanged"' in text and '"image"' in text
        self.lost = not self._leaves

    def _change(self, model: str, attribute: str, value: float) -> None:
        self._patch({"kind": "ModelChanged", "model": {"id": model}, "attr": attribute, "new": value})

    def _patch(self, event: dict) -> None:
        self._send("PATCH-DOC", {"events": [event]})

    def _send(self, kind: str, content: dict) -> None:
        for part in ({"msgid": str(next(self._number)), "msgtype": kind}, {}, content):
            self._socket.write_message(json.dumps(part))
