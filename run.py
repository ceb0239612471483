"""Set everything up in a fresh folder and go; needs nothing but Python.

    python run.py serve     start the app (any other explorer command works too: python run.py fisher)
    python run.py test      install the test tools, check style and types, run the tests in two processes (arguments
                            go to pytest; -n sets the number of processes)
    python run.py bench     measure

The virtual environment ``.venv`` beside this file (``EXPLORER_VENV`` names another) is made on first use and brought
up to date whenever ``pyproject.toml`` changes.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / (os.environ.get("EXPLORER_VENV") or ".venv")
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def install(extra: str) -> None:
    """Install the project with one of its extras, unless this very version of it is installed already."""
    stamp = ENVIRONMENT / f"installed{extra}"
    wanted = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    for done in (stamp, ENVIRONMENT / "installed[test]"):  # the test tools come on top of everything else
        if PYTHON.exists() and done.exists() and done.read_text() == wanted:
            return
    if not PYTHON.exists():
        print(f"Making a virtual environment in {ENVIRONMENT.name} ...", flush=True)
        new = not ENVIRONMENT.exists()
        try:
            venv.create(ENVIRONMENT, with_pip=True)
        except subprocess.CalledProcessError:
            if new:
                shutil.rmtree(ENVIRONMENT, ignore_errors=True)
            sys.exit("This Python cannot make virtual environments (on Debian: apt-get install python3-venv)")
    print("Installing Explorer and what it needs (a minute or two, once) ...", flush=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", f"{ROOT}{extra}"], check=True)
    stamp.write_text(wanted)


def in_parallel(arguments: list[str]) -> list[str]:
    """Pytest's arguments, with two processes unless they say how many, or ask for a debugger, which needs just one."""
    said = any(argument.startswith(("-n", "--numprocesses", "--pdb", "--trace")) for argument in arguments)
    return arguments if said else ["-n", "2", *arguments]


def main(arguments: list[str]) -> int:
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what somebody with an older Python runs first
        print(f"Explorer needs Python 3.11 or newer, this is {sys.version.split()[0]}", file=sys.stderr)
        return 2
    if arguments[:1] in ([], ["-h"], ["--help"]):
        print(__doc__)
        return 0 if arguments else 2
    try:
        if arguments[0] == "bench":
            install("")
            return subprocess.run([PYTHON, "-m", "benchmarks", *arguments[1:]], cwd=ROOT).returncode
        if arguments[0] != "test":
            install("[opendp]")  # safe noise for real data
            return subprocess.run([PYTHON, "-m", "explorer", *arguments]).returncode
        install("[test]")
        pytest = ["pytest", *in_parallel(arguments[1:])]
        for step in (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], pytest):
            code = subprocess.run([PYTHON, "-m", *step], cwd=ROOT).returncode
            if code:
                return code
        return 0
    except subprocess.CalledProcessError as error:
        print(f"Could not install: pip ended with code {error.returncode}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
