"""Tables, progress bars and failures on a terminal."""

import sys
from collections.abc import Iterable
from contextlib import contextmanager

#: The steps of a run that its table shows, beside the last.
SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)


def print_table(header: list[str], rows: Iterable[list[str]]) -> None:
    """Columns under their heads, right-aligned."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in [header, *rows]:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


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
