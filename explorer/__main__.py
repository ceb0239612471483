"""``python -m explorer`` is the ``explorer`` command."""

import sys

try:
    from explorer.cli import main
except KeyboardInterrupt:  # before the command could begin
    sys.exit(130)

sys.exit(main())
