"""``python -m benchmarks screenshots`` takes the README's pictures from the running app, into ``docs``."""

from pathlib import Path

import numpy as np

from benchmarks.browser import HERE, chromium, served

#: Name, address and size of each picture.
PICTURES = (
    ("live_run", "app?epsilon=5", (1280, 1230)),
    ("fisher_map", "app?tab=fisher&epsilon=2", (1280, 1330)),
    ("mechanism", "app?tab=mechanism&epsilon=2&manual=true&interval=-1,1.5", (1280, 900)),
    ("plan", "app?tab=plan&sigma=8&epsilon=1&standard_error=0.5", (1280, 860)),
    ("your_data", "app?tab=data&epsilon=4&mechanism=piecewise", (1280, 1150)),
    ("compare", "app?tab=compare&methods=adaptive,fixed,oracle&replicates=30", (1280, 1260)),
)
#: In small form: one that is only opened, and one that has to be filled in.
SMALL = "mechanism", "your_data"


def run(small: bool = False, folder: Path = HERE.parent / "docs") -> None:
    folder.mkdir(exist_ok=True)
    with chromium() as browser:
        if browser is None:
            print("screenshots: no Chromium or no Playwright on this machine, skipped")
            return
        with served() as (address, _):
            for name, page_address, (width, height) in PICTURES:
                if small and name not in SMALL:
                    continue
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(address + page_address)
                page.locator("canvas >> visible=true").first.wait_for(timeout=60_000)
                page.wait_for_timeout(1000 if small else 4000)
                if name == "your_data":
                    _collect(page)
                elif name == "compare":
                    page.get_by_role("button", name="Run", exact=True).click()
                    page.get_by_text("Done").first.wait_for(timeout=600_000)
                else:
                    page.get_by_text("final", exact=True).first.wait_for(timeout=60_000)
                page.wait_for_timeout(1000 if small else 8000)
                page.screenshot(path=folder / f"{name}.png")
                page.close()
                print(f"Wrote {folder.name}/{name}.png")


def _collect(page) -> None:
    """A made-up file, asked privately."""
    ages = np.random.default_rng(1).normal(44, 8, 2000)
    content = "name,age\n" + "".join(f"person {k},{age:.2f}\n" for k, age in enumerate(ages))
    page.locator("input[type=file]").set_input_files(
        {"name": "people.csv", "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.get_by_text("people.csv: 2 columns").wait_for()
    page.get_by_role("combobox", name="Column").click()
    page.get_by_role("menuitem", name="age", exact=True).click()
    page.get_by_label("Wanted width of the 95 % interval", exact=True).click()
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    page.keyboard.press("Tab")
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Collect").click()
    page.get_by_text("After 1000 people").wait_for(timeout=60_000)
