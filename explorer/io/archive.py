"""Files that anyone can read: a NumPy ``.npz`` of plain arrays, one of which, ``header``, is a JSON text.

No pickle is written or read, so opening a file never runs code from it. Reading trusts nothing: entries must be stored
uncompressed and as long as their shapes say, so that a small file cannot ask for a large memory, and ``digest`` in the
header must be that of the rest. Files of version 0.1.0 have no digest and are read without it.

A file is replaced as a whole or not at all: whoever is interrupted while saving still has the old one.
"""

import contextlib
import glob
import hashlib
import io
import json
import math
import os
import secrets
import zipfile
from pathlib import Path

import numpy as np

try:
    import fcntl
except ImportError:  # Windows, where a file that somebody writes to cannot be removed anyway
    fcntl = None

#: The only kinds of array that are read.
_KINDS = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8"), "b1": np.dtype("bool")}
#: Limit of the header in bytes.
_LONGEST_HEADER = 4_000_000


def write(path: str | Path, kind: str, version: int, header: dict, arrays: dict[str, np.ndarray]) -> None:
    """Replace the file at ``path``; what earlier writes that were killed left beside it is removed."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    described = {"format": kind, "version": version} | header
    text = json.dumps(described | {"digest": _digest(described, arrays)})
    _remove_unfinished(path)
    temporary, descriptor = _open_beside(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez(file, header=np.array(text), **arrays)
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # as long as it is locked, nobody takes it for what a killed write left
                os.replace(temporary, path)
        if fcntl is None:  # Windows replaces no open file
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def read(path: str | Path, kind: str, version: int) -> tuple[dict, dict[str, np.ndarray]]:
    """The header and the arrays. Raises ValueError, which names the file, if it holds anything else."""
    with Path(path).open("rb") as file:
        # Whoever made this file may have aimed at the parsers of zip, NumPy and JSON: all they raise means the same.
        try:
            arrays = _entries(file)
            text = arrays.pop("header")
            header = json.loads(text)
            found = header["format"], header["version"]
        except Exception:
            raise ValueError(f"{path} is damaged, or not a file with {kind} data") from None
    if found != (kind, version):
        raise ValueError(f"{path} holds {str(found[0])[:60]!r} version {str(found[1])[:20]}, not {kind!r} {version}")
    digest = header.pop("digest", None)
    if digest is not None and digest != _digest(header, arrays):
        raise ValueError(f"{path} is damaged: it was changed after it was saved")
    return header, arrays


def _digest(header: dict, arrays: dict[str, np.ndarray]) -> str:
    """Of the header and all arrays, in the order of their names."""
    found = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


def _entries(file) -> dict:
    """The arrays by name, and the text of the header."""
    found = {}
    with zipfile.ZipFile(file) as archive:
        # Entries may overlap, and then be more than the file is long.
        if sum(entry.file_size for entry in archive.infolist()) > os.fstat(file.fileno()).st_size:
            raise ValueError("it was not written by Explorer")
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if entry.compress_type != zipfile.ZIP_STORED or name in found:
                raise ValueError("it was not written by Explorer")
            content = archive.read(entry)  # which checks its sum
            found[name] = _text(content) if name == "header" else _array(content)
    return found


def _array(content: bytes) -> np.ndarray:
    shape, by_columns, dtype, start = _format(content)
    kind = _KINDS.get(dtype.str[1:])
    if kind is None or dtype != kind or len(content) - start != kind.itemsize * math.prod(shape):
        raise ValueError("an array has another type or length than it should")
    return np.frombuffer(content, kind, offset=start).reshape(shape, order="F" if by_columns else "C").copy()


def _text(content: bytes) -> str:
    shape, _, dtype, start = _format(content)
    if shape != () or dtype.kind != "U" or len(content) - start != dtype.itemsize or dtype.itemsize > _LONGEST_HEADER:
        raise ValueError("its header is no text")
    return content[start:].decode("utf-32-le").rstrip("\0")


def _format(content: bytes) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Shape, order, type and beginning of the data of one ``.npy`` entry."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    known = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, by_columns, dtype = known[version](stream)
    return shape, by_columns, dtype, stream.tell()


def _open_beside(path: Path) -> tuple[Path, int]:
    """A new locked file in the same folder, whose name says what it is for."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if fcntl is None or os.fstat(descriptor).st_nlink:
            return temporary, descriptor
        # Another process has taken it for what a killed write left, and has removed it.
        os.close(descriptor)


def _remove_unfinished(path: Path) -> None:
    """Remove what writes of this file left that were killed. One that is still going on holds a lock."""
    for left in path.parent.glob(glob.escape(f".{path.name}.") + "[0-9a-f]" * 16 + ".part"):
        with contextlib.suppress(OSError), left.open("rb") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
