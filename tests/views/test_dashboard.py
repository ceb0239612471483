"""The page, as a person would use it: in a real Chromium, served by the real command."""

import csv
import re

import pytest
from mouse import drag
from playwright.sync_api import expect
from visitor import WAIT, choose, press, sentence, type_into, wait_for, wait_for_address

pytestmark = pytest.mark.browser


def test_the_first_picture_and_every_slider(visit):
    page = visit("?compare=false")
    wait_for(page, r"After 1000 answers: μ = .*N = 1000\.")
    for name, parameter, pixels in (
        ("Individuals n", "n", -60),
        ("Particles N", "particles", -60),
        ("Privacy ε", "epsilon", 40),
        ("True μ", "mu", 20),
        ("True σ", "sigma", 20),
        ("Seed", "seed", 20),
        ("Grid points", "resolution", 20),
        ("Grid limit", "limit", 20),
    ):
        before = sentence(page, "After")
        drag(page.get_by_role("slider", name=name, exact=True), pixels)
        wait_for_address(page, f"[?&]{parameter}=")
        if "Grid" not in name:  # which the run does not depend on
            expect(page.get_by_text(re.compile("^After")).first).not_to_have_text(before, timeout=WAIT)


#: Notes the highest value of the map, each time that it is painted.
_NOTE_TOPS = """() => {
  window.tops = [];
  for (const model of Bokeh.documents[0]._all_models.values()) {
    if (model.type === 'ColumnDataSource' && model.columns().includes('image')) {
      model.connect(model.properties.data.change, () => {
        window.tops.push(Math.max(...Array.from(model.get_column('image')[0]).filter(value => value > 0)));
      });
    }
  }
}"""


def test_dragging_epsilon_moves_the_optimum_and_the_picture(visit):
    page = visit("?tab=fisher")
    wait_for(page, r"best interval \[-0\.07056, 0\.07056\], F\[μ,μ\] = 0\.1089")
    picture = page.locator("canvas >> visible=true").first
    before = picture.screenshot()
    page.evaluate(_NOTE_TOPS)
    drag(page.get_by_role("slider", name="Privacy ε", exact=True), 80)
    wait_for(page, r"best interval \[-0\.[2-9]")
    assert picture.screenshot() != before
    tops = page.evaluate("() => window.tops")
    assert len(set(tops)) >= 5
    assert tops == sorted(tops), "information grows with ε: an older picture came after a newer one"

    page.locator(".bk-Canvas >> visible=true").first.hover()
    with page.expect_download() as download:
        page.locator(".bk-tool-icon-save >> visible=true").first.click()
    assert download.value.suggested_filename == "explorer.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_choosing_another_mechanism_and_score(visit):
    page = visit("?tab=fisher")
    choose(page, "Mechanism", "randomized_response")
    wait_for(page, r"F\[μ,μ\] = 0\.136")
    choose(page, "Score", "det")
    wait_for(page, "this score is 0 for every interval")
    choose(page, "Mechanism", "gaussian")
    choose(page, "Score", "mu")
    wait_for(page, r"best interval \[-0\.0136")
    choose(page, "δ", "1e-2")
    wait_for(page, r"best interval \[-0\.0[2-9]")


#: Where the sidebar's widgets are: left, top, right and bottom of each that is visible.
_WIDGETS = """() => {
  const found = [];
  const search = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) search(element.shadowRoot);
      if (element.matches('.MuiSlider-root, .MuiInputBase-root, .MuiSwitch-root')) {
        const {left, top, right, bottom} = element.getBoundingClientRect();
        if (left < right && top < bottom && right <= 300) found.push([left, top, right, bottom]);
      }
    }
  };
  search(document);
  return found;
}"""


def test_widgets_that_come_and_go_leave_no_overlap_and_no_open_menu(visit):
    page = visit("?tab=fisher&compare=false")
    counts = []
    for mechanism, family in 4 * [("gaussian", "student_t"), ("laplace", "normal")]:
        choose(page, "Mechanism How", mechanism)
        choose(page, "Population", family)
        expect(page.get_by_role("menuitem")).to_have_count(0)
        expect(page.get_by_role("slider", name="Degrees of freedom")).to_have_count(int(family == "student_t"))
        widgets = page.evaluate(_WIDGETS)
        counts.append(len(widgets))
        for number, (left, top, right, bottom) in enumerate(widgets):
            for other in widgets[number + 1 :]:
                beside = min(right, other[2]) <= max(left, other[0])
                assert beside or min(bottom, other[3]) <= max(top, other[1]) + 1, (widgets[number], other)
    assert counts == 4 * [max(counts), max(counts) - 2]


def test_a_tap_on_the_map_changes_the_interval_of_the_run(visit):
    page = visit("?tab=fisher&n=200&particles=100&epsilon=5")
    wait_for(page, r"best interval \[")
    page.wait_for_timeout(1000)
    box = page.locator(".bk-Canvas >> visible=true").first.bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.4 * box["height"])
    wait_for_address(page, "manual=true.*interval=|interval=.*manual=true")
    a, b = map(float, re.search(r"interval=(-?[\d.]+),(-?[\d.]+)", page.url).groups())
    assert a < b
    page.get_by_role("tab", name="Live run").click()
    wait_for(page, r"by hand; one answer")
    shown = re.search(r"m \+ \[(-?[\d.]+), (-?[\d.]+)\]·c, by hand", sentence(page, "After"))
    assert [float(end) for end in shown.groups()] == pytest.approx([a, b], abs=6e-3)


def test_a_comparison_fills_in_is_cancelled_sorted_and_downloaded(visit):
    page = visit("?tab=compare&n=60&particles=50&methods=adaptive,fixed&epsilons=2,5&replicates=200")
    page.get_by_role("button", name="Run", exact=True).click()
    wait_for(page, r"Running: \d\d+ of 800 runs, about .* left")  # enough for every row of the table
    page.get_by_role("button", name="Cancel", exact=True).click()
    wait_for(page, r"Cancelled: \d+ of 800 runs")
    done = int(re.search(r"(\d+) of 800", sentence(page, "Cancelled")).group(1))
    assert 0 < done < 800
    with page.expect_download() as download:
        page.get_by_text("All runs as CSV").click()
    with open(download.value.path(), encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == done

    table = page.locator("table.sortable")

    def column(number: int) -> list[str]:
        return table.locator(f"tbody td:nth-child({number})").all_inner_texts()

    assert column(2) == ["2", "2", "5", "5"]
    assert sum(map(int, column(12))) == done
    for expected in (sorted, lambda values: sorted(values, reverse=True)):
        table.get_by_role("button", name="RMSE μ").click()
        assert column(3) == expected(column(3))
    table.get_by_role("button", name="method").click()
    assert column(1) == ["adaptive", "adaptive", "fixed", "fixed"]


def test_play_and_pause(visit):
    page = visit("?n=300&particles=100&compare=false")
    wait_for(page, "After 300 answers")
    label = page.get_by_text(re.compile("t: individuals so far")).first
    expect(label).to_contain_text("300")
    page.get_by_role("button", name="First frame").click()
    expect(label).to_contain_text(re.compile(r"\b1\b"))
    page.get_by_role("button", name="Play", exact=True).click()
    expect(label).not_to_contain_text(re.compile(r": 1\b"))
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(700)
    stopped = label.inner_text()
    page.wait_for_timeout(700)
    assert label.inner_text() == stopped
    assert "300" not in stopped


def test_the_largest_number_of_particles_and_back(visit):
    page = visit("?n=100&compare=false")
    wait_for(page, r"N = 1000\.")
    press(page, "Particles N", "End")
    wait_for(page, r"N = 5000\.")
    press(page, "Particles N", "Home")
    wait_for(page, r"N = 50\.")


def test_the_address_the_download_and_the_code_hold_what_is_shown(visit, tmp_path):
    page = visit("?n=150&particles=100&epsilon=5")
    wait_for(page, "After 150 answers")
    press(page, "Seed", "ArrowRight")
    wait_for_address(page, "seed=2")
    page.wait_for_timeout(1500)
    shown = sentence(page, "After")

    with page.expect_download() as download:
        page.get_by_role("button", name="Run as CSV").click()
    download.value.save_as(tmp_path / "run.csv")
    with (tmp_path / "run.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == ["adaptive"] * 150 + ["fixed"] * 150
    numbers = re.search(r"μ = ([\d.]+) \(95 %: ([\d.]+) to ([\d.]+)\)", shown).groups()
    assert numbers == tuple(f"{float(rows[149][name]):.4g}" for name in ("mu_50%", "mu_2.5%", "mu_97.5%"))

    page.get_by_role("button", name="Copy as Python").first.click()
    wait_for(page, r"trace = ex\.simulate\(")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy", exact=True).click()
    wait_for(page, "^Copied$")
    assert "trace = ex.simulate(" in page.evaluate("() => navigator.clipboard.readText()")

    again = visit(page.url.split("/")[-1])
    wait_for(again, "After 150 answers")
    assert sentence(again, "After") == shown


def test_the_mechanism_and_its_ends(visit):
    page = visit("?tab=mechanism&first=-3&second=3")
    wait_for(page, r"a factor of at most 2\.72; ε = 1 promises 2\.72")
    press(page, "x, in σ from μ", "End")
    wait_for(page, r"a factor of at most 1; ε = 1")
    page.get_by_role("slider").and_(page.locator("[aria-label*='by hand']")).first.focus()
    page.keyboard.press("ArrowLeft")
    wait_for_address(page, "manual=true")


def test_an_audit_on_the_page(visit):
    page = visit("?tab=mechanism")
    page.get_by_role("button", name="Audit").click()
    wait_for(page, "no violation found")
    page.get_by_label("As the author coded it").click()
    page.get_by_role("button", name="Audit").click()
    wait_for(page, "VIOLATION: the claim is refuted")


def test_a_plan_for_people_and_for_epsilon(visit):
    page = visit("?tab=plan&sigma=3&epsilon=2")
    wait_for(page, r"at ε = 2: randomized_response needs 2,438 people; without privacy 900 would do")
    choose(page, "Given", "I know n: plan ε")
    wait_for(page, r"with 3,000 people: .* needs only ε = 1\.")
    wait_for_address(page, "given=n")
    type_into(page, "Wanted standard error of μ", "0.01")
    wait_for(page, "even without privacy")


def test_the_tour_sets_the_controls_and_stays_above_the_tabs(visit):
    page = visit("?tab=plan")
    page.get_by_role("tab", name="Learn").click()
    page.get_by_role("button", name="Start the tour").click()
    wait_for(page, "^1 of 10: A thousand secrets")
    wait_for_address(page, "step=1.*epsilon=5")
    following = page.get_by_role("button", name="Next", exact=True)
    following.click()
    wait_for(page, "^2 of 10")
    wait_for_address(page, "manual=true")
    wait_for(page, r"Asked for \[46\.84, 53\.16\]")
    following.click()
    wait_for(page, "^3 of 10")
    following.click()
    wait_for(page, "^4 of 10: What one answer tells")
    wait_for(page, r"ε = 5: best interval \[-0\.7281, 0\.7281\]")
    wait_for_address(page, "step=4")
    assert "manual" not in page.url
    page.get_by_role("button", name="End the tour").click()
    expect(page.get_by_text(re.compile("^4 of 10"))).to_be_hidden()
    expect(page.get_by_role("button", name="Start the tour")).to_be_visible()


def test_dark_and_light(visit):
    page = visit("?n=100&particles=100")
    wait_for(page, "After 100 answers")
    light = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Toggle theme").click()
    page.wait_for_function("light => getComputedStyle(document.body).backgroundColor !== light", arg=light)
    wait_for(page, "After 100 answers")


def test_what_an_address_cannot_mean_is_told_and_left_out(visit):
    page = visit(
        "?epsilon=99&mu=nan&n=1.5&nonsense=1&mechanism=%3Cscript%3E&interval=2,1&tab=elsewhere&manual=perhaps&sigma=2"
    )
    wait_for(page, "After 1000 answers")
    notice = page.get_by_text(re.compile("Some settings in the address were ignored")).first.inner_text()
    for told in (
        "epsilon cannot be '99'",
        "mu cannot be 'nan'",
        "n cannot be '1.5'",
        "nonsense is not a setting",
        "mechanism cannot be '<script>'",
        "interval cannot be '2,1'",
        "tab cannot be 'elsewhere'",
        "manual cannot be 'perhaps'",
    ):
        assert told in notice
    assert "sigma" not in notice


def test_on_a_phone(visit):
    page = visit("?n=100&particles=100", viewport={"width": 390, "height": 844}, user_agent="Mobi", has_touch=True)
    wait_for(page, "After 100 answers")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert not page.get_by_role("slider", name="Privacy ε").is_visible()
