"""A button that takes a file into the server's memory, and nowhere else."""

from collections.abc import Callable
from pathlib import PurePath

import panel_material_ui as pmui

#: The browser sends a file in pieces of so many bytes; a server refuses messages above 20 MB.
_PIECE = 4_000_000
#: Of a file and its kind together, in letters.
_LONGEST_NAME = 1000


class _DamagedError(ValueError):
    """Not what a browser sends."""

    def __init__(self) -> None:
        super().__init__("The upload was damaged on its way")


class Upload(pmui.FileInput):
    """Hands each file to ``taken(content, name)``, and keeps nothing.

    Panel's own keeps the content as a parameter, which travels to whoever shows it. Here the pieces never get there:
    they are put together on arrival. Their size is checked then, whatever the browser has been told: more than
    ``max_file_size`` bytes are never held.
    """

    def __init__(self, taken: Callable[[bytes, str], None], refused: Callable[[str], None], **params):
        super().__init__(chunk_size=_PIECE, **params)
        self._taken, self._refused = taken, refused
        #: Name, kind and number of pieces of the file that is on its way, and the pieces so far by their numbers.
        self._coming: tuple[str, str, int] | None = None
        self._pieces: dict[int, bytes] = {}

    def _handle_msg(self, msg) -> None:
        try:
            if msg["status"] != "finished" and msg.get("chunk", 1) == 1:
                self._forget()  # a new file begins, whatever became of the one before
            if msg["status"] == "upload_event":
                self._receive(msg["name"], msg["mime_type"], msg["total_chunks"], msg["chunk"], msg["data"])
            elif msg["status"] == "finished":
                self._hand_over()
                self._send_msg({"status": "finished"})
        except Exception as error:  # whatever was sent, it is told and the server goes on
            self._forget()
            words = str(error if isinstance(error, ValueError) else _DamagedError())
            self._send_msg({"status": "error", "error": words})
            self._refused(words)

    def _receive(self, name: str, kind: str, total: int, number: int, data: bytes) -> None:
        if len(name) + len(kind) > _LONGEST_NAME or not 1 <= number <= total:
            raise _DamagedError
        if self._coming is None:
            self._coming = name, kind, total
        elif self._coming != (name, kind, total):
            raise _DamagedError
        piece = bytes(memoryview(data))
        if not piece:  # of these, any number would fit
            raise _DamagedError
        self._pieces.pop(number, None)
        if self._held() + len(piece) > self.max_file_size:
            raise ValueError(f"The file is larger than {self.max_file_size / 1e6:g} MB")
        self._pieces[number] = piece

    def _hand_over(self) -> None:
        coming, pieces = self._coming, self._pieces
        self._forget()
        if coming is None:  # nothing was sent
            self._refused("The file is empty")
            return
        name, _, total = coming
        if len(pieces) != total:
            raise _DamagedError
        try:
            content = b"".join(pieces[number] for number in range(1, total + 1))
            self._taken(content, PurePath(name.replace("\\", "/")).name[:200] or "the file")
        except Exception:
            self._refused("The file cannot be used")

    def _forget(self) -> None:
        self._coming, self._pieces = None, {}

    def _held(self) -> int:
        return sum(map(len, self._pieces.values()))
