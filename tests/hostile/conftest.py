"""The stage, and the report that a run of the corpus leaves behind."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.hostile.report import as_table, write_report
from tests.hostile.stage import Stage, open_stage

RUN = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    worker = getattr(config, "workerinput", {})
    config.stash[RUN] = worker.get("testrunuid") or uuid.uuid4().hex


def pytest_sessionfinish(session: pytest.Session) -> None:
    write_report(session.config.stash[RUN])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    report = write_report(_run_of(config))
    if report is not None:
        terminalreporter.section("hostile corpus")
        for line in as_table(report):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest) -> str:
    return request.config.stash[RUN]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    async with open_stage(tmp_path_factory.mktemp("hostile")) as opened:
        yield opened


def _run_of(config: pytest.Config) -> str:
    """The run's name; where others did the work, it is theirs."""
    session = config.pluginmanager.getplugin("dsession")
    return (
        getattr(session, "testrunuid", None)
        or getattr(getattr(session, "nodemanager", None), "testrunuid", None)
        or config.stash[RUN]
    )
