"""The ``explorer`` command. Every subcommand prints a readable table, or exact JSON with ``--json``.

A wrong value gets one clear line on standard error and exit code 2, never a traceback. An interruption gets none
either, and code 130, however early it comes: hence nothing is imported outside of ``main``.
"""


def main(arguments: list[str] | None = None) -> int:
    """Carry out a command, that of the shell if ``arguments`` is None; returns the exit code."""
    try:
        from explorer.commands.terminal import interruption

        if arguments is None:
            interruption.watch()
        from explorer.commands.terminal.running import run

        return run(arguments)
    except KeyboardInterrupt:
        return 130
