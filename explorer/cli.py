"""The ``explorer`` command. Every subcommand prints a readable table, or exact JSON with ``--json``.

A wrong value gets one clear line on standard error and exit code 2, never a traceback.
"""

import argparse
import re
import sys
from collections.abc import Sequence

from explorer.commands import audit, collect, fisher, reproduce, serve, simulate, study

_COMMANDS = (fisher, simulate, study, reproduce, audit, collect, serve)


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, and takes -1e-3 and -inf for numbers and not for options."""

    def __init__(self, **options):
        super().__init__(**options, allow_abbrev=False)
        self._negative_number_matcher = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^-inf$|^-nan$")

    def error(self, message: str):
        self.exit(2, f"{self.prog}: {message} (try {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _build_parser()
    options = parser.parse_args(arguments)
    options.from_shell = arguments is None  # and not called by a program, which goes on afterwards
    if options.run is None:
        parser.print_help()
        return 2
    try:
        return options.run(options)
    except ValueError as error:
        print(f"explorer {options.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader, such as head, has seen enough
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        return 130
    except SystemError as error:  # an interruption that fell between two kernels
        if isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            return 130
        raise


def _build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="explorer", description="Adaptive, differentially private online estimation: see it, use it, teach it."
    )
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(dest="command", parser_class=_Parser, metavar="command")
    for command in _COMMANDS:
        command.add(commands)
    return parser
