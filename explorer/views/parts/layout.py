"""How the parts of a tab are arranged: in rows that wrap on a narrow screen."""

import panel as pn


def side_by_side(*parts, narrowest: int = 400) -> pn.Row:
    """Beside each other where there is room, below each other on a phone."""
    for part in parts:
        part.styles = {"flex": f"1 1 {narrowest}px", "min-width": "280px"}
    return wrapped(*parts)


def in_pairs(*parts) -> list[pn.Row]:
    """Two in each row, on a screen of any width: those of one row belong together."""
    return [side_by_side(*pair) for pair in zip(parts[::2], parts[1::2], strict=True)]


def wrapped(*parts) -> pn.Row:
    """A row that goes on in the next line where it is too long."""
    # Not a FlexBox: Bokeh never counts the figures in it as finished, so that the page is never told to be loaded.
    return pn.Row(*parts, sizing_mode="stretch_width", styles={"flex-wrap": "wrap"})
