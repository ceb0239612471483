"""``python -m benchmarks`` (or ``python run.py bench``) prints every figure, as a ratio within one run where it can.

Name some to run only those: ``python -m benchmarks information``. ``crowd`` takes six minutes and is only run when
named, and so are ``screenshots``, which go into the README. ``--small`` is what the tests run: every line of code, at
sizes that show whether it works and not how fast it is. Ends with code 1 if a target is missed.

Each benchmark is a module with a function ``run(small)``; one that needs what is not installed says so in one line.
"""

import importlib
import sys

from benchmarks import timing

ALL = ("information", "likelihood", "sampling", "secure", "start", "stopping", "dashboard")
#: Only when named.
LONG = ("crowd", "screenshots")


def main(arguments: list[str]) -> int:
    small = "--small" in arguments
    names = [argument for argument in arguments if argument != "--small"]
    unknown = set(names) - {*ALL, *LONG}
    if unknown:
        print(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(ALL + LONG)}", file=sys.stderr)
        return 2
    timing.missed.clear()
    for name in names or ALL:
        importlib.import_module(f"benchmarks.{name}").run(small)
    return 1 if timing.missed and not small else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
