"""The queue over the last day: how long it was, what was decided, and how."""

from __future__ import annotations

from vskill_platform.stores.series import Hour, read_series
from vskill_platform.web.pages.charts import Chart, Series, area, stacked_bars

HOURS = 24
_VERDICTS = {"PASS": ("passed", "pass"), "CONCERNS": ("with concerns", "warn"), "FAIL": ("failed", "fail")}


async def read_charts() -> list[Chart]:
    """Depth, throughput and verdicts by the hour. Raises StoreUnavailable where they cannot be read."""
    return draw_charts((await read_series(HOURS)).hours)


def draw_charts(hours: list[Hour]) -> list[Chart]:
    """The charts of these hours; what nobody counted stays unknown."""
    labels = [f"{hour.hour[-2:]}:00" for hour in hours]
    verdicts = [
        Series(word, tone, [None if hour.verdicts is None else hour.verdicts.get(name, 0) for hour in hours])
        for name, (word, tone) in _VERDICTS.items()
    ]
    return [
        area("Waiting, at the most", labels, Series("waiting", "accent", [hour.depth_most for hour in hours])),
        stacked_bars("Decided", labels, [Series("decided", "accent", [_decided(hour) for hour in hours])]),
        stacked_bars("Verdicts of scans", labels, verdicts),
    ]


def _decided(hour: Hour) -> int | None:
    figures = (hour.published, hour.review, hour.failed, hour.blocked)
    return None if None in figures else sum(figure or 0 for figure in figures)
