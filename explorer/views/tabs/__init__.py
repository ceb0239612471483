"""One file a tab; ``register`` adds one to the page."""

from explorer.views.tabs.compare import Compare
from explorer.views.tabs.fisher_map import FisherMap
from explorer.views.tabs.learn import Learn
from explorer.views.tabs.live_run import LiveRun
from explorer.views.tabs.mechanism import MechanismView
from explorer.views.tabs.plan import Planner
from explorer.views.tabs.registry import register, registered, unregister
from explorer.views.tabs.tab import ComputedTab, Tab
from explorer.views.tabs.your_data import YourData

#: In the order in which the page shows them.
for _tab in (LiveRun, FisherMap, MechanismView, Compare, Planner, YourData, Learn):
    register(_tab)

__all__ = [
    "Compare",
    "ComputedTab",
    "FisherMap",
    "Learn",
    "LiveRun",
    "MechanismView",
    "Planner",
    "Tab",
    "YourData",
    "register",
    "registered",
    "unregister",
]
