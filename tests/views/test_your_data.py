"""Your data in a real browser: a file goes up, and none of its values comes back."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect
from visitor import choose, sentence, type_into, wait_for

pytestmark = pytest.mark.browser
#: Fourteen digits each, so that none turns up by chance.
VALUES = np.round(np.random.default_rng(7).normal(50_000, 4000, 400), 9)
NAME = "<img src=x onerror=document.title='broken'>"
CSV = f'person,"{NAME}"\n' + "".join(f"p{k},{value:.9f}\n" for k, value in enumerate(VALUES)) + "nobody,\n"


class Received:
    """Everything that the server sends: websocket frames, answers to requests, downloads."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.sent: list[bytes] = []

    def watch(self, page) -> None:
        page.on("websocket", self._listen)
        page.on("response", self._read)

    def _listen(self, socket) -> None:
        socket.on("framereceived", lambda frame: self.parts.append(_bytes(frame)))
        socket.on("framesent", lambda frame: self.sent.append(_bytes(frame)))

    def _read(self, response) -> None:
        if response.request.resource_type in ("document", "fetch", "xhr"):
            self.parts.append(response.body())

    def holds(self, value: float) -> bool:
        return _holds(b"\n".join(self.parts), value)


def _bytes(frame) -> bytes:
    return frame if isinstance(frame, bytes) else frame.encode()


def _holds(content: bytes, value: float) -> bool:
    texts = (f"{value:.9f}", f"{value:,.9f}", repr(float(value)))
    return any(text.encode() in content for text in texts) or np.float64(value).tobytes() in content


def upload(page, content: str | bytes, name: str = "people.csv") -> None:
    content = content.encode() if isinstance(content, str) else content
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})


def test_a_file_goes_up_and_none_of_its_values_comes_back(visit, server_log):
    received = Received()
    page = visit("?tab=data&epsilon=4&mechanism=piecewise&particles=300", before=received.watch)
    upload(page, CSV, "<i>people.csv")
    wait_for(page, r"^<i>people\.csv: 2 columns")
    assert any(_holds(frame, VALUES[0]) for frame in received.sent), "the search would not find a value"
    choose(page, "Column", NAME)
    type_into(page, "and", "100000")
    type_into(page, "Wanted width of the 95 % interval", "20000")
    page.get_by_role("button", name="Collect").click()
    wait_for(page, r"After 400 people .*1 empty cells were left out; \d+ people were enough for a width of 20,000")
    middle = float(re.search(r"μ = ([\d,]+)", sentence(page, "After"))[1].replace(",", ""))
    assert abs(middle - 50_000) < 4000
    expect(page.get_by_role("button", name="Collect")).to_be_disabled()  # the file is gone
    assert "without privacy:" not in sentence(page, "After")

    with page.expect_download() as download:
        page.get_by_role("button", name="Answers as CSV").click()
    answers = download.value.path().read_bytes()
    assert answers.count(b"\n") == 401
    page.get_by_role("button", name="Copy as Python").first.click()
    wait_for(page, r"ex\.Collection\(column\.values")
    page.wait_for_timeout(500)

    everything = b"\n".join([*received.parts, answers, page.content().encode(), server_log.read_bytes()])
    assert len(everything) > 100_000
    found = [value for value in VALUES if _holds(everything, value)]
    assert found == []
    assert page.title() != "broken"


def test_public_data_are_compared_and_say_what_that_means(visit):
    page = visit("?tab=data&epsilon=4&mechanism=piecewise&particles=200")
    upload(page, "x\n" + "\n".join(f"{40 + k % 21}" for k in range(210)))
    wait_for(page, "1 columns")
    page.get_by_label("These data are public").click()
    page.get_by_role("button", name="Collect").click()
    wait_for(page, r"without privacy: μ = 50 ± 0\.4")
    wait_for(page, "without any noise")


def test_two_visitors_know_nothing_of_each_other(visit):
    one, other = (visit("?tab=data&mechanism=randomized_response&particles=100") for _ in range(2))
    upload(one, "mine\n1\n2\n")
    wait_for(one, r"^people\.csv: 1 columns")
    other.wait_for_timeout(500)
    assert other.get_by_text("No file is held").count()
    one.get_by_role("button", name="Collect").click()
    wait_for(one, "After 2 people")
    other.wait_for_timeout(500)
    assert not other.get_by_text(re.compile("^After 2 people")).count()


def test_files_that_cannot_be_used_are_told_and_the_page_goes_on(visit):
    page = visit("?tab=data&mechanism=randomized_response&particles=100")
    for content, words in (
        (b"", "is empty"),
        (b"PK\x03\x04", "Excel"),
        (b"\x00\x01", "not a text file"),
        (b"PAR1broken", "cannot be read as Parquet"),
        (b"x,y\n1,2,3\n", "has more cells than the first"),
    ):
        upload(page, content)
        wait_for(page, words)
    upload(page, b"name,x\nAda,1\n")
    wait_for(page, "2 columns")
    page.get_by_role("button", name="Collect").click()
    wait_for(page, "that is not a number")
    upload(page, b"x\n1\n2\n3\n")
    wait_for(page, "1 columns")
    page.get_by_role("button", name="Collect").click()
    wait_for(page, "After 3 people")
