"""What ``panel serve explorer/app.py`` serves: composes the views, nothing else."""

import json
import os

import panel as pn

from explorer import extensions

extensions.load()  # before the page is made, whose controls list what is registered
from explorer.views.dashboard import Dashboard  # noqa: E402

pn.extension()
search = pn.state.location.search if pn.state.location else ""
lessons = json.loads(os.environ.get("EXPLORER_LESSONS", "{}"))
Dashboard(search, lessons).page().servable()
