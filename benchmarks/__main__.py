"""``python benchmarks`` prints every figure, as a ratio of two things measured in the same run.

Name some to run only those: ``python benchmarks information``.
"""

import importlib
import sys

ALL = ("information", "likelihood", "start")

if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(ALL)
    if unknown:
        sys.exit(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    for name in sys.argv[1:] or ALL:
        importlib.import_module(name).run()
