"""``python -m explorer`` is the ``explorer`` command."""

import sys

from explorer.cli import main

sys.exit(main())
