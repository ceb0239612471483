"""``explorer serve`` as a process: its password, its processes, and its end."""

import asyncio
import logging
import os
import re
import socket
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from bokeh.server.connection import ServerConnection
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from explorer.server import _let_visitors_leave


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def logged_in(address: str, password: str) -> bytes:
    """The page that somebody sees who logs in with this password."""
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    form = urllib.parse.urlencode({"username": "somebody", "password": password}).encode()
    visitor.open(address + "login", timeout=60)
    with visitor.open(address + "login", form, timeout=60) as answer:
        return answer.read()


def socket_to(address: str, origin: str) -> str:
    """What the first message of the server's socket says to a page that came from ``origin``."""

    async def first_message() -> str:
        page = await asyncio.to_thread(lambda: urllib.request.urlopen(address, timeout=60).read())
        token = re.search(rb'"token":"([^"]+)"', page)[1].decode()
        request = HTTPRequest(address.replace("http", "ws", 1) + "ws", headers={"Origin": origin})
        socket = await websocket_connect(request, subprotocols=["bokeh", token])
        message = await socket.read_message()
        socket.close()
        return message

    with ThreadPoolExecutor() as own_thread:  # in this one a browser's loop may be running
        return own_thread.submit(lambda: asyncio.run(first_message())).result()


def test_by_default_it_listens_on_the_loopback_alone_and_checks_where_pages_come_from(serving, tmp_path):
    with serving(tmp_path / "log") as (address, process):
        port = int(address.rsplit(":", 1)[1].rstrip("/"))
        listening = Path(f"/proc/{process.pid}/net/tcp")
        if listening.exists():  # addresses in hexadecimal, 0A: listening
            rows = [line.split() for line in listening.read_text().splitlines()[1:]]
            addresses = {row[1] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port}
            assert addresses == {f"0100007F:{port:04X}"}
        assert "ACK" in socket_to(address, address.rstrip("/"))
        for origin in ("http://elsewhere.example", f"http://elsewhere.example:{port}"):
            with pytest.raises(HTTPClientError, match="403"):
                socket_to(address, origin)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
def test_two_processes_ask_for_the_password_and_end_together(serving, tmp_path):
    protected = serving(tmp_path / "log", "--num-procs", "2", "--basic-auth", "secret")
    with protected as (address, _), urllib.request.urlopen(address, timeout=20) as answer:
        assert answer.url.startswith(address + "login")
        page = answer.read()
        assert b"After 1000 answers" not in page
        assert not re.findall(rb"https?://", page)  # nothing from another host
        for password, inside in (("wrong", False), ("secret", True)):
            assert (b"bokeh" in logged_in(address, password)) == inside
    port = int(address.rsplit(":", 1)[1].rstrip("/"))
    for _ in range(100):
        if not listens(port):
            break
        time.sleep(0.1)
    assert not listens(port)
    assert "Traceback" not in (tmp_path / "log").read_text()


def left_session() -> None:
    """What Bokeh does if the first to notice that somebody left is not their connection."""
    session = SimpleNamespace(subscribe=lambda connection: None, unsubscribe=lambda connection: None)
    connection = ServerConnection(None, None, None, session)
    connection.detach_session()
    _ = connection.session


def closed() -> None:
    raise WebSocketClosedError


def broken() -> None:
    raise AssertionError("something else")


@pytest.mark.parametrize(
    ("error", "fails", "told"),
    [(AssertionError, left_session, False), (WebSocketClosedError, closed, False), (AssertionError, broken, True)],
)
def test_that_somebody_leaves_is_not_in_the_log_and_other_errors_are(error, fails, told, caplog, monkeypatch):
    logger = logging.getLogger("tornado.application")
    for name in (logger.name, "asyncio", "bokeh.server.views.ws", "bokeh.server.protocol_handler"):
        monkeypatch.setattr(logging.getLogger(name), "filters", [])
    _let_visitors_leave()
    with pytest.raises(error) as caught:
        fails()
    logger.error("Uncaught exception", exc_info=caught.value)
    assert len(caplog.records) == told
