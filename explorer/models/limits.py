"""What one visitor may ask of a server that others use too.

``EXPLORER_COMPUTATIONS`` and ``EXPLORER_UPLOAD_MB`` set two of the limits; ``explorer serve`` has options for them.
"""

import os

#: N·n of one run, at most; the paper's own sampler costs more with each answer.
MOST_WORK, MOST_LATENT_WORK = 25_000_000, 1_000_000
#: N·n of all runs of a comparison together.
MOST_COMPARED = 10_000_000_000


def computations() -> int:
    """So many computations run at the same time; further ones wait in a queue."""
    return _whole("EXPLORER_COMPUTATIONS", (os.cpu_count() or 1) + 4)


def largest_upload() -> int:
    """Bytes that an uploaded file has at most."""
    return 1_000_000 * _whole("EXPLORER_UPLOAD_MB", 20)


def check_work(sampler: str, particles: int, n: int, runs: int = 1) -> None:
    """A ValueError if this is more than a server should be asked for."""
    most = MOST_LATENT_WORK if sampler == "resample_move" else MOST_WORK
    if particles * n > most:
        raise ValueError(
            f"N·n = {particles * n:,} is above {most:,}, the most for one run of {sampler} here: take fewer particles "
            "or individuals, or run it from Python"
        )
    if particles * n * runs > MOST_COMPARED:
        raise ValueError(
            f"{runs:,} runs with N·n = {particles * n:,} are more than fit here: take fewer, or explorer study"
        )


def _whole(name: str, default: int) -> int:
    given = os.environ.get(name, "")
    return max(1, int(given)) if given.isdigit() else default
