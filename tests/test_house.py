"""The house has a room for each noun: imports go down only, rooms and files stay small, nobody asks for a kind."""

import ast
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "explorer"
#: The rooms of the engine from the ground up: each may use those before it.
ROOMS = ("compute", "population", "mechanisms", "information", "inference", "policy", "privacy", "run")
#: The floors from the ground up.
FLOORS = ("io", "engine", "studies", "models", "views")
MOST_LINES, MOST_FILES, MOST_ENTRIES, LONGEST_FUNCTION = 350, 12, 10, 60
SOURCES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.startswith("explorer.")]


def place(parts: tuple[str, ...], order: tuple[str, ...]) -> int | None:
    """How high up the first of these parts is."""
    return order.index(parts[0]) if parts and parts[0] in order else None


@pytest.mark.parametrize(("folder", "order"), [("explorer", FLOORS), ("explorer.engine", ROOMS)])
def test_imports_go_down_only(folder, order):
    root = PACKAGE.parent / folder.replace(".", "/")
    checked = 0
    for path in root.rglob("*.py"):
        own = place(path.relative_to(root).parts, order)
        for name in imported(path) if own is not None else []:
            other = place(tuple(name.removeprefix(f"{folder}.").split(".")), order) if name.startswith(folder) else None
            assert other is None or other <= own, f"{path.relative_to(PACKAGE)} imports {name}"
            checked += other is not None
    assert checked > 50


def test_the_engine_has_few_entries():
    assert {path.name for path in (PACKAGE / "engine").iterdir() if path.name != "__pycache__"} == {
        "__init__.py",
        *ROOMS,
    }
    assert len(ROOMS) + 1 <= MOST_ENTRIES


@pytest.mark.parametrize("folder", sorted({path.parent for path in SOURCES} - {PACKAGE}), ids=lambda path: path.name)
def test_no_room_is_crowded(folder):
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(files) <= MOST_FILES


def test_files_and_functions_stay_short():
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(PACKAGE)
        assert len(text.splitlines()) <= MOST_LINES, where
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                compiled = any(ast.unparse(one) in ("kernel", "inlined") for one in node.decorator_list)
                length = node.end_lineno - node.lineno + 1
                assert compiled or length <= LONGEST_FUNCTION, f"{where}: {node.name} has {length} lines"


def kinds(registry: str) -> tuple[set[str], set[str]]:
    """The names of all mechanisms or families, and of their classes but for the base class."""
    import explorer as ex

    found = getattr(ex, registry)
    return set(found), {cls.__name__ for cls in found.values()}


@pytest.mark.parametrize(("registry", "room"), [("MECHANISMS", "engine/mechanisms"), ("FAMILIES", "engine/population")])
def test_nobody_asks_which_kind_it_is(registry, room):
    """No type test and no comparison of names outside of the room: whoever needs to know asks the object."""
    names, classes = kinds(registry)
    for path in SOURCES:
        where = path.relative_to(PACKAGE).as_posix()
        if where.startswith(room):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass"):
                tested = set(re.findall(r"\w+", ast.unparse(node.args[1])))
                assert not tested & classes, f"{where}:{node.lineno} tests for {tested & classes}"
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                told = {side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)}
                assert not told & names, f"{where}:{node.lineno} compares with {told & names}"
