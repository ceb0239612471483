"""``explorer/__init__.pyi``: the public names as a type checker can read them, made from the one list of them.

Run ``python tests/public_names.py`` after a change of that list; a test compares the two.
"""

from pathlib import Path

import explorer

STUB = Path(explorer.__file__).with_suffix(".pyi")


def stub() -> str:
    lines = ["# Made by tests/public_names.py from the list in __init__.py: change that."]
    for home, names in explorer._HOMES.items():
        lines.append(f"from {home} import (")
        lines += [f"    {name} as {name}," for name in sorted(names)]
        lines.append(")")
    names = "".join(f'    "{name}",\n' for name in explorer.__all__)
    return "\n".join(lines) + f"\n\n__all__ = [\n{names}]\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
