"""Tables, JSON, progress bars and failures on a terminal."""

import json
import math
import sys
from collections.abc import Iterable
from contextlib import contextmanager

from explorer.commands.terminal.console import printable

#: The steps of a run that its table shows, beside the last.
SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def print_table(header: list[str], rows: Iterable[list[str]]) -> None:
    """Columns under their heads, right-aligned."""
    lines = [[printable(cell) for cell in line] for line in (header, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def print_json(found) -> None:
    """JSON that every parser takes, with numbers to their last digit.

    JSON knows no NaN, which becomes null, and no infinity, which becomes the text "Infinity" or "-Infinity".
    """
    print(json.dumps(_plain(found), indent=2, allow_nan=False))


def _plain(value):
    """The same with the types and numbers that JSON has."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # an array of NumPy's, or one of its numbers
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


@contextmanager
def bar():
    """One progress bar, on a terminal; what it yields is the ``progress`` of a study."""
    from tqdm import tqdm

    with tqdm(unit=" runs", disable=not sys.stderr.isatty(), leave=False, smoothing=0.05) as bar:

        def progress(row: dict, done: int, total: int) -> None:
            bar.total = total
            bar.set_description(f"{row['method']}, {row['mechanism']}, ε = {row['epsilon']:g}", refresh=False)
            bar.update(done - bar.n)

        yield progress


def told_failures(table) -> int:
    """Tell of runs that failed; the exit code."""
    failed = table[table["error"].notna()]
    if failed.empty:
        return 0
    print(f"{len(failed)} of {len(table)} replicates failed, the first: {failed['error'].iloc[0]}", file=sys.stderr)
    return 1
