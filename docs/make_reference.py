"""``python docs/make_reference.py`` writes the pages of ``docs/reference`` from the docstrings, and nothing else.

It looks at the public names of ``explorer`` alone. ``SUBJECTS`` says which page a name is on. A public name that
it does not list is documented at the end of the overview.
"""

import html
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import param

import explorer as ex

FOLDER = Path(__file__).with_name("reference")

#: Page, title, and what is on it, in the order in which a reader needs it.
SUBJECTS: tuple[tuple[str, str, str], ...] = (
    ("population", "Population", "family Family FAMILIES"),
    ("mechanisms", "Mechanisms", "Interval mechanism Mechanism MECHANISMS Privacy secure"),
    (
        "information",
        "Information",
        "log_likelihood log_likelihood_gradient fisher_information classical_information score_surface Surface "
        "score_function SCORES best_interval BestInterval NoBestIntervalError best_ldp LdpBest "
        "monte_carlo_information MonteCarloInformation",
    ),
    (
        "estimation",
        "Estimation",
        "OnlineEstimator Posterior Prior SemiConjugatePrior IndependentPrior Policy Fixed Oracle POLICIES Sampler "
        "SAMPLERS Info History ImpossibleAnswerError batch_posterior BATCH_SAMPLERS",
    ),
    ("simulation", "Simulation and studies", "simulate iter_simulation Step Trace study summary"),
    ("privacy", "Privacy", "audit audit_run adaptive_run AuditReport"),
    (
        "collecting",
        "Planning and collecting",
        "plan Option DataFile Column Collection Answered open_estimate OpenEstimate",
    ),
    ("views", "Views", "LiveRun FisherMap MechanismView Compare Planner YourData"),
)
#: Where to read more, by page.
_SEE = {
    "population": "[Extend it](../how-to/extend.md#a-family) explains the five functions of a family.",
    "mechanisms": "[Privacy and security](../explanation/privacy.md) says what `secure` promises, and "
    "[Extend it](../how-to/extend.md#a-mechanism) what a mechanism of your own needs.",
    "information": "Intervals [a, b] are for mu = 0 and sigma = 1. For any other (mu, sigma), ask for "
    "[mu + a sigma, mu + b sigma] and divide the information by sigma^2. See [The method](../explanation/method.md).",
    "estimation": "[The method](../explanation/method.md#the-choices) describes the samplers, policies and priors.",
    "simulation": "See [Run a study](../how-to/study.md).",
    "privacy": "See [Audit a mechanism](../how-to/audit.md).",
    "collecting": "See [Plan a survey](../how-to/plan.md) and [Collect answers](../how-to/collect.md).",
    "views": "See [Use it in Jupyter](../how-to/jupyter.md).",
}
#: Sections of numpydoc that are lists of names.
_LISTS = ("Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns")


def reference() -> dict[str, str]:
    """The pages of the reference as Markdown, by file name."""
    names = {page: [name for name in listed.split() if name in ex.__all__] for page, _, listed in SUBJECTS}
    overview = [
        "# Reference",
        "Everything that `import explorer as ex` offers. `python docs/make_reference.py` writes these pages from the "
        "docstrings; the tests run their examples.",
    ]
    pages = {}
    for page, title, _ in SUBJECTS:
        pages[f"{page}.md"] = _joined([f"# {title}", _SEE[page], *map(_entry, names[page])])
        rows = [f"| [`{name}`]({page}.md#{name}) | {_summary(name)} |" for name in names[page]]
        overview += [f"## {title}", "\n".join(["| name | purpose |", "|---|---|", *rows])]
    others = sorted(set(ex.__all__).difference(*names.values()))
    if others:
        overview += ["## Other names", *map(_entry, others)]
    return {"index.md": _joined(overview)} | pages


def _joined(parts: list[str]) -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).rstrip() + "\n"


def _summary(name: str) -> str:
    """The first sentence of a docstring, for a cell of a table."""
    thing = getattr(ex, name)
    if isinstance(thing, Mapping):
        return _cell(", ".join(f"`{key}`" for key in thing))
    return _cell(_text(inspect.getdoc(thing)).split("\n\n")[0].replace("\n", " "))


def _cell(text: str) -> str:
    """Text for a cell of a table, in which a bar does not end the cell; in a code span nothing could escape it."""
    text = re.sub(r"`([^`]*\|[^`]*)`", lambda code: f"<code>{html.escape(code[1])}</code>", text)
    return text.replace("|", "&#124;")


def _entry(name: str) -> str:
    thing = getattr(ex, name)
    lines = [f"## `ex.{name}` {{#{name}}}"]
    if isinstance(thing, Mapping):
        return _joined([*lines, "Names: " + ", ".join(f"`{key}`" for key in thing)])
    if callable(thing):
        lines.append(f"```python\n{name}{_signature(thing)}\n```")
    lines.append(_text(inspect.getdoc(thing)))
    if inspect.isclass(thing) and not issubclass(thing, param.Parameterized):
        lines += filter(None, (_member(member, value) for member, value in vars(thing).items()))
    return _joined(lines)


def _member(name: str, value) -> str | None:
    """A public method or property of a class, as an entry of a list."""
    if isinstance(value, classmethod | staticmethod):
        value = value.__func__
    doc = inspect.getdoc(value)
    if name.startswith("_") or not doc or doc.startswith("Alias for field") or not hasattr(value, "__get__"):
        return None
    call = _signature(value) if isinstance(value, Callable) else ""
    first, *rest = _text(doc).split("\n")
    return "\n".join([f"- **`.{name}{call}`**: {first}", *(f"    {line}" if line else "" for line in rest)])


def _signature(thing) -> str:
    if inspect.isclass(thing) and issubclass(thing, param.Parameterized):
        return "(**settings)"  # those of its model
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return "(...)"
    shown = [value for name, value in signature.parameters.items() if name not in ("self", "cls")]
    text = str(signature.replace(parameters=shown))
    text = re.sub(r"\bexplorer\.(?:\w+\.)*", "", text)
    text = re.sub(r"<(?:function )?[\w.<> ]+ at 0x\w+>", "...", text)
    text = text.replace("pandas.core.frame.", "pandas.")  # as older releases of pandas say
    text = re.sub(r"\bpathlib\.(_local\.)?", "", text)  # Python 3.13 says where within pathlib
    text = re.sub(r"\bnumpy\.(?:random\.)?(?:_\w+\.|bit_generator\.)?", "np.", text)
    return _broken(text.replace("collections.abc.", "").replace("typing.", ""))


def _broken(signature: str, width: int = 88) -> str:
    """A long signature with one argument on each line."""
    if len(signature) <= width:
        return signature
    depth, parts, start, quoted = 0, [], 1, False
    end = len(signature)
    for at, letter in enumerate(signature):
        quoted ^= letter == "'"
        depth += 0 if quoted else (letter in "([{") - (letter in ")]}")
        if depth == 0 and at:
            end = at
            break
        if letter == "," and depth == 1 and not quoted:
            parts.append(signature[start:at].strip())
            start = at + 1
    parts.append(signature[start:end].strip())
    return "(\n" + "".join(f"    {part},\n" for part in parts if part) + signature[end:]


def _text(doc: str | None) -> str:
    """A docstring as Markdown: its examples as code, numpydoc's sections as lists."""
    doc = re.sub(r":\w+:`", "`", (doc or "").replace("``", "`"))
    doc = re.sub(r" ?::$", ":", doc, flags=re.MULTILINE)
    head, *sections = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.MULTILINE)
    parts = [_examples(head)]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        parts += [f"**{title}**", _list(body) if title in _LISTS else _examples(body)]
    return "\n\n".join(part.strip("\n") for part in parts).rstrip()


def _list(body: str) -> str:
    """``x : float`` and its indented explanation, as entries of a list."""
    entries = re.findall(r"^(\S.*)\n((?:[ ]+.*\n?|\n)*)", body + "\n", flags=re.MULTILINE)
    return "\n".join(f"- `{head}`: {' '.join(_escaped(text).split())}".rstrip(": ") for head, text in entries)


def _examples(text: str) -> str:
    pieces = re.split(r"((?:^ *>>>.*\n?(?:^(?! *>>>) *\S.*\n?)*)+)", text, flags=re.MULTILINE)
    prose, code = pieces[::2], pieces[1::2]
    blocks = [f"\n```pycon\n{inspect.cleandoc(example)}\n```\n" for example in code]
    return "".join(a + b for a, b in zip(map(_escaped, prose), [*blocks, ""], strict=True))


def _escaped(text: str) -> str:
    """Prose in which a star is a star and not the start of emphasis; code and indented lines stay."""
    lines = []
    for line in text.split("\n"):
        if not line.startswith("    "):
            pieces = re.split(r"(`[^`]*`)", line)
            pieces[::2] = [piece.replace("*", r"\*") for piece in pieces[::2]]
            line = "".join(pieces)
        lines.append(line)
    return "\n".join(lines)


def write() -> None:
    FOLDER.mkdir(exist_ok=True)
    pages = reference()
    for old in FOLDER.glob("*.md"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"Wrote {len(pages)} pages to docs/reference")


if __name__ == "__main__":
    write()
