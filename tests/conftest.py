"""What holds for every test."""

from __future__ import annotations

import pytest

from tests.faults.figures import FIGURE

UNTRACED = {"machines", "faults"}
"""Folders whose tests repeat for minutes what others have covered: tracing them would double their time and tell nothing."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if UNTRACED & set(item.path.parts):
            item.add_marker("no_cover")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the fault runs came to."""
    lines = [
        value
        for report in terminalreporter.getreports("passed")
        for name, value in report.user_properties
        if name == FIGURE and report.when == "call"
    ]
    if lines:
        terminalreporter.section("figures")
        for line in sorted(lines):
            terminalreporter.line(str(line))
