"""``python docs/make_reference.py`` writes ``docs/reference.md`` from the docstrings, and nothing else."""

import importlib
import inspect
import re
from pathlib import Path

import explorer as ex

TARGET = Path(__file__).with_name("reference.md")


#: The modules in the order in which data flow through them.
ORDER = (
    *("interval", "families", "mechanisms", "secure", "likelihood", "information", "optimum", "bound", "planner"),
    *("priors", "history", "samplers.posterior", "samplers.protocol", "truncation", "estimation", "batch_estimation"),
    *("simulation", "study", "summary", "audit", "data_file", "collection"),
)


def reference() -> str:
    """All public names, module by module, as Markdown."""
    parts = [
        "# Reference",
        "Everything that `import explorer as ex` offers. Made by `python docs/make_reference.py` from the docstrings; "
        "their examples are run by the tests.",
    ]
    homes: dict[str, list[str]] = {f"explorer.engine.{name}": [] for name in ORDER}
    for name in sorted(ex.__all__):
        thing = getattr(ex, name)
        if isinstance(thing, dict):
            continue
        homes.setdefault((thing if hasattr(thing, "__module__") else type(thing)).__module__, []).append(name)
    for home, names in homes.items():
        parts.append(f"## {home.removeprefix('explorer.').removeprefix('engine.')}")
        parts.append(_text(inspect.getdoc(importlib.import_module(home))))
        parts += [_entry(name, getattr(ex, name)) for name in names if callable(getattr(ex, name))]
    parts.append("## Names that strings may have")
    parts += [_entry(name, getattr(ex, name)) for name in sorted(ex.__all__) if isinstance(getattr(ex, name), dict)]
    return "\n\n".join(parts) + "\n"


def _entry(name: str, thing) -> str:
    if isinstance(thing, dict):
        return f"### `ex.{name}`\n\n" + ", ".join(f"`{key}`" for key in thing)
    lines = [f"### `ex.{name}`", f"```python\n{name}{_signature(thing)}\n```", _text(inspect.getdoc(thing))]
    if inspect.isclass(thing):
        for member, value in inspect.getmembers(thing):
            if member.startswith("_") or member not in vars(thing):
                continue
            doc = inspect.getdoc(value)
            if isinstance(value, property) and doc:
                lines.append(f"- **`.{member}`**: {_text(doc)}")
            elif inspect.isroutine(value) and doc:
                lines.append(f"- **`.{member}{_signature(value)}`**: {_text(doc)}")
    return "\n\n".join(lines)


def _signature(thing) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"
    text = re.sub(r"\bexplorer\.engine\.[\w.]*\.", "", text)
    text = re.sub(r"<function [\w.<>]+ at 0x\w+>", "...", text)
    text = text.replace("pandas.core.frame.", "pandas.")  # as older releases of pandas say
    text = re.sub(r"\bpathlib\.(_local\.)?", "", text)  # Python 3.13 says where within pathlib
    return text.replace("numpy.", "np.").replace("collections.abc.", "")


def _text(doc: str | None) -> str:
    """A docstring, with its examples as code."""
    doc = re.sub(r"``", "`", doc or "")
    return re.sub(r"((?:^ *(?:>>>|\.\.\. ).*\n?(?:^(?! *>>>).+\n?)*)+)", _code, doc, flags=re.MULTILINE)


def _code(example: re.Match) -> str:
    return f"```python\n{inspect.cleandoc(example[0])}\n```\n"


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    print(f"Wrote {TARGET.name}")
