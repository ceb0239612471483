"""Mutations of CSV and Parquet files: read or refused, and nobody's value in any word about them."""

import io
import re
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from explorer.io.data_file import DataFile


def run(count: int, seed: int, folder=None) -> dict:
    """Mutate, read every column, and count what happened; ``wrong`` lists what must not."""
    rng = np.random.default_rng(seed)
    counts = {"mutations": 0, "columns read": 0, "refused": 0, "wrong": []}
    path = Path(folder or tempfile.mkdtemp()) / "people.csv"
    for _ in range(count):
        values = rng.uniform(1e6, 1e7, int(rng.integers(1, 8))).round(int(rng.integers(0, 5)))
        content = _mutated(rng, _parquet(values) if rng.random() < 0.3 else _csv(rng, values))
        counts["mutations"] += 1
        path.write_bytes(content)
        words = []
        try:
            file = DataFile(path)
            words = [*file.columns, *file.notes, repr(file)]
            for column in file.columns:
                try:
                    numbers = file.read(column).values
                    counts["columns read"] += 1
                    if not np.all(np.isfinite(numbers)):
                        counts["wrong"].append(f"{content!r}: a number that is none")
                except ValueError as error:
                    words.append(str(error))
                words += file.notes
        except ValueError as error:
            counts["refused"] += 1
            words.append(str(error))
        except Exception as error:
            counts["wrong"].append(f"{content!r}: {type(error).__name__}: {error}")
        shown = re.sub(r"[^0-9]", "", " ".join(map(str, words)))
        if any(str(int(value)) in shown for value in values):
            counts["wrong"].append(f"{content!r}: a value in {words}")
    return counts


def _csv(rng, values: np.ndarray) -> bytes:
    """A table in one of the ways in which programs write them."""
    delimiter = str(rng.choice([",", ";", "\t", "|"]))
    end = str(rng.choice(["\n", "\r\n"]))
    written = [str(value) for value in values]
    if delimiter != "," and rng.random() < 0.4:
        written = [cell.replace(".", ",") for cell in written]
    if rng.random() < 0.3:
        written = [str(rng.choice(["€", "$", "", "~"])) + cell + str(rng.choice(["", "k", " EUR"])) for cell in written]
    rows = [delimiter.join(["id", "income"])] if rng.random() < 0.7 else []
    rows += [delimiter.join([f"p{k}", cell]) for k, cell in enumerate(written)]
    return (end.join(rows) + end).encode(str(rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252"])), "replace")


def _parquet(values: np.ndarray) -> bytes:
    file = io.BytesIO()
    pd.DataFrame({"id": [f"p{k}" for k in range(values.size)], "income": values}).to_parquet(file)
    return file.getvalue()


def _mutated(rng, content: bytes) -> bytes:
    content = bytearray(content)
    for _ in range(int(rng.integers(0, 4))):
        at = int(rng.integers(max(len(content), 1)))
        kind = rng.integers(5)
        if kind == 0:
            content[at : at + 1] = rng.bytes(1)
        elif kind == 1:
            del content[at : at + int(rng.integers(1, 12))]
        elif kind == 2:
            content[at:at] = str(rng.choice([",", ";", '"', "\n", " ", "0", "x", "\x00", "€"])).encode()
        elif kind == 3:
            content = content[:at]
        else:
            content[at:at] = content[at // 2 : at]
    return bytes(content)
