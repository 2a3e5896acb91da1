"""A machine fails hundreds of messages on purpose; what the worker logs of that is of no interest here."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog

from tests.machines.stage import PostgresStage


@pytest.fixture(autouse=True)
def quiet_logs() -> Iterator[None]:
    """Log nothing below critical while a machine runs."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)


@pytest.fixture
def postgres_stage(postgres_database: str) -> None:
    """Machines on PostgreSQL play on this process's server."""
    PostgresStage.url = postgres_database
