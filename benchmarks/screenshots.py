"""``python -m benchmarks screenshots`` takes the README's pictures from the running app, into ``docs``."""

from benchmarks.browser import HERE, chromium, served

#: Name, address and size of each picture.
PICTURES = (
    ("live_run", "app?epsilon=5", (1280, 1230)),
    ("fisher_map", "app?tab=fisher&epsilon=2", (1280, 1330)),
    ("mechanism", "app?tab=mechanism&epsilon=2&manual=true&interval=-1,1.5", (1280, 900)),
    ("compare", "app?tab=compare&methods=adaptive,fixed,oracle&replicates=30", (1280, 1260)),
)


def run() -> None:
    folder = HERE.parent / "docs"
    folder.mkdir(exist_ok=True)
    with chromium() as browser:
        if browser is None:
            raise SystemExit("screenshots need Chromium and Playwright")
        with served() as (address, _):
            for name, page_address, (width, height) in PICTURES:
                page = browser.new_page(viewport={"width": width, "height": height})
                page.goto(address + page_address)
                page.locator("canvas >> visible=true").first.wait_for(timeout=60_000)
                if name == "compare":
                    page.get_by_role("button", name="Run", exact=True).click()
                    page.get_by_text("Done").first.wait_for(timeout=600_000)
                else:
                    page.get_by_text("final", exact=True).first.wait_for(timeout=60_000)
                page.wait_for_timeout(8000)
                page.screenshot(path=folder / f"{name}.png")
                page.close()
                print(f"Wrote docs/{name}.png")
