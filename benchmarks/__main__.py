"""``python -m benchmarks`` (or ``python run.py bench``) prints every figure, as a ratio within one run where it can.

Name some to run only those: ``python -m benchmarks information``. ``crowd`` takes six minutes and is only run when
named, and so are ``screenshots``, which go into the README. Ends with code 1 if a target is missed.
"""

import importlib
import sys

from benchmarks import timing

ALL = ("information", "likelihood", "sampling", "secure", "start", "stopping", "dashboard")
#: Only when named.
LONG = ("crowd", "screenshots")

if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - {*ALL, *LONG}
    if unknown:
        print(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(ALL + LONG)}", file=sys.stderr)
        sys.exit(2)
    for name in sys.argv[1:] or ALL:
        importlib.import_module(f"benchmarks.{name}").run()
    sys.exit(1 if timing.missed else 0)
