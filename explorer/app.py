"""What ``panel serve explorer/app.py`` serves: composes the views, nothing else."""

import panel as pn
import panel_material_ui as pmui

from explorer.views.fisher_map import FisherMap

pn.extension()
view = FisherMap()
pmui.Page(
    title="Explorer: what one private answer tells",
    sidebar=[view.controls],
    main=[view.main],
).servable()
