"""The options of all commands."""

import argparse
import math
import re

from explorer import extensions
from explorer.commands import audit, collect, fisher, reproduce, serve, simulate, study
from explorer.commands.options import Listed
from explorer.commands.terminal.console import one_line

_COMMANDS = (fisher, simulate, study, reproduce, audit, collect, serve)


class _Parser(argparse.ArgumentParser):
    """Tells a mistake in one line, and takes -1e-3 and -inf for numbers and not for options."""

    def __init__(self, **options):
        self.made: list[argparse.Action] = []
        super().__init__(**options, allow_abbrev=False)
        self._negative_number_matcher = re.compile(r"^-(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^-inf$|^-nan$")
        self.register("type", int, _whole_number)
        self.register("type", float, _number)

    def add_argument(self, *names, **options):
        if options.get("action", "extend") == "extend":
            options.setdefault("type", _word)
        self.made.append(super().add_argument(*names, **options))
        return self.made[-1]

    def print_help(self, file=None) -> None:
        for action in self.made:
            if isinstance(action.help, Listed):
                extensions.load()
                action.help = action.help.found()
        print(self.format_help(), end="", file=file)  # argparse's own does not tell if it could not be written

    def error(self, message: str):
        self.exit(2, f"{self.prog}: {one_line(message)} (try {self.prog} --help)\n")


class _Version(argparse.Action):
    """Prints the version and ends; it is looked up only then."""

    def __init__(self, option_strings, dest, **options):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the version and exit")

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        from importlib.metadata import version

        print(f"explorer {version('explorer')}")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="explorer",
        description="Adaptive, differentially private online estimation: see it, use it, teach it.",
        epilog='With --json, missing numbers are null, and infinite ones are the strings "Infinity" and "-Infinity". '
        "Exit codes: 0 success, 1 a run failed or a claim was refuted, 2 invalid arguments, 130 interrupted.",
    )
    parser.add_argument("--version", action=_Version)
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(dest="command", parser_class=_Parser, metavar="command")
    for command in _COMMANDS:
        command.add(commands)
    return parser


def _whole_number(text: str) -> int:
    if not text.isascii():  # Python reads the digits of all scripts
        raise ValueError
    return int(text)


def _number(text: str) -> float:
    if not text.isascii():
        raise ValueError
    number = float(text)
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"must be a finite number, got {text!r}")
    return number


def _word(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("must not be empty")
    return text
