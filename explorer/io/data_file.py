"""Somebody's file: its columns, and the numbers of one of them.

    >>> file = DataFile(b"name;income\\nAda;1,5\\nBob;\\n", "people.csv")
    >>> file.columns
    ['name', 'income']
    >>> column = file.read("income")
    >>> column.values, column.missing
    (array([1.5]), 1)

CSV (with commas, semicolons, tabs or bars; decimal points or commas; UTF-8, UTF-16 or Windows-1252; with a header or
without) and Parquet. What cannot be used is refused with a ValueError that names the column and counts the cells. The
values are sensitive: no message holds one of them.
"""

import csv
import io
import itertools
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

#: A file with more rows or columns than this is refused: it would cost others who use the same machine too much.
MOST_ROWS, MOST_COLUMNS = 20_000_000, 2000
#: So large a number is nobody's.
_LARGEST = 1e100
#: Parquet is read in pieces of so many rows.
_PIECE = 1 << 20
#: How a table looks is told from so many of its lines.
_SAMPLE = 50
_DELIMITERS = ("\t", ";", "|", ",")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+(?:[eE][+-]?\d+)?$")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+$")
_DOTTED_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+$")
#: How people write that there is nothing.
_EMPTY = {"", "na", "n/a", "#n/a", "nan", "null", "none", "<na>", "-", "."}
#: How files begin that people take for tables.
_OTHER_KINDS = {
    b"PK\x03\x04": "an Excel workbook or another archive: save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the sheet as CSV",
    b"\x1f\x8b": "compressed: unpack it first",
    b"%PDF": "a PDF: it holds no table that could be read safely",
}


class UnclearFirstRowError(ValueError):
    """The first row may hold names or be a person's: whoever reads the file must say which."""


class Column(NamedTuple):
    """The numbers of one column, in the order of its rows, and how many cells were empty."""

    name: str
    values: np.ndarray
    missing: int


class DataFile:
    """A CSV or Parquet file, from its bytes or its path; which of the two it is, its first bytes tell."""

    def __init__(self, content: bytes | str | Path, name: str | None = None, header: bool | None = None) -> None:
        """``header`` says whether the first row of a CSV file holds names; if None, the rows tell.

        Raises UnclearFirstRowError, a ValueError, where they do not.
        """
        self.name = name or (Path(content).name if isinstance(content, str | Path) else "the file")
        if isinstance(content, str | Path):
            try:
                content = Path(content).read_bytes()
            except OSError as error:
                raise ValueError(f"{content} cannot be read: {error.strerror}") from None
        if not content.strip():
            raise ValueError(f"{self.name} is empty")
        for beginning, what in _OTHER_KINDS.items():
            if content.startswith(beginning):
                raise ValueError(f"{self.name} is {what}")
        if content.startswith(b"PAR1"):
            self._table = _Parquet(content, self.name)
        else:
            self._table = _Csv(content, self.name, header)

    def __repr__(self) -> str:
        return f"<DataFile {self.name!r} with {len(self.columns)} columns>"

    @property
    def columns(self) -> list[str]:
        """The columns' names; those that stand twice are numbered."""
        return list(self._table.columns)

    @property
    def notes(self) -> list[str]:
        """What was assumed about the file, a sentence each."""
        return list(self._table.notes)

    def read(self, column: str) -> Column:
        """The numbers of one column."""
        if column not in self._table.columns:
            raise ValueError(f"{self.name} has no column {column!r}; it has {_listed(self._table.columns)}")
        values = self._table.read(column)
        infinite = np.flatnonzero(np.abs(values) > _LARGEST)
        if infinite.size:
            raise ValueError(f"column {column!r} has {_cells(infinite)} infinite, or beyond {_LARGEST:g}")
        present = values[~np.isnan(values)]
        if not present.size:
            raise ValueError(f"column {column!r} has no numbers")
        return Column(column, present, values.size - present.size)


class _Csv:
    def __init__(self, content: bytes, name: str, header: bool | None) -> None:
        self._name, self.notes = name, []
        self._text = re.sub(r"\A(?:[ \t]*[\r\n])+", "", self._decoded(content))
        said = re.match(r"sep=(.)\r?\n", self._text)  # Excel's way to tell the delimiter
        self._text = self._text[said.end() if said else 0 :]
        sample = [line for line in self._text[: 1 << 20].splitlines() if line.strip()][:_SAMPLE]
        self._delimiter = said[1] if said else _delimiter(sample) if sample else ","
        rows = list(itertools.islice(self._rows(), _SAMPLE))
        if not rows:
            raise ValueError(f"{name} is empty")
        if len(rows[0]) > MOST_COLUMNS:
            raise ValueError(f"{name} has {len(rows[0]):,} columns, more than the {MOST_COLUMNS:,} that can be read")
        if self._delimiter == "," and all(_DECIMAL_COMMA.match(line.strip()) for line in sample):
            raise ValueError(f"{name} has lines that may be two numbers or one with a decimal comma: name its columns")
        self._header = _has_header(rows, name) if header is None else header
        if not self._header:
            self.notes.append("The first row was taken for a person’s, so the columns have no names")
        self.columns = _told_apart(rows[0] if self._header else [""] * len(rows[0]))

    def _decoded(self, content: bytes) -> str:
        if content.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
            encoding = "utf-32"
        elif content.startswith((b"\xff\xfe", b"\xfe\xff")):
            encoding = "utf-16"
        elif b"\0" in content:
            raise ValueError(f"{self._name} is not a text file")
        else:
            encoding = "utf-8-sig"
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            if encoding != "utf-8-sig":
                raise ValueError(f"{self._name} is damaged: it is not {encoding.upper()}, as it begins") from None
            self.notes.append("It is not UTF-8: read as Windows-1252")
            return content.decode("cp1252", errors="replace")

    def _rows(self) -> Iterator[list[str]]:
        """All rows that hold anything, their cells stripped; as many in each as in the first, or it is refused."""
        reader = csv.reader(io.StringIO(self._text, newline=""), delimiter=self._delimiter, strict=True)
        width = least = None
        try:
            for row in reader:
                cells = [cell.strip() for cell in row]
                if not any(cells):
                    continue
                if width is None:  # what is empty at its end may be missing elsewhere
                    width, least = len(cells), max(k for k, cell in enumerate(cells, start=1) if cell)
                if any(cells[width:]) or len(cells) < least:
                    how = "fewer" if len(cells) < least else "more"
                    raise ValueError(
                        f"{self._name} cannot be read as CSV: line {reader.line_num} has {how} cells than the first"
                    )
                yield (cells + [""] * width)[:width]
        except csv.Error:
            raise ValueError(f"{self._name} cannot be read as CSV: line {reader.line_num} is damaged") from None

    def read(self, column: str) -> np.ndarray:
        """All cells of a column, NaN where they are empty."""
        at = self.columns.index(column)
        cells, decimal_commas = [], False
        for row in itertools.islice(self._rows(), int(self._header), None):
            cells.append(row[at])
            decimal_commas = decimal_commas or any(map(_DECIMAL_COMMA.match, row))
        if not cells:
            raise ValueError(f"{self._name} has a header and no rows")
        odd = [cell for cell in cells if "," in cell]
        dotted = [cell for cell in cells if "." in cell and cell not in _EMPTY]
        # Where commas may be decimal, or where somebody has left out a fraction of just three digits.
        semicolons = self._delimiter == ";" and len(self.columns) > 1
        thousands = decimal_commas or semicolons or any(re.fullmatch(r"[+-]?\d{1,3}", cell) for cell in cells)
        if dotted and thousands and all(map(_DOTTED_THOUSANDS.match, dotted)):
            raise ValueError(
                f"column {column!r} has numbers with a dot that may be a decimal point or separate thousands: write "
                "them without separators"
            )
        if odd and all(map(_DECIMAL_COMMA.match, odd)):
            if all(map(_THOUSANDS.match, odd)) or dotted:
                raise ValueError(
                    f"column {column!r} has numbers with a comma that may be a decimal comma or separate thousands: "
                    "write them with a decimal point alone"
                )
            self.notes = [*dict.fromkeys([*self.notes, "Commas were read as decimal commas"])]
            cells = [cell.replace(",", ".") for cell in cells]
        numbers = np.array([math.nan if cell.lower() in _EMPTY else _number(cell) for cell in cells], dtype=object)
        text = np.flatnonzero([number is None for number in numbers])
        if text.size:
            raise ValueError(f"column {column!r} has {_cells(text)} not a number")
        return numbers.astype(float)


class _Parquet:
    notes: tuple[str, ...] = ()

    def __init__(self, content: bytes, name: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        self._name = name
        try:
            self._file = parquet.ParquetFile(pa.BufferReader(content))
            self._schema, about = self._file.schema_arrow, self._file.metadata
            # The groups' own counts: a damaged file may claim less as a whole.
            rows = sum(about.row_group(k).num_rows for k in range(about.num_row_groups))
        except (pa.ArrowException, OSError, ValueError):
            raise ValueError(f"{name} cannot be read as Parquet: it is damaged") from None
        if rows > MOST_ROWS:
            raise ValueError(f"{name} has {rows:,} rows, more than the {MOST_ROWS:,} that can be read")
        if not rows:
            raise ValueError(f"{name} has no rows")
        if len(self._schema.names) > MOST_COLUMNS:
            raise ValueError(f"{name} has more than the {MOST_COLUMNS:,} columns that can be read")
        self.columns = _told_apart(self._schema.names)

    def read(self, column: str) -> np.ndarray:
        """All cells of a column, NaN where they are empty."""
        import pyarrow as pa
        import pyarrow.compute as compute

        at = self.columns.index(column)
        kind, name = self._schema.types[at], self._schema.names[at]
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise ValueError(f"column {column!r} does not hold numbers but {str(kind)[:40]}")
        if self._schema.names.count(name) > 1:
            raise ValueError(f"column {name!r} stands more than once in {self._name}: give its columns different names")
        try:
            pieces, rows = [], 0
            for batch in self._file.iter_batches(_PIECE, columns=[name]):
                rows += len(batch)
                if rows > MOST_ROWS:
                    raise ValueError
                numbers = compute.cast(batch.column(0), pa.float64(), safe=False)
                pieces.append(numbers.to_numpy(zero_copy_only=False))
            return np.concatenate(pieces)
        except (pa.ArrowException, OSError, ValueError):
            raise ValueError(f"{self._name} cannot be read as Parquet: it is damaged") from None


def _delimiter(lines: list[str]) -> str:
    """What separates the cells: what cuts every line into as many; otherwise what cuts most lines alike."""
    widths = {}
    for delimiter in _DELIMITERS:
        try:
            widths[delimiter] = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        except csv.Error:
            continue
        if min(widths[delimiter]) == max(widths[delimiter]) > 1:
            return delimiter
    if all(_is_number(line) or line.strip().lower() in _EMPTY for line in lines[1:]) and "," not in lines[0]:
        return ";"  # one column, with decimal commas perhaps
    cuts = {delimiter: sum(width > 1 for width in found) for delimiter, found in widths.items()}
    return max(cuts, key=cuts.get, default=",")


def _has_header(rows: list[list[str]], name: str) -> bool:
    """Whether the first row holds names: none of its cells is a number, a mark for nothing, or looks like those below.

    Looks like: is the same, or the same but for its digits, as $50 and $60 are. A cell with digits over cells with
    digits, or over nothing, may be a name (income 2020) or somebody's value (73 913): nobody but the reader can tell.
    """
    unclear = False
    for at, cell in enumerate(rows[0]):
        if _number(cell.replace(",", ".", 1)) is not None or (cell and cell.lower() in _EMPTY):
            return False
        below = [row[at] for row in rows[1:] if row[at].lower() not in _EMPTY]
        if cell and _shape(cell) in map(_shape, below):
            return False
        if any(map(str.isnumeric, cell)):
            unclear = unclear or not below or any(any(map(str.isnumeric, other)) for other in below)
    if unclear:
        raise UnclearFirstRowError(f"{name} has a first row that may hold names or be a person's: say which it is")
    return True


def _shape(cell: str) -> str:
    return re.sub(r"\d+", "0", cell)


def _told_apart(names: list[str]) -> list[str]:
    found: dict[str, None] = {}
    again: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        name = base = " ".join(name.split())[:200] or f"column {number}"
        while name in found:
            again[base] = again.get(base, 1) + 1
            name = f"{base} ({again[base]})"
        found[name] = None
    return list(found)


def _is_number(text: str) -> bool:
    number = _number(text.replace(",", ".", 1))
    return number is not None and math.isfinite(number)


def _number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _cells(rows: np.ndarray) -> str:
    first = f"the first in row {int(rows[0]) + 1}"
    return f"{rows.size} cells ({first}) that are" if rows.size > 1 else f"a cell (row {int(rows[0]) + 1}) that is"


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:20])
    return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")
