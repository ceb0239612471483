"""A button that takes a file into the server's memory, and nowhere else."""

from collections.abc import Callable
from pathlib import PurePath

import panel_material_ui as pmui

#: The browser sends a file in pieces of so many bytes; a server refuses messages above 20 MB.
_PIECE = 4_000_000
#: Of a file and its kind together, in letters.
_LONGEST_NAME = 1000


class Upload(pmui.FileInput):
    """Hands each file to ``taken(content, name)``, and keeps nothing.

    Panel's own keeps the content as a parameter, which travels to whoever shows it. The size is checked as the pieces
    arrive, whatever the browser has been told: more than ``max_file_size`` bytes are never held.
    """

    def __init__(self, taken: Callable[[bytes, str], None], refused: Callable[[str], None], **params):
        super().__init__(chunk_size=_PIECE, **params)
        self._taken, self._refused = taken, refused

    def _handle_msg(self, msg) -> None:
        try:
            if msg["status"] != "finished" and msg.get("chunk", 1) == 1:
                self._forget()  # a new file begins, whatever became of the one before
            if msg["status"] == "upload_event":
                self._check(msg)
            if msg["status"] in ("upload_event", "finished"):
                super()._handle_msg(msg)
        except Exception as error:  # whatever was sent, it is told and the server goes on
            self._forget()
            words = str(error) if isinstance(error, ValueError) else "The upload was damaged on its way"
            self._send_msg({"status": "error", "error": words})
            self._refused(words)

    def _check(self, msg: dict) -> None:
        before = self._file_buffer.get(msg["name"])
        if len(msg["name"]) + len(msg["mime_type"]) > _LONGEST_NAME or self._file_buffer.keys() - {msg["name"]}:
            raise ValueError("The upload was damaged on its way")
        if before is not None and before["total_chunks"] != msg["total_chunks"]:
            raise ValueError("The upload was damaged on its way")
        if self._held() + len(msg["data"]) > self.max_file_size:
            raise ValueError(f"The file is larger than {self.max_file_size / 1e6:g} MB")

    def _forget(self) -> None:
        self._file_buffer.clear()
        self._buffer.clear()

    def _held(self) -> int:
        pieces = [piece for file in self._file_buffer.values() for piece in file["chunks"].values()]
        return sum(map(len, pieces)) + sum(len(file["value"]) for file in self._buffer)

    def _update_file(self, filename, mime_type, value) -> None:
        self._forget()
        if not isinstance(value, bytes):  # nothing was sent
            self._refused("The file is empty")
            return
        try:
            self._taken(value, PurePath(str(filename).replace("\\", "/")).name[:200] or "the file")
        except Exception:
            self._refused("The file cannot be used")
