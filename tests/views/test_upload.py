"""What a browser, or something that claims to be one, may send as a file."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from hypothesis import given, settings, strategies as st

from explorer.views.parts.upload import Upload
from explorer.views.tabs import your_data


class Desk:
    """Takes files, and notes what was said."""

    def __init__(self, most: int = 100) -> None:
        self.files, self.words, self.sent = [], [], []
        self.upload = Upload(lambda content, name: self.files.append((name, content)), self.words.append)
        self.upload.max_file_size = most
        self.upload._send_msg = self.sent.append

    def send(self, *pieces: bytes, name: str = "f.csv", total: int | None = None) -> None:
        for number, piece in enumerate(pieces, start=1):
            self.upload._handle_msg(
                {
                    "status": "upload_event",
                    "name": name,
                    "chunk": number,
                    "total_chunks": total or len(pieces),
                    "mime_type": "text/csv",
                    "data": piece,
                }
            )
        self.upload._handle_msg({"status": "finished"})


def test_pieces_become_a_file_that_the_widget_does_not_keep():
    desk = Desk()
    desk.send(b"a,b\n", b"1,2\n", name="some/where/f.csv")
    assert desk.files == [("f.csv", b"a,b\n1,2\n")]
    assert desk.upload.value is None
    assert desk.upload._held() == 0


@pytest.mark.parametrize("pieces", [(b"x" * 101,), (b"x" * 50, b"x" * 51), (b"x" * 100, b"x")])
def test_a_byte_too_many_is_refused_as_it_arrives(pieces):
    desk = Desk()
    desk.send(*pieces)
    assert not any(len(content) > 100 for _, content in desk.files)
    assert any("larger than" in words for words in desk.words)
    assert desk.upload._held() == 0
    desk.send(b"x" * 100)
    assert desk.files[-1] == ("f.csv", b"x" * 100)


def test_a_broken_upload_leaves_nothing_in_the_next_one():
    desk = Desk()
    for number, piece in ((1, b"OLD1"), (2, b"OLD2")):
        desk.upload._handle_msg(
            {
                "status": "upload_event",
                "name": "f.csv",
                "chunk": number,
                "total_chunks": 3,
                "mime_type": "",
                "data": piece,
            }
        )
    desk.send(b"NEW1", b"NEW2")
    assert desk.files == [("f.csv", b"NEW1NEW2")]


def test_a_taker_that_fails_keeps_nothing():
    desk = Desk()
    desk.upload._taken = lambda content, name: 1 / 0
    desk.send(b"SECRET")
    assert desk.upload._held() == 0
    assert desk.words == ["The file cannot be used"]


def test_long_names_count_as_damage():
    desk = Desk()
    desk.send(b"x", name="n" * 5000)
    assert desk.files == []
    assert desk.upload._held() == 0
    assert desk.upload._coming is None


def test_many_unfinished_files_together_are_held_to_the_limit_too():
    desk = Desk()
    for number in range(50):
        desk.upload._handle_msg(
            {
                "status": "upload_event",
                "name": f"{number}",
                "chunk": 1,
                "total_chunks": 2,
                "mime_type": "",
                "data": b"x" * 40,
            }
        )
        assert desk.upload._held() <= 100


_VALUE = st.one_of(st.none(), st.integers(-3, 5), st.text(max_size=5), st.binary(max_size=60), st.lists(st.integers()))
_KEYS = st.sampled_from(["status", "name", "chunk", "total_chunks", "mime_type", "data"])
_MESSAGE = st.one_of(
    st.dictionaries(_KEYS, _VALUE),
    st.fixed_dictionaries(
        {
            "status": st.sampled_from(["upload_event", "initializing", "finished"]),
            "name": _VALUE,
            "chunk": _VALUE,
            "total_chunks": _VALUE,
            "mime_type": _VALUE,
            "data": _VALUE,
        }
    ),
    _VALUE,
)


@settings(max_examples=300)
@given(st.lists(_MESSAGE, max_size=8))
def test_whatever_is_sent_the_server_goes_on(messages):
    desk = Desk()
    for message in messages:
        desk.upload._handle_msg(message)
        assert desk.upload._held() <= 100
    desk.upload._forget()
    desk.send(b"x\n1\n", name="good")
    assert desk.files[-1] == ("good", b"x\n1\n")


def test_the_newest_file_wins_however_long_the_others_take(monkeypatch):
    view, waiting = your_data.YourData(), []
    view.active, view._settled = True, 0.0
    session = SimpleNamespace(curdoc=SimpleNamespace(session_context=True), execute=waiting.append)
    monkeypatch.setattr(your_data.pn, "state", session)
    view._take(b"old\n1\n", "old.csv")
    view._refuse("This one is too large")
    view._take(b"new\n1\n", "new.csv")
    with ThreadPoolExecutor(1) as own_thread:  # in this one, the browser of other tests has its event loop
        for when_settled in reversed(waiting):
            own_thread.submit(lambda work=when_settled: asyncio.run(work())).result()
    monkeypatch.undo()
    assert len(waiting) == 3
    assert (view.model.file_name, view.model.columns, view.model.error) == ("new.csv", ["new"], "")


def test_a_file_that_cannot_be_used_takes_the_place_of_the_last_one():
    view = your_data.YourData()
    view._take(b"x\n1\n", "good.csv")
    assert (view.model.columns, view.model.error) == (["x"], "")
    view._take(b"", "bad.csv")
    assert (view.model.columns, view.model.error) == ([], "bad.csv is empty")
