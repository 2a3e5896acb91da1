"""Things that happen in a registry, for streams to tell of."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tests.acceptance.running import inside
from vskill_platform.domain.records import advance
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.commit import Emit
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.submissions import get_submission, moving
from vskill_platform.testing.submissions import submit


async def submitted(env: WorkerEnv, name: str = "demo") -> str:
    """Submit a skill; gives its id."""
    return (await inside(env, lambda: submit(name))).id


async def claimed(env: WorkerEnv, identity: str) -> None:
    """A worker takes a submission up."""

    async def claim() -> None:
        found = await get_submission(identity)
        step = advance(
            found.submission,
            SubmissionState.TIER1_SCANNING,
            trigger=Trigger.CLAIMED,
            actor=Actor.WORKER,
            now_ms=env.clock.now_ms(),
            message="Taken up.",
        )
        await env.writes.commit(moving(found, step))

    await inside(env, claim)


async def emitted(env: WorkerEnv, numbers: Sequence[int], *, subject: str = "sub_x", padding: int = 0) -> None:
    """Events that are told apart by their number, all of one commit."""
    await env.writes.commit(
        [
            Emit(
                "submission.state_changed",
                subject,
                msgspec.json.encode(
                    {"id": subject, "state": "RECEIVED", "from": "RECEIVED", "run": number, "reason": "x" * padding}
                ),
            )
            for number in numbers
        ]
    )
