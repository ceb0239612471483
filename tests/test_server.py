"""``explorer serve`` as a process: its password, its processes, and its end."""

import os
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from benchmarks.browser import free_port, wait_for


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
def test_two_processes_ask_for_the_password_and_end_together(tmp_path):
    port = free_port()
    command = [sys.executable, "-m", "explorer", "serve", "--no-browser", "--port", str(port)]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--num-procs", "2", "--basic-auth", "secret"], stdout=log, stderr=subprocess.STDOUT
        )
    address = f"http://127.0.0.1:{port}/"
    try:
        wait_for(address, process)
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert answer.url.startswith(address + "login")
            assert b"After 1000 answers" not in answer.read()
    finally:
        process.kill()  # it cannot tell its children any more
        process.wait()
    for _ in range(100):
        if not listens(port):
            break
        time.sleep(0.1)
    assert not listens(port)
    assert "Traceback" not in (tmp_path / "log").read_text()
