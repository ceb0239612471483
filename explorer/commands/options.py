"""What several commands take."""

import argparse
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


class Listed(str):
    """Help that lists what is registered, found when it is printed: to look it up loads the engine."""

    def __new__(cls, registry: str, default: str, before: str = ""):
        made = super().__new__(cls, f"{before}{default} (default), ...")
        made.registry, made.default, made.before = registry, default, before
        return made

    def found(self) -> str:
        import explorer as ex

        names = [f"{name} (default)" if name == self.default else name for name in getattr(ex, self.registry)]
        return self.before + ", ".join(names)


def add_work(parser: argparse.ArgumentParser) -> None:
    """What all that takes long has in common."""
    parser.add_argument("--seed", type=int, default=1, metavar="K", help="random seed (default 1)")
    parser.add_argument("--workers", type=int, metavar="K", help="processes (as many as cores)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="of a Dask cluster to work on, such as tcp://10.0.0.1:8786"
    )


def settle(options: argparse.Namespace, matter: bool, why_not: str, **defaults) -> None:
    """Give options that were not given their defaults; refuse those that were given, unless they matter.

    >>> settle(argparse.Namespace(keep=3), False, "needs --out", keep=20)
    Traceback (most recent call last):
    ValueError: --keep needs --out
    """
    for name, default in defaults.items():
        given = getattr(options, name)
        if given is None or given is False:
            setattr(options, name, default)
        elif not matter:
            raise ValueError(f"--{name.replace('_', '-')} {why_not}")


def settle_delta(options: argparse.Namespace, mechanisms: Iterable[str]) -> None:
    """Settle --delta; a mechanism that nobody knows is refused elsewhere."""
    from explorer.engine.mechanisms import DEFAULT_DELTA, MECHANISMS

    taking = MECHANISMS.taking("delta")
    matters = not set(mechanisms) <= set(MECHANISMS) - set(taking)
    settle(options, matters, f"is for the {' or '.join(taking)} mechanism, and there is none", delta=DEFAULT_DELTA)


def settle_work(options: argparse.Namespace) -> None:
    """Settle what ``add_work`` adds."""
    settle(options, options.scheduler is None, "has no effect with --scheduler", workers=None)


def family_of(options: argparse.Namespace):
    """The family that --family and --df name."""
    import explorer as ex

    return ex.family(options.family, **({} if options.df is None else {"df": options.df}))


def check_out(path: str | None, ending: str) -> None:
    """Tell before the work begins, and not after it, if --out cannot be written; a file of that name is replaced."""
    if path:
        check_file("--out", path, (ending,), force=True)


def check_file(option: str, path: str, endings: tuple[str, ...], force: bool) -> None:
    """Tell before the work begins if the file of an option cannot be written, or, unless forced, is there already."""
    place = Path(path)
    if place.suffix not in endings:
        raise ValueError(f"{option} must end in {' or '.join(endings)}, got {path!r}")
    try:
        if not place.parent.is_dir():
            raise ValueError(f"{option} {path} cannot be written: there is no such folder")
        if place.is_dir():
            raise ValueError(f"{option} {path} cannot be written: it is a folder")
        if place.exists() and not force:
            raise ValueError(f"{option} {path} exists already: take another name, or add --force to replace it")
        if place.exists() and not os.access(place, os.W_OK):
            raise PermissionError(0, "it is read-only")
        probe = _part_of(place)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise not_written(option, path, error) from None


@contextmanager
def new_file(option: str, path: str) -> Iterator[BinaryIO]:
    """A file to write bytes to; it gets its name when it is complete, so that half of one never has it."""
    part = _part_of(Path(path))
    try:
        try:
            with part.open("xb") as file:
                yield file
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise not_written(option, path, error) from None


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")


def not_written(option: str, path: str, error: OSError) -> ValueError:
    return ValueError(f"{option} {path} cannot be written: {error.strerror or error}")
