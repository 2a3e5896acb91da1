"""Charts: the drawing, the sentence and the table say the same, and nothing that is unknown is drawn."""

from __future__ import annotations

import re

import pytest

from vskill_platform.stores.series import Hour
from vskill_platform.web.pages.charts import Chart, Series, area, round_up, stacked_bars
from vskill_platform.web.pages.queue_charts import draw_charts
from vskill_platform.web.pages.rendering import templates

HOURS = ["09:00", "10:00", "11:00", "12:00"]


def draw(chart: Chart) -> str:
    return str(templates().get_template("parts/charts.html").make_module().chart(chart, "one"))


@pytest.mark.parametrize(("value", "top"), [(0, 1), (1, 1), (3, 5), (10, 10), (11, 20), (99, 100), (5001, 10000)])
def test_scale_ends_at_a_number_that_people_can_read(value: int, top: int) -> None:
    assert round_up(value) == top


def test_bars_stand_on_each_other__and_leave_out_what_is_zero() -> None:
    chart = stacked_bars(
        "Verdicts", HOURS, [Series("passed", "pass", [4, 0, 1, 0]), Series("failed", "fail", [1, 0, 0, 2])]
    )
    assert chart.top == 5
    assert [(bar.tone, bar.y, bar.height) for bar in chart.bars] == [
        ("pass", "20", "80"), ("fail", "0", "20"), ("pass", "80", "20"), ("fail", "60", "40"),
    ]  # fmt: skip
    assert chart.summary == "Verdicts. From 09:00 to 12:00: 5 passed, 3 failed."


def test_line_is_interrupted__where_a_number_is_not_known() -> None:
    chart = area("Depth", HOURS, Series("waiting", "accent", [2, None, 1, 1]))
    assert [line.count("L") for line in chart.lines] == [1, 1]
    assert chart.summary == "Depth. Now 1; at most 2, at 09:00."
    assert "<td>unknown</td>" in draw(chart)


def test_chart_says_that_nothing_is_known__instead_of_zeros() -> None:
    chart = area("Depth", HOURS, Series("waiting", "accent", [None] * 4))
    assert (chart.is_empty, chart.lines) == (True, [])
    assert "Nothing is known of this time" in draw(chart)
    assert "Not counted yet" in draw(chart)
    assert "Nothing in this time" in draw(
        stacked_bars("Decided", HOURS, [Series("decided", "accent", [0, None, 0, 0])])
    )


def test_charts_of_the_queue_show_what_was_counted__and_what_was_not() -> None:
    counted = Hour(
        hour="2026-11-16T10", received=5, expanded=1, published=3, failed=1, review=0, blocked=0,
        verdicts={"PASS": 3, "CONCERNS": 0, "FAIL": 1}, depth_last=0, depth_most=4, depth_mean=1.5,
    )  # fmt: skip
    waiting, decided, verdicts = draw_charts([Hour(hour="2026-11-16T09"), counted])
    assert waiting.rows == [("09:00", [None]), ("10:00", [4])]
    assert decided.rows == [("09:00", [None]), ("10:00", [4])]
    assert verdicts.rows == [("09:00", [None, None, None]), ("10:00", [3, 0, 1])]


def test_chart_of_no_hours_says_that_nobody_counted() -> None:
    assert "Not counted yet" in draw(stacked_bars("Verdicts", [], [Series("passed", "pass", [])]))


def test_table_has_every_number_of_the_drawing() -> None:
    drawn = draw(
        stacked_bars("Verdicts", HOURS, [Series("passed", "pass", [1234, 0, 1, 7]), Series("no", "fail", [1, 2, 3, 4])])
    )
    cells = re.findall(r"<td>([^<]*)</td>", drawn)
    assert cells == ["1,234", "1", "0", "2", "1", "3", "7", "4"]


def test_chart_has_no_style_or_script_of_its_own__which_the_policy_would_refuse() -> None:
    drawn = draw(stacked_bars('"><script>', HOURS, [Series("<b>", "pass", [1, 2, 3, 4])]))
    assert "style=" not in drawn
    assert "<script" not in drawn
    assert "<b>" not in drawn
