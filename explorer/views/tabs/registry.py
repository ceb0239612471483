"""The tabs of the page, in their order.

A tab of your own joins them when its module is imported before the page is made::

    from explorer.views.tabs import Tab, register

    @register
    class Mine(Tab):
        id, title = "mine", "My tab"
        ...
"""

from explorer.views.tabs.tab import Tab

_REGISTERED: dict[str, type[Tab]] = {}


def register(tab: type[Tab]) -> type[Tab]:
    """Add a tab to the page. Raises ValueError if another class has its id."""
    known = _REGISTERED.get(tab.id, tab)
    # The same class again, from a notebook cell that runs twice, replaces itself.
    if (known.__module__, known.__qualname__) != (tab.__module__, tab.__qualname__):
        raise ValueError(f"there is already a tab {tab.id!r}: {known.__qualname__}")
    _REGISTERED[tab.id] = tab
    return tab


def unregister(tab_id: str) -> None:
    """Take a tab off pages that are made from now on."""
    _REGISTERED.pop(tab_id, None)


def registered() -> dict[str, type[Tab]]:
    """All tabs by their ids."""
    return dict(_REGISTERED)
