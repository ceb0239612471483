"""From a slider to the picture, in a real browser: the Fisher map and the live run, beside one bare Bokeh image.

Times run from the key press (or the mouse) in the page to the frame in which the new data are painted.
"""

import statistics
import time

from benchmarks.browser import chromium, served
from benchmarks.timing import line

#: Notes the time of every frame that paints new data of an image.
_WATCH = """() => {
  window.painted = [];
  let waiting = false;  // several images that change together are one picture
  const note = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => { waiting = false; window.painted.push(performance.now()) };
      channel.port2.postMessage(0);
    });
  };
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type === 'ColumnDataSource' && 'image' in Object.fromEntries(
        model.data instanceof Map ? model.data : Object.entries(model.data))) {
      model.connect(model.properties.data.change, note);
    }
  }
}"""
_PRESS = """() => {
  window.painted = [];
  window.addEventListener('keydown', () => { window.pressed = performance.now() }, {once: true, capture: true});
}"""


#: Key presses on the bare page and on the Fisher map, on the live run, and seconds of rest before the first of them.
WHOLE, SMALL = (40, 25, 6.0), (2, 1, 2.0)


def run(small: bool = False) -> None:
    presses, live_presses, rest = SMALL if small else WHOLE
    with chromium() as browser:
        if browser is None:
            print("dashboard: no Chromium or no Playwright on this machine, skipped")
            return
        with served() as (address, _):
            bare = _measure(browser, address + "bare_page", presses, rest, wait=400)
            fisher = _measure(browser, address + "app?tab=fisher", presses, rest, wait=400)
            bare += _measure(browser, address + "bare_page", presses, rest, wait=400)
            live = _measure(browser, address + "app?tab=run&n=1000&particles=1000", live_presses, rest, wait=1800)
            first = [times[0] for times in bare]
            _report("Fisher map, slider to painted", [times[0] for times in fisher], first, 0.7, 1.3)
            _report("live run n=N=1000, slider to first feedback", [times[0] for times in live], first, None, 2.0)
            last = [times[-1] for times in live]
            line(
                "live run, slider to final result, 95th percentile",
                f"{_p95(last):.0f} ms",
                "<= 1000 ms",
                _p95(last) <= 1000,
            )
            for name, page, least in (("Fisher map", "app?tab=fisher", 40), ("live run", "app?tab=run", 10)):
                paints = _drag(browser, address + page, rest)
                line(f"{name}: paints during a drag of two seconds", f"{paints:.0f}", f">= {least}", paints >= least)


def _open(browser, address: str, rest: float):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(address)
    page.locator("canvas >> visible=true").first.wait_for(timeout=60_000)
    page.wait_for_timeout(1000 * rest)
    page.evaluate(_WATCH)
    return page, page.get_by_role("slider").first


def _measure(browser, address: str, times: int, rest: float, wait: int) -> list[list[float]]:
    """For each of some key presses, after how many milliseconds something was painted."""
    page, slider = _open(browser, address, rest)
    slider.focus()
    found = []
    for _ in range(times):
        page.evaluate(_PRESS)
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(wait)
        found.append(page.evaluate("() => window.painted.map(at => at - window.pressed)"))
    page.wait_for_timeout(1000)  # let what is on its way arrive
    page.close()
    if not all(found):
        raise SystemExit(f"{address}: {sum(not times for times in found)} changes were never painted")
    return found


def _drag(browser, address: str, rest: float) -> float:
    page, slider = _open(browser, address, rest)
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate("() => { window.painted = [] }")
    start, to = time.monotonic(), 1
    while time.monotonic() - start < 2:  # to and fro, two pixels at a time: every move is another value
        page.mouse.move(x + 20 + 20 * to, y, steps=20)
        to = -to
    paints = page.evaluate("() => window.painted.length") * 2 / (time.monotonic() - start)
    page.mouse.up()
    page.wait_for_timeout(1000)
    page.close()
    return paints


def _p95(values: list[float]) -> float:
    return sorted(values)[int(0.95 * len(values))]


def _report(what: str, ours: list[float], bare: list[float], median: float | None, p95: float) -> None:
    middle, base = statistics.median(ours), statistics.median(bare)
    if median is not None:
        text = f"{what}: {middle:.0f} ms, a bare image {base:.0f} ms: median"
        line(text, f"{middle / base:.2f}x", f"<= {median}x", middle <= median * base)
    high, high_base = _p95(ours), _p95(bare)
    text = f"{what}: {high:.0f} ms, a bare image {high_base:.0f} ms: 95th percentile"
    line(text, f"{high / high_base:.2f}x", f"<= {p95}x", high <= p95 * high_base)
