"""The folder of a study: a Parquet file for each finished replicate, and the tables of all."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from explorer.studies import replicate


class StudyFolder:
    """A folder with a Parquet file for each finished replicate."""

    def __init__(self, path: str | Path) -> None:
        if not str(path):
            raise ValueError("the folder to write to must have a name")
        self._path = Path(path) / "replicates"
        probe = self._path / f".{secrets.token_hex(8)}.part"
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise ValueError(f"the folder {path} cannot be written: {error.strerror or error}") from None

    def _file(self, cell: dict) -> Path:
        return self._path / f"{replicate.key(cell)}.parquet"

    def keep(self, cell: dict, row: dict) -> None:
        """The whole file or none: it is written beside its place and then renamed."""
        file = self._file(cell)
        temporary = file.with_name(f".{file.name}.{secrets.token_hex(8)}.part")
        try:
            with temporary.open("wb") as stream:
                pd.DataFrame([row]).astype({"error": "string"}).to_parquet(stream, index=False)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, file)
        except OSError as error:
            temporary.unlink(missing_ok=True)
            raise ValueError(f"{file} cannot be written: {error.strerror or error}") from None

    def rows(self, cells: Iterable[dict]) -> dict[str, dict]:
        """The replicates that are finished already. Those that failed are tried again."""
        found = {}
        for cell in cells:
            try:
                row = pd.read_parquet(self._file(cell)).iloc[0].to_dict()
                numbers = {name: row[name] for name in replicate.NUMBERS}
            except (OSError, ValueError, KeyError, IndexError):  # there is none, or it is damaged
                continue
            if pd.isna(row["error"]):
                found[replicate.key(cell)] = replicate.unfinished(cell) | numbers
        return found


def write_tables(folder: Path, table: pd.DataFrame, found: pd.DataFrame) -> None:
    """All replicates as ``replicates.parquet`` and their summary as ``table.csv``."""
    try:
        table.to_parquet(folder / "replicates.parquet", index=False)
        found.to_csv(folder / "table.csv", index=False)
    except OSError as error:
        raise ValueError(f"the tables in {folder} cannot be written: {error.strerror or error}") from None
