"""``explorer serve``: the app in the browser."""

import argparse
import json
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
#: In an installed package inside it, in a copy of the whole project beside it.
NOTEBOOKS = (_PACKAGE if (_PACKAGE / "notebooks").is_dir() else _PACKAGE.parent) / "notebooks"


def add(commands) -> None:
    """The options."""
    serve = commands.add_parser("serve", help="start the app in the browser", description="Start the app.")
    serve.add_argument("--port", type=int, default=5006, metavar="P", help="port (0: any free one)")
    serve.add_argument("--address", default="127.0.0.1", metavar="A", help="address to listen on")
    serve.add_argument(
        "--allow-origin",
        nargs="+",
        metavar="HOST",
        help="also accept pages opened under these names (host or host:port)",
    )
    serve.add_argument(
        "--basic-auth", metavar="P", help="ask visitors for this password, or for those in this JSON file of users"
    )
    serve.add_argument(
        "--num-procs", type=int, default=1, metavar="K", help="processes that share the port (default 1)"
    )
    serve.add_argument(
        "--computations", type=int, metavar="K", help="maximum number of simultaneous computations (default: cores + 4)"
    )
    serve.add_argument("--max-upload", type=int, metavar="MB", help="largest file of Your data (default 20)")
    serve.add_argument(
        "--notebooks",
        nargs="?",
        const=str(NOTEBOOKS),
        metavar="FOLDER",
        help="also serve the teaching notebooks as pages (default: those of this project)",
    )
    serve.add_argument("--no-browser", action="store_true", help="do not open a browser")
    serve.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from explorer.server import serve, start_again_lean

    # All that can be known now is told now, and not after the kernels are ready.
    _check_users(options.basic_auth)
    _check_notebooks(options.notebooks)
    _check_place(options.address, options.port)
    if options.from_shell:
        start_again_lean()
    return serve(
        port=options.port,
        address=options.address,
        browser=not options.no_browser,
        allow_origin=options.allow_origin,
        basic_auth=options.basic_auth,
        num_procs=options.num_procs,
        computations=options.computations,
        max_upload=options.max_upload,
        notebooks=options.notebooks,
    )


def _check_users(given: str | None) -> None:
    """A password can be any text, but one that looks like a file of users must be one."""
    if given is None or not (given.endswith(".json") or Path(given).is_file()):
        return
    try:
        users = json.loads(Path(given).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"--basic-auth {given} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise ValueError(f"--basic-auth {given} is not a JSON file") from None
    if not (isinstance(users, dict) and users and all(isinstance(word, str) and word for word in users.values())):
        raise ValueError(f"--basic-auth {given} must hold a JSON object of users and their passwords")


def _check_notebooks(folder: str | None) -> None:
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise ValueError(f"--notebooks {folder}: there is no such folder")
    if not any(Path(folder).glob("*.ipynb")):
        raise ValueError(f"--notebooks {folder}: there are no notebooks in it")


def _check_place(address: str, port: int) -> None:
    from tornado.netutil import bind_sockets

    if not 0 <= port <= 65535:
        raise ValueError(f"port must lie between 0 and 65535, got {port}")
    try:
        for socket in bind_sockets(port, address):
            socket.close()
    except (OSError, UnicodeError) as error:  # the latter is what a name gets that no host can have
        told = getattr(error, "strerror", None) or error
        raise ValueError(f"port {port} on {address} cannot be used: {told}") from None
