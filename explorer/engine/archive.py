"""Files that anyone can read: a NumPy ``.npz`` of plain arrays, one of which, ``header``, is a JSON text.

No pickle is written or read, so opening a file never runs code from it. A file is replaced as a whole or not at all:
whoever is interrupted while saving still has the old one.
"""

import json
import os
import secrets
import zipfile
from pathlib import Path

import numpy as np


def write(path: str | Path, kind: str, version: int, header: dict, arrays: dict[str, np.ndarray]) -> None:
    path = Path(path)
    text = json.dumps({"format": kind, "version": version} | header, allow_nan=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent}")
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            np.savez(file, header=np.array(text), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def read(path: str | Path, kind: str, version: int) -> tuple[dict, dict[str, np.ndarray]]:
    """The header and the arrays; a ValueError if the file holds something else."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(str(arrays.pop("header")))
        found = header["format"], header["version"]
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError, ValueError, AttributeError):
        raise ValueError(f"{path} is not a file with {kind} data") from None
    if found != (kind, version):
        raise ValueError(f"{path} holds {found[0]!r} version {found[1]}, not {kind!r} version {version}")
    return header, arrays
