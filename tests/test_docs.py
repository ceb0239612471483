"""What the pages show is what happens, and the site that is made of them is whole and asks no other host."""

import io
import re
import shlex
from contextlib import redirect_stdout
from html.parser import HTMLParser
from runpy import run_path

import pytest
from pages import PAGES, ROOT, blocks, commands, named

from explorer.cli import main
from explorer.commands.parser import build_parser

DOCS = ROOT / "docs"
WITH_CODE = [path for path in PAGES if any(block.language == "python" for block in blocks(path))]
SHOWN = [
    pytest.param(command, output, id=f"{path.stem}-{command}")
    for path in PAGES
    for block in blocks(path)
    if block.language == "console"
    for command, output in commands(block)
]
TYPED = [
    (named(path), line.split("#")[0].strip())
    for path in PAGES
    for block in blocks(path)
    if block.language == "sh"
    for line in block.text.splitlines()
    if line.split("#")[0].strip()
]


@pytest.mark.parametrize("path", WITH_CODE, ids=named)
def test_the_python_of_a_page_runs_from_top_to_bottom_and_prints_what_is_shown(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{path.stem}.py"  # in a file, as a reader would have it: kernels are compiled from it
    names = {"__name__": "page"}
    for block in (block for block in blocks(path) if block.language == "python"):
        source = "\n" * (block.line - 1) + block.text  # a traceback names the line of the page
        script.write_text(source, encoding="utf-8")
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(source, str(script), "exec"), names)
        if block.output is not None:
            assert printed.getvalue() == block.output, f"{named(path)}, line {block.line}"


@pytest.mark.parametrize(("command", "output"), SHOWN)
def test_a_command_prints_what_is_shown(command, output, capsys):
    program, *arguments = shlex.split(command)
    assert program == "explorer"
    assert main(arguments) == (1 if "VIOLATION" in output else 0)
    printed = capsys.readouterr().out
    if arguments[0] == "simulate":
        assert_like(printed.splitlines(), output.splitlines())
    else:
        assert printed == output


def assert_like(here, there):
    """Another processor may round otherwise and so, in the end, accept another particle: the same story, not digits."""
    assert here[:3] == there[:3]
    assert [row.split()[0] for row in here[3:]] == [row.split()[0] for row in there[3:]]
    last_here, last_there = ([float(cell) for cell in lines[-1].split()] for lines in (here, there))
    assert abs(last_here[4] - last_there[4]) < 0.3
    assert abs(last_here[7] - last_there[7]) < 0.6


@pytest.mark.parametrize(("page", "line"), TYPED)
def test_a_command_that_is_not_run_here_is_one_that_there_is(page, line):
    line = line.removeprefix("python run.py ") if line.startswith("python run.py ") else line
    program, *arguments = shlex.split(line)
    if program == "explorer" or program in build_parser_words():
        arguments = arguments if program == "explorer" else [program, *arguments]
        assert build_parser().parse_args(arguments).run is not None
    elif line.startswith("python -m benchmarks"):
        for name in arguments[2:]:
            assert (ROOT / "benchmarks" / f"{name}.py").exists(), f"{page}: {line}"
    elif program == "python":
        assert arguments[0].startswith("-m") or (ROOT / arguments[0]).exists(), f"{page}: {line}"
    else:
        known = {"test", "bench", "pip", "pytest", "conda", "jupyter", "panel", "mkdocs", "ruff", "dask", "export"}
        assert program in known, f"{page}: {line}"


def build_parser_words():
    (action,) = (action for action in build_parser()._actions if action.dest == "command")
    return set(action.choices)


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_block_says_what_it_is(path):
    """Otherwise it would not be tested."""
    kinds = {"python", "text", "console", "sh", "bibtex"}
    assert {block.language for block in blocks(path)} <= kinds


def test_the_reference_is_made_from_the_docstrings():
    made = run_path(str(DOCS / "make_reference.py"))["reference"]()
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")}
    assert made == kept, "run python docs/make_reference.py"


def test_every_public_name_has_one_entry():
    import explorer as ex

    text = "".join(path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md"))
    assert sorted(re.findall(r"^## `ex\.(\w+)`", text, flags=re.MULTILINE)) == sorted(ex.__all__)


class Loaded(HTMLParser):
    """Collects the addresses of what a page loads; a link that a reader may follow is not loaded."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and (name in ("src", "srcset", "data", "poster") or (tag == "link" and name == "href")):
                self.addresses.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built with warnings as errors."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def test_the_site_is_built_without_a_warning(site):
    for path in PAGES[2:]:
        assert (site / path.relative_to(DOCS)).with_suffix(".html").exists()


def test_the_site_loads_nothing_from_another_host(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        seen = Loaded()
        seen.feed(page.read_text(encoding="utf-8"))
        assert seen.addresses
        elsewhere = [address for address in seen.addresses if re.match(r"\s*(\w+:)?//", address)]
        assert not elsewhere, f"{page.name}: {elsewhere}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:@import\s+|url\()[\"']?\s*(?:https?:)?//", text), sheet.name


@pytest.mark.parametrize("path", [*PAGES, ROOT / "mkdocs.yml", ROOT / "environment.yml"], ids=named)
def test_no_page_names_a_machine(path):
    text = path.read_text(encoding="utf-8")
    for wrong in ("/home/", "/root/", "/usr/", "C:\\"):
        assert wrong not in text, wrong
