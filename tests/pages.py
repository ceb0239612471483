"""The pages that people read, and the code and commands that stand in them."""

import re
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
#: All but the reference, whose examples are those of the docstrings.
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "reference"),
]


class Block(NamedTuple):
    """A fenced block: its language, text and first line, and the text of a ``text`` block right after it."""

    language: str
    text: str
    line: int
    output: str | None


def named(path: Path) -> str:
    """How a page is called in messages."""
    return str(path.relative_to(ROOT))


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page."""
    text = path.read_text(encoding="utf-8")
    fences = list(re.finditer(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE))
    found = []
    for fence, after in zip_longest(fences, fences[1:]):
        follows = after and after[1] == "text" and not text[fence.end() : after.start()].strip()
        line = text.count("\n", 0, fence.start(2)) + 1
        found.append(Block(fence[1], fence[2], line, after[2] if follows else None))
    return found


def commands(block: Block) -> list[tuple[str, str]]:
    """What is typed in a ``console`` block, and what it prints."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, flags=re.MULTILINE)
