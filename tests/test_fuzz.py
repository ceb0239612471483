"""The fuzzers in their small form; ``python -m tests.fuzz`` is the large one. Saved files: io/test_archive.py."""

from fuzz import addresses, command_line, data_files


def test_random_command_lines():
    """They end in time, with a code, and with one line if they are wrong."""
    found = command_line.run(150, seed=1)
    assert not found["failures"]
    assert found["code 0"] > 20
    assert found["code 2"] > 20


def test_mutated_data_files(tmp_path):
    """Read or refused, and no value in any message."""
    found = data_files.run(300, seed=1, folder=tmp_path)
    assert found["wrong"] == []
    assert found["columns read"] > 50
    assert found["refused"] > 50


def test_random_addresses(server, server_log):
    found = addresses.run(10, 1, server, server_log, patience=60)  # beside other tests
    assert found["wrong"] == []
    assert found["answered"] == 10
