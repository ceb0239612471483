"""The answers of a collection as a CSV file, each on disk before the next person is asked.

Privacy that was spent must not be lost. ``AnswerFile.create`` opens the file before anybody is asked. An answer is
written in two parts: the answer itself as soon as it was given, and what is known after it. A second file beside it,
whose name ends in ``.progress``, says what was asked and in which order, so that ``AnswerFile.resume`` can go on after
a crash with those who have not answered. It is removed when nobody is left to ask.

Both files hold answers and settings, and nothing that was computed from a value in any other way.
"""

import contextlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

#: The levels of what is known after an answer.
LEVELS = (0.025, 0.5, 0.975)
HEADER = ["t", "left", "right", "y", *(f"{side}_{100 * level:g}%" for level in LEVELS for side in ("mu", "sigma"))]
_FIRST_LINE = ",".join(HEADER) + "\n"
_FORMAT = "explorer collection 1"


class Row(NamedTuple):
    """One answer, and mu and sigma at each level after it: (mu, sigma, mu, sigma, mu, sigma)."""

    t: int
    left: float
    right: float
    y: float
    known: tuple[float, ...]


class AnswerFile:
    """A file of answers that is open for more of them; use ``create`` or ``resume``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        if fcntl is not None:  # two that go on with one file would ask people twice
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                raise ValueError(f"{path} is being written by another collection") from None
            except OSError:  # some network file systems have no locks
                pass

    @classmethod
    def create(cls, path: str | Path, settings: dict, force: bool = False) -> "AnswerFile":
        """A new file. ``settings`` are kept beside it, for those who go on with it later.

        Raises ValueError if the path cannot be written or exists; with ``force``, a file of answers is replaced.
        """
        path = Path(os.path.realpath(path))  # a link and what it points to are one collection
        if os.path.lexists(path) and not (force and _is_ours(path)):
            raise ValueError(f"{path} {_why_not(path, force)}")
        if os.path.lexists(_progress(path)) and not (force and _is_our_progress(path)):
            raise ValueError(f"{_progress(path)} exists, of an unfinished collection perhaps: choose another name")
        kept = json.dumps({"format": _FORMAT, "settings": settings}) + "\n"
        try:
            return cls._replace(path, kept) if path.exists() else cls._begin(path, kept)
        except OSError as error:
            raise _cannot_write(path, error) from None

    @classmethod
    def _begin(cls, path: Path, kept: str) -> "AnswerFile":
        """Make a file that does not exist; if that fails, nothing is left behind, as nobody has answered."""
        opened = cls(path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666))
        try:
            _write_whole(_progress(path), kept)
            opened._write(_FIRST_LINE)
            _sync_folder(path.parent)
        except OSError:
            opened.close(finished=True)
            path.unlink(missing_ok=True)
            raise
        return opened

    @classmethod
    def _replace(cls, path: Path, kept: str) -> "AnswerFile":
        """Put an empty file in the place of another; if that fails, the other is as it was.

        Who is killed between the two replacements has no answers with the other's order, which can be gone on with.
        """
        other = cls(path, os.open(path, os.O_WRONLY | _BINARY))  # held, so that nobody else writes to it
        try:
            with _part(path, _FIRST_LINE) as answers, _part(_progress(path), kept) as progress:
                opened = cls(path, os.open(answers, os.O_WRONLY | os.O_APPEND | _BINARY))
                os.replace(answers, path)
                os.replace(progress, _progress(path))
            _sync_folder(path.parent)
        finally:
            os.close(other._descriptor)
        return opened

    @classmethod
    def resume(cls, path: str | Path, settings: dict) -> tuple["AnswerFile", list[Row], dict]:
        """Go on with a file: the answers that are in it, and the settings that were kept.

        Raises ValueError if there is nothing to go on with, if it is damaged, or if ``settings`` differ from those
        kept. The last answer may have been cut off after ``y``: then its row has nothing known.
        """
        path = Path(os.path.realpath(path))
        _check_unfinished(path)
        try:
            opened = cls(path, os.open(path, os.O_WRONLY | os.O_APPEND | _BINARY))
        except OSError as error:
            raise _cannot_write(path, error) from None
        try:
            kept = _kept_settings(path)
            for name, value in settings.items():
                if kept.get(name, ...) != (list(value) if isinstance(value, tuple) else value):
                    raise ValueError(f"{path} was begun with {name} {kept.get(name)}, not {value}")
            text = path.read_bytes().decode("ascii")
            if _FIRST_LINE.startswith(text):  # killed before anybody was asked
                os.ftruncate(opened._descriptor, 0)
                opened._write(_FIRST_LINE)
                text = _FIRST_LINE
            rows, end = _rows(text, path)
            os.ftruncate(opened._descriptor, end)  # what was cut off before the answer was complete
        except OSError as error:
            opened.close(finished=False)
            raise _cannot_write(path, error) from None
        except ValueError as error:
            opened.close(finished=False)
            if isinstance(error, UnicodeDecodeError):
                raise ValueError(f"{path} is damaged") from None
            raise
        return opened, rows, kept

    def answer(self, t: int, left: float, right: float, y: float) -> None:
        """Write an answer; when this returns, it is on disk."""
        self._write(f"{t},{left!r},{right!r},{y!r},")

    def known(self, values: tuple[float, ...]) -> None:
        """Write what is known after the answer, and end its row."""
        self._write(",".join(map(repr, values)) + "\n")

    def close(self, finished: bool) -> None:
        """Close the file; if nobody is left to ask, there is nothing to go on with."""
        os.close(self._descriptor)
        if finished:
            with contextlib.suppress(OSError):
                _progress(self.path).unlink()

    def _write(self, text: str) -> None:
        before = os.fstat(self._descriptor).st_size
        try:
            _write_all(self._descriptor, text)
        except OSError:
            os.ftruncate(self._descriptor, before)  # half of an answer is none
            raise


_BINARY = getattr(os, "O_BINARY", 0)


def _progress(path: Path) -> Path:
    return path.with_name(f"{path.name}.progress")


def _is_ours(path: Path) -> bool:
    """Whether a collection wrote this file, or was killed while it began to."""
    if not path.is_file():  # to open a pipe, one would wait for its other end
        return False
    try:
        with path.open("rb") as file:
            return _FIRST_LINE.encode("ascii").startswith(file.read(len(_FIRST_LINE)))
    except OSError:
        return False


def _is_our_progress(path: Path) -> bool:
    try:
        _kept_settings(path)
    except ValueError:
        return False
    return True


def _why_not(path: Path, force: bool) -> str:
    if force:
        return "exists and is no file of answers: choose another name"
    if _progress(path).exists():
        return "exists: --resume goes on with it, --force replaces it"
    return "exists: --force replaces a file of answers"


def _cannot_write(path: Path, error: OSError) -> ValueError:
    return ValueError(f"{path} cannot be written: {error.strerror or error}")


def _sync_folder(folder: Path) -> None:
    """Names of new files are on disk, too, where folders can be told so."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, text: str) -> None:
    data = text.encode("ascii")
    while data:
        data = data[os.write(descriptor, data) :]
    os.fsync(descriptor)


@contextlib.contextmanager
def _part(path: Path, text: str) -> Iterator[Path]:
    """A new file beside ``path`` that holds ``text``, to be put in its place; within, or it is removed."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        try:
            _write_all(descriptor, text)
        finally:
            os.close(descriptor)
        yield part
    finally:
        part.unlink(missing_ok=True)


def _write_whole(path: Path, text: str) -> None:
    """Replace a file, and not what a link of its name points to."""
    with _part(path, text) as part:
        os.replace(part, path)


def _check_unfinished(path: Path) -> None:
    if not path.is_file():
        raise ValueError(f"{path} does not exist: there is nothing to go on with")
    if not os.path.lexists(_progress(path)):
        raise ValueError(f"{path} is complete: there is nobody left to ask")


def _kept_settings(path: Path) -> dict:
    try:
        if not _progress(path).is_file():
            raise ValueError
        kept = json.loads(_progress(path).read_text("ascii"))
        order = kept["settings"]["order"]
        if kept["format"] != _FORMAT or type(order) is not int or order < 0:
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{_progress(path)} is damaged") from None
    return kept["settings"]


def _rows(text: str, path: Path) -> tuple[list[Row], int]:
    """The rows of a file whose last one may be incomplete, and where the last complete answer ends."""
    lines = text.split("\n")
    if f"{lines[0]}\n" != _FIRST_LINE:
        raise ValueError(f"{path} is no file of answers")
    rows, end = [], len(lines[0]) + 1
    for number, line in enumerate(lines[1:], start=1):
        complete = number < len(lines) - 1
        cells = line.split(",")
        if not complete and len(cells) < 5:
            break  # nothing, or an answer that was cut off while it was written: nobody has seen it
        try:
            row = Row(int(cells[0]), *map(float, cells[1:4]), tuple(map(float, cells[4:])) if complete else ())
        except ValueError:
            raise ValueError(f"{path} is damaged in line {number + 1}") from None
        if row.t != number or (complete and len(cells) != len(HEADER)):
            raise ValueError(f"{path} is damaged in line {number + 1}")
        rows.append(row)
        end += len(line) + 1 if complete else len(",".join(cells[:4])) + 1
    return rows, end
