"""Notes what came of the tests that prove rows of the table. `make test-clients` loads it with `-p tests.clients.recording`."""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.clients.table import MARK, PASSED, RowKey, write_outcomes

_found: dict[RowKey, dict[str, str]] = defaultdict(dict)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let the report say which rows the test proves; with several processes only the report reaches this one."""
    for mark in item.iter_markers(MARK):
        item.user_properties.append((MARK, tuple(mark.args)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take down one outcome. A test with parameters passes if it passes with all of them; one that was skipped has not run."""
    if report.skipped or (report.when != "call" and report.passed):
        return
    path, _, name = report.nodeid.partition("::")
    test = f"{path.rpartition('/')[2].removesuffix('.py')}::{name.rpartition('::')[2].partition('[')[0]}"
    for kind, key in report.user_properties:
        if kind == MARK and isinstance(key, tuple | list):
            said = _found[RowKey(*key)]
            said[test] = report.outcome if said.get(test, PASSED) == PASSED else said[test]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write everything down, once for all processes."""
    if not hasattr(session.config, "workerinput") and _found:
        write_outcomes(_found)
