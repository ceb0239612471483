"""``explorer serve``: the app in the browser."""

import argparse
from pathlib import Path

#: Beside the package, in a copy of the whole project.
NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


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
        "--computations", type=int, metavar="K", help="so many run at once, others wait (default: cores + 4)"
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
