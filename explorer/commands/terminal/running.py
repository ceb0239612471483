"""Carrying out a command: what it prints gets out whole, and what goes wrong is told in one line."""

import sys
from collections.abc import Sequence

from explorer import extensions
from explorer.commands.terminal import console, interruption

#: What the caller can mend. Anything else is a fault of the program, and shows where.
_MISTAKES = ValueError, OverflowError, OSError, MemoryError


def run(arguments: Sequence[str] | None) -> int:
    """The exit code of a command; with None, that of the shell."""
    from_shell = arguments is None  # and not called by a program, which goes on afterwards
    if from_shell:
        console.open_streams()
    with console.readable():
        try:
            return _output_taken(_carry_out(arguments), from_shell)
        except SystemExit as ended:  # argparse has printed its help, or a mistake
            ended.code = _output_taken(ended.code, from_shell)
            raise
        except BrokenPipeError:  # the reader, such as head, has seen enough
            return _output_taken(0, from_shell)


def _carry_out(arguments: Sequence[str] | None) -> int:
    who = "explorer"
    interruption.begin()
    try:
        from explorer.commands.limits import check_sizes
        from explorer.commands.parser import build_parser

        parser = build_parser()
        options = parser.parse_args(arguments)
        if options.run is None:
            parser.print_help()
            return 2
        who = f"explorer {options.command}"
        options.from_shell = arguments is None
        extensions.load()
        check_sizes(options)
        return options.run(options)
    except Exception as error:
        if interruption.caused(error):
            return interruption.CODE
        if isinstance(error, BrokenPipeError) or not isinstance(error, _MISTAKES):
            raise
        print(f"{who}: {console.one_line(_said(error))}", file=sys.stderr)
        return 2
    finally:
        interruption.end()


def _said(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _output_taken(code: int, from_shell: bool) -> int:
    """The exit code, once all that was printed is written."""
    try:
        console.flush()
    except OSError as error:
        if not (isinstance(error, BrokenPipeError) or code):
            print(f"explorer: the output cannot be written: {error.strerror or error}", file=sys.stderr)
            code = 2
        if from_shell:
            console.give_up_output()
    return code
