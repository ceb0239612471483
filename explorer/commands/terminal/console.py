"""What is printed can be read wherever it is printed, also where there is no UTF-8.

    >>> "F[μ,μ] = 0.1 ± 0.02".encode("ascii", ERRORS)
    b'F[mu,mu] = 0.1 +- 0.02'
    >>> "± of µ in 東京".encode("latin-1", ERRORS).decode("latin-1")
    '± of µ in \\\\u6771\\\\u4eac'

Files are not touched by this: they are UTF-8 everywhere.
"""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: The name of the error handler, as ``str.encode`` takes it.
ERRORS = "explorer.spelled_out"

_SPELLED_OUT = {
    "μ": "mu",
    "µ": "mu",
    "σ": "sigma",
    "ε": "epsilon",
    "δ": "delta",
    "θ": "theta",
    "ϑ": "theta",
    "±": "+-",
    "−": "-",
    "–": "-",
    "—": "-",
    "·": "*",
    "×": "x",
    "√": "sqrt ",
    "≤": "<=",
    "≥": ">=",
    "∞": "inf",
    "…": "...",
    "’": "'",
    "‘": "'",
    "“": '"',
    "”": '"',
    "²": "^2",
    "³": "^3",
    "⁴": "^4",
    "→": "->",
    "←": "<-",
    "\u00a0": " ",
    "\u202f": " ",
}


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    """A symbol in ASCII; one that nobody thought of as its number, which is better than no output."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return "".join(_SPELLED_OUT.get(sign) or ascii(sign)[1:-1] for sign in wrong), error.end


codecs.register_error(ERRORS, _spelled_out)


def open_streams() -> None:
    """Where standard streams were closed before the start, open the null device in their place.

    Python has None for them. Worse, the next file that is opened would get their number, and what a library writes to
    standard error would go into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r", encoding="utf-8"))  # noqa: SIM115


@contextmanager
def readable() -> Iterator[None]:
    """Within, printing never fails for a symbol. The streams are left as they were."""
    # Streams that hold text, such as a StringIO, take every symbol and cannot be reconfigured.
    streams = [stream for stream in (sys.stdout, sys.stderr) if hasattr(stream, "reconfigure")]
    before = [stream.errors for stream in streams]
    _set_errors(streams, [ERRORS] * len(streams))
    try:
        yield
    finally:
        _set_errors(streams, before)


def _set_errors(streams: list, errors: list[str]) -> None:
    for stream, handler in zip(streams, errors, strict=True):
        with suppress(OSError, ValueError):  # nobody reads it any more, or somebody has closed it
            stream.reconfigure(errors=handler)


def printable(text: str) -> str:
    """The text as standard output will show it, so that columns can be aligned."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, ERRORS).decode(encoding)


def one_line(message: object) -> str:
    """A message without line breaks and control characters, and not as long as a file."""
    text = " ".join(str(message).split())
    text = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    return text if len(text) <= 500 else f"{text[:400]} ... {text[-90:]}"


def flush() -> None:
    """Write what was printed now, as at the end of Python nobody could tell that it failed."""
    for stream in (sys.stdout, sys.stderr):
        if not stream.closed:
            stream.flush()


def give_up_output() -> None:
    """Nobody takes the output: what is still to be written goes nowhere, and so not into an error at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or not a file
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
