"""Your data: what a private collection from a file's people would have told, as it grows."""

import asyncio
import html
import time
from collections.abc import Callable
from functools import partial

import holoviews as hv
import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import BasicTickFormatter

from explorer.io.data_file import DataFile
from explorer.models.data_collection import Collected, DataCollection
from explorer.models.limits import largest_upload
from explorer.views.parts.controls import number_input, widget
from explorer.views.parts.downloads import code_button, csv_button
from explorer.views.parts.html_text import HtmlText
from explorer.views.parts.layout import side_by_side, wrapped
from explorer.views.parts.live_plot import BLUE, GREY, ORANGE, PURPLE, VERMILLION, LivePlot, legend, repaint, ribbon
from explorer.views.parts.upload import Upload
from explorer.views.tabs.tab import ComputedTab

_PROMISE = (
    "Choose a CSV or Parquet file ({largest:g} MB at most) and a column with one number for each person. The people "
    "are asked once each, in random order: a value is clipped to the interval that is asked for, noise from the "
    "operating system's randomness is added, and only that answer goes on to the estimate. The privacy, the mechanism, "
    "the family, the score and N are those of the sidebar. The file stays in this server's memory until its people "
    "have been asked, is never written anywhere, and is then forgotten. Asking the same people again costs their "
    "privacy again: two collections with ε = 1 are one with ε = 2."
)
_FORGOTTEN = "No file is held"
_WHAT_PUBLIC_MEANS = (
    "<b>Data said to be public.</b> The grey line and the numbers “without privacy” come from the values "
    "themselves, without any noise: whoever sees them learns what differential privacy is there to hide."
)
_LEGEND = legend(
    (BLUE, "━", "median"),
    (BLUE, "▮", "95 % credible"),
    (ORANGE, "▮", "interval [l, r] asked for"),
    (GREY, "╍", "without privacy (public data only)"),
)
#: So many seconds after the page has been laid out, all its widgets are drawn.
_SETTLING = 2.0
#: Maximum number of points per curve.
_MOST_POINTS = 1500


class YourData(ComputedTab):
    """Upload, collect, and watch the private estimate grow.

    >>> view = YourData(epsilon=2, mechanism="randomized_response", particles=100)
    >>> view.model.take(b"age\\n30\\n40\\n50\\n", "people.csv")
    >>> view.model.compute().people
    3
    """

    id, title = "data", "Your data"
    model_class = DataCollection

    def _build(self):
        model = self.model
        self._settled = time.monotonic() + _SETTLING
        self._newest = 0  # of the files that were chosen, the number of the last
        self._mu, self._sigma, self._width = _estimate_plot("μ", True), _estimate_plot("σ", False), _width_plot()
        nothing = {"x": [np.nan], "y": [np.nan]}
        self._mu.paint({"asked": nothing, "band": nothing})
        self._sigma.paint({"band": nothing})
        upload = Upload(
            self._take,
            self._refuse,
            accept=".csv,.txt,.tsv,.parquet",
            max_file_size=largest_upload(),
            label="Choose a file …",
            uploaded_label="Choose another file …",
            variant="outlined",
            margin=(8, 5),
        )
        self._file = HtmlText(f"{_FORGOTTEN}.", sizing_mode="stretch_width", margin=(14, 10))
        self._column = pmui.Select(label="Column", options=[], description=model.param.column.doc, disabled=True)
        low, high = (
            number_input(label=label, value=value, step=10, description=model.param.expected.doc)
            for label, value in zip(("Most values lie between", "and"), model.expected, strict=True)
        )
        wanted = number_input(model.param.wanted, step=0.1)
        public = widget(model.param.public)
        self._collect = pmui.Button(label="Collect", variant="contained", size="small", margin=5, disabled=True)
        self._stop = pmui.Button(label="Stop", variant="outlined", size="small", margin=5, disabled=True)
        self._public_notice = HtmlText(_WHAT_PUBLIC_MEANS, visible=False, sizing_mode="stretch_width", margin=(0, 10))
        self._column.param.watch(lambda event: setattr(model, "column", event.new or ""), "value")
        for end in (low, high):
            end.param.watch(lambda event: self._expect(low.value, high.value), "value")
        self._collect.on_click(self._run)
        self._stop.on_click(lambda event: model.cancel())
        model.param.watch(self._show_file, ["columns", "notes", "file_name"])
        model.param.watch(self._show_buttons, ["status", "columns"])
        model.param.watch(self._repeat, "wanted")
        return pn.Column(
            pmui.Typography(
                _PROMISE.format(largest=largest_upload() / 1e6),
                variant="body2",
                sizing_mode="stretch_width",
                margin=(8, 10),
            ),
            wrapped(upload, self._file),
            side_by_side(widget(model.param.header), self._column, low, high, narrowest=180),
            side_by_side(widget(model.param.most), wanted, public, narrowest=180),
            wrapped(self._collect, self._stop),
            self.status,
            self._public_notice,
            pn.pane.HTML(_LEGEND, margin=(0, 10)),
            side_by_side(self._mu, self._sigma),
            self._width,
            wrapped(
                code_button(model),
                csv_button("Answers as CSV", "answers.csv", model),
            ),
            sizing_mode="stretch_width",
        )

    async def _on_active(self, *events) -> None:
        self._settled = time.monotonic() + _SETTLING

    def _take(self, content: bytes, name: str) -> None:
        self._soon(partial(self.model.opened, content, name))

    def _refuse(self, words: str) -> None:
        def refuse() -> DataFile:
            raise ValueError(words)

        self._soon(refuse)

    def _soon(self, opened: Callable[[], DataFile]) -> None:
        """Hold the file that ``opened`` returns, or say why it cannot be used. The newest file wins.

        At once, but for somebody who is faster than the page: what changes while widgets are drawn is lost.
        """
        self._newest += 1
        number = self._newest

        def hold(result: Callable[[], DataFile]) -> None:
            if number == self._newest:
                self.model.forget()
                try:
                    self.model.hold(result())
                    self.model.error = ""
                except ValueError as error:
                    self.model.error = str(error)

        async def when_settled() -> None:
            for _ in range(600):
                if self.active and time.monotonic() >= self._settled:
                    break
                await asyncio.sleep(0.1)
            # In a thread, as a large file takes seconds. Whatever it raises, ``result`` raises again.
            done = await asyncio.wait([asyncio.get_running_loop().run_in_executor(None, opened)])
            hold(done[0].pop().result)

        if pn.state.curdoc is None or pn.state.curdoc.session_context is None:
            hold(opened)
        else:
            pn.state.execute(when_settled)

    def _expect(self, low: float | None, high: float | None) -> None:
        if low is not None and high is not None:
            self.model.expected = (low, high)

    def _show_file(self, *events) -> None:
        model = self.model
        with pn.io.hold():
            held = bool(model.columns)
            self._column.param.update(options=model.columns, value=model.column if held else None, disabled=not held)
            words = [f"{model.file_name}: {len(model.columns)} columns", *model.notes] if held else [_FORGOTTEN]
            self._file.object = html.escape(". ".join(words) + ".")

    def _show_buttons(self, *events) -> None:
        running = self.model.status in ("computing", "preview")
        with pn.io.hold():
            self._collect.disabled = running or not self.model.columns
            self._stop.disabled = not running

    async def _run(self, event) -> None:
        await self.model.refresh()

    def _repeat(self, *events) -> None:
        if self.model.result is not None:
            self._show(self.model.result)

    def _show(self, found: Collected) -> None:
        shown = np.unique(np.linspace(0, found.y.size - 1, min(found.y.size, _MOST_POINTS)).astype(int))
        t = shown + 1.0
        n, opened = float(found.people), found.open
        for column, plot in enumerate((self._mu, self._sigma)):
            low, middle, high = found.quantiles[shown, :, column].T
            ends = [found.left, found.right] if column == 0 else []
            reach = _window(found.quantiles[:, 0, column], found.quantiles[:, 2, column], *ends)
            layers = {
                "band": ribbon(t, np.clip(low, *reach), np.clip(high, *reach)),
                "median": {"t": t, "value": middle},
                "open": {"t": np.array([0.0, n]), "value": np.full(2, opened[column] if opened else np.nan)},
            }
            if column == 0:
                asked = np.clip(np.stack([found.left[shown], found.right[shown]]), *reach)
                layers["asked"] = ribbon(t, *asked)
            plot.paint(layers, x=(0.0, n), y=reach)
        width, wanted = found.width, self.model.wanted
        self._width.paint(
            {
                "width": {"t": t, "width": width[shown]},
                "wanted": {"t": np.array([1.0, max(n, 2.0)]), "width": np.full(2, wanted or np.nan)},
            },
            x=(1.0, max(n, 2.0)),
            y=(0.7 * min(float(width.min()), wanted or np.inf), 1.4 * float(width.max())),
        )
        self.status.say(_sentence(found, wanted))
        self._public_notice.visible = opened is not None
        repaint(self._mu, self._sigma, self._width)


def _window(low: np.ndarray, high: np.ndarray, left: np.ndarray | None = None, right: np.ndarray | None = None):
    """What is known, and mostly asked for, without the wide beginnings."""
    late = slice(low.size // 10, None)
    bottom, top = float(low[late].min()), float(high[late].max())
    if left is not None:
        bottom = min(bottom, float(np.quantile(left[late], 0.05)))
        top = max(top, float(np.quantile(right[late], 0.95)))
    room = 0.1 * (top - bottom) or 1.0
    return bottom - room, top + room


def _sentence(found: Collected, wanted: float) -> str:
    """Everything in words: all of it comes from answers, unless the data are public."""
    now, settings = found.quantiles[-1], found.settings
    asked = f"{found.y.size} of {found.people}" if found.y.size < found.people else f"{found.people}"
    words = [
        f"After {asked} people ({settings['mechanism']}, ε = {settings['epsilon']:g}): "
        f"μ = {_figure(now[1, 0])} (95 %: {_figure(now[0, 0])} to {_figure(now[2, 0])}), "
        f"σ = {_figure(now[1, 1])} ({_figure(now[0, 1])} to {_figure(now[2, 1])})"
    ]
    if found.finished and found.people < found.rows:
        words.append(f"they were drawn at random from {found.rows:,}")
    if found.missing:
        words.append(f"{found.missing:,} empty cells were left out")
    if wanted:
        needed, width = found.needed(wanted), found.width[-1]
        if needed is not None:
            words.append(f"{needed} people were enough for a width of {_figure(wanted)}")
        else:
            more = found.y.size * (width / wanted) ** 2
            words.append(
                f"the interval is {_figure(width)} wide; for {_figure(wanted)}, about {more:,.0f} people are needed"
            )
    if found.open is not None:
        opened = found.open
        words.append(
            f"without privacy: μ = {_figure(opened.mu)} ± {_figure(opened.standard_error)}, σ = {_figure(opened.sigma)}"
        )
    return "; ".join(words) + "."


def _figure(value: float) -> str:
    """Five digits, and no powers of ten for what people write without."""
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.5g}"


def _curve(label: str, y: str, **options) -> hv.Curve:
    return hv.Curve([(1.0, 1.0)], "t", y, label=label).opts(**options)


def _estimate_plot(symbol: str, asked: bool) -> LivePlot:
    area = [(0.0, 0.0, 1.0), (1.0, 0.0, 1.0)]
    layers = {}
    if asked:
        layers["asked"] = hv.Area(area, "t", ["value", "top"]).opts(color=ORANGE, alpha=0.35, line_width=0)
    layers |= {
        "band": hv.Area(area, "t", ["value", "top"]).opts(color=BLUE, alpha=0.3, line_width=0),
        "median": _curve("median", "value", color=BLUE, line_width=2, tools=["hover"]),
        "open": _curve("without privacy", "value", color=GREY, line_dash="dashed", line_width=2),
    }
    options = {"xlabel": "people asked", "ylabel": symbol, "xlim": (0, 1), "ylim": (0, 1), "show_legend": False}
    options["yformatter"] = BasicTickFormatter(use_scientific=False)
    return LivePlot(layers, height=290, title=f"What is known about {symbol}", **options)


def _width_plot() -> LivePlot:
    layers = {
        "width": _curve("width", "width", color=PURPLE, line_width=2, tools=["hover"]),
        "wanted": _curve("wanted", "width", color=VERMILLION, line_dash="dashed", line_width=2),
    }
    return LivePlot(
        layers,
        height=230,
        title="Width of the 95 % interval of μ",
        xlabel="people asked",
        ylabel="width",
        logx=True,
        logy=True,
        xlim=(1, 1000),
        ylim=(0.1, 100),
        legend_position="bottom_left",
    )
