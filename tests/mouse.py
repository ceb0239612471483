"""A hand on the mouse."""


def drag(slider, pixels: int) -> None:
    """Take a slider's handle, pull it to the right (or to the left), and let go."""
    slider.scroll_into_view_if_needed()
    box, mouse = slider.bounding_box(), slider.page.mouse
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + pixels, y, steps=abs(pixels) // 4)
    mouse.up()
