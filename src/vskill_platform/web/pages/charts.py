"""The geometry of small charts: numbers over time become places in a box, and a sentence and a table that say the same.

A chart is drawn by `parts/charts.html` as inline SVG with classes for colours, so that it follows the theme and needs
neither a script nor a style of its own. The box is 100 wide and 100 high and is stretched to whatever room there is. What is
not known (None) is left out, never drawn as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

SIZE = 100.0
_GAP = 0.25
"""How much of a bar's place is left free."""
_STEPS = (1, 2, 5)


class Series(NamedTuple):
    """One row of numbers. `tone` names its colour."""

    name: str
    tone: str
    values: Sequence[int | None]


class Bar(NamedTuple):
    """A box of the drawing."""

    x: str
    y: str
    width: str
    height: str
    tone: str


class Chart(NamedTuple):
    """All that a drawing and its text alternative need. `top` is the number at the upper edge."""

    title: str
    summary: str
    labels: Sequence[str]
    series: Sequence[Series]
    top: int
    bars: Sequence[Bar] = ()
    areas: Sequence[str] = ()
    lines: Sequence[str] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether nobody has counted any of it."""
        return all(value is None for series in self.series for value in series.values)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw but zeros and gaps."""
        return not any(value for series in self.series for value in series.values)

    @property
    def rows(self) -> list[tuple[str, list[int | None]]]:
        """The numbers as a table: for each label, what each series has there."""
        return [(label, [row.values[place] for row in self.series]) for place, label in enumerate(self.labels)]


def stacked_bars(title: str, labels: Sequence[str], series: Sequence[Series]) -> Chart:
    """One bar for each label, made of one box for each series that has something there."""
    sums = [sum(row.values[place] or 0 for row in series) for place in range(len(labels))]
    top = round_up(max(sums, default=0))
    width = SIZE / max(len(labels), 1)
    bars: list[Bar] = []
    for place in range(len(labels)):
        floor = SIZE
        for row in series:
            height = SIZE * (row.values[place] or 0) / top
            floor -= height
            if height:
                x = _text((place + _GAP / 2) * width)
                bars.append(Bar(x, _text(floor), _text(width * (1 - _GAP)), _text(height), row.tone))
    summary = f"{title}. {_tell_sums(labels, series)}"
    return Chart(title, summary, labels, series, top, bars=bars)


def area(title: str, labels: Sequence[str], series: Series) -> Chart:
    """A line with its area below; where a number is not known the line is interrupted."""
    top = round_up(max((value for value in series.values if value is not None), default=0))
    step = SIZE / max(len(labels) - 1, 1)
    runs = [[(place * step, SIZE - SIZE * value / top) for place, value in run] for run in _known_runs(series.values)]
    lines = ["M" + " L".join(_point(*point) for point in run) for run in runs]
    areas = [
        f"{line} L{_point(run[-1][0], SIZE)} L{_point(run[0][0], SIZE)} Z"
        for line, run in zip(lines, runs, strict=True)
    ]
    return Chart(title, f"{title}. {_tell_course(labels, series)}", labels, [series], top, areas=areas, lines=lines)


def round_up(value: int) -> int:
    """The next number of the form 1, 2 or 5 times a power of ten: a scale that people can read."""
    scale = 1
    while True:
        for step in _STEPS:
            if value <= step * scale:
                return step * scale
        scale *= 10


def _known_runs(values: Sequence[int | None]) -> list[list[tuple[int, int]]]:
    """The known values with their places, in runs without a gap. A single one is doubled, so that it can be seen."""
    runs: list[list[tuple[int, int]]] = [[]]
    for place, value in enumerate(values):
        if value is not None:
            runs[-1].append((place, value))
        elif runs[-1]:
            runs.append([])
    return [run if len(run) > 1 else run * 2 for run in runs if run]


def _tell_course(labels: Sequence[str], series: Series) -> str:
    known = [(value, label) for value, label in zip(series.values, labels, strict=True) if value is not None]
    if not known:
        return "Nothing is known of this time."
    most, when = max(known, key=lambda pair: pair[0])
    return f"Now {known[-1][0]:,}; at most {most:,}, at {when}."


def _tell_sums(labels: Sequence[str], series: Sequence[Series]) -> str:
    sums = ", ".join(f"{sum(value or 0 for value in row.values):,} {row.name}" for row in series)
    return f"From {labels[0]} to {labels[-1]}: {sums}." if labels else "Nothing is known of this time."


def _point(x: float, y: float) -> str:
    return f"{_text(x)},{_text(y)}"


def _text(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
