"""``explorer serve`` as a process: its password, its processes, and its end."""

import asyncio
import os
import re
import socket
import time
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect


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
