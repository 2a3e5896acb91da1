"""A machine fails hundreds of messages on purpose; what the worker logs of that is of no interest here."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def quiet_logs() -> Iterator[None]:
    """Log nothing below critical while a machine runs."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)
