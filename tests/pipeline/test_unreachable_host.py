"""A host that is down: tried again with growing delays, then a clear rejection that can be retried."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.pipeline.journey import LOOPBACK, Journey
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.engines.memory import open_memory
from vskill_platform.ingest.git import GitSource
from vskill_platform.pipeline.intake import Answer, submit_repository
from vskill_platform.pipeline.process import process_message
from vskill_platform.settings import convert_settings
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.envs import make_env

CLOSED_PORT = "http://127.0.0.1:9999/acme/greeting"


@pytest.fixture
async def lonely(tmp_path: Path) -> AsyncIterator[tuple[Journey, FakeClock]]:
    clock = FakeClock()
    engine = await open_memory(clock=clock)
    async with GitSource(convert_settings(LOOPBACK)) as source:
        env = make_env(engine, clock=clock, folder=tmp_path, source=source, process=process_message, **LOOPBACK)
        yield Journey(env=env, repositories=tmp_path, address="http://127.0.0.1:9999"), clock
    await engine.close()


async def test_host_that_is_down_is_tried_again__and_the_last_attempt_says_so(
    lonely: tuple[Journey, FakeClock],
) -> None:
    journey, clock = lonely
    intake = await journey.inside(lambda: submit_repository(CLOSED_PORT))
    attempts = journey.env.settings.max_attempts
    waits_s: list[float] = []
    for attempt in range(1, attempts):
        assert await journey.work() == 1, attempt
        assert (await journey.read(intake.submission.id)).state is SubmissionState.TIER1_SCANNING
        (message,) = (await journey.env.queue.peek(SUBMISSIONS_QUEUE, status=MessageStatus.DELAYED)).messages
        assert "source_unreachable" in (message.error or "")
        waits_s.append((message.ready_ms - clock.now_ms()) / 1000)
        await clock.advance(waits_s[-1])
    assert waits_s == [10, 30, 90]
    assert await journey.work() == 1
    submission = await journey.read(intake.submission.id)
    assert (submission.state, submission.reason) == (SubmissionState.REJECTED, "source_unreachable")
    again = await journey.inside(lambda: submit_repository(CLOSED_PORT))
    assert (again.answer, again.submission.id, again.submission.run) == (Answer.CREATED, submission.id, 2)
