"""What ``panel serve explorer/app.py`` serves: composes the views, nothing else."""

import panel as pn

from explorer.views.dashboard import Dashboard

pn.extension()
search = pn.state.location.search if pn.state.location else ""
Dashboard(search).page().servable()
