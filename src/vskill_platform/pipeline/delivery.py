"""One delivery of a message for one submission: what it holds, and how it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from vskill_platform.domain.records import Step, Submission, advance
from vskill_platform.domain.submission import Actor, SubmissionState, Trigger
from vskill_platform.ports.commit import Ack, Operation, Release
from vskill_platform.ports.queue import Message
from vskill_platform.stores.submissions import Found, encode_moved, moving
from vskill_platform.worker_context import current_env


@dataclass(slots=True)
class Delivery:
    """A message and the submission that it has claimed. Its last commit carries the Ack, so both happen or neither."""

    message: Message
    found: Found
    timings: dict[str, int] = field(default_factory=dict)
    kept: list[Operation] = field(default_factory=list)
    _lap_ms: int = 0

    def __post_init__(self) -> None:
        self._lap_ms = current_env("clock").clock.now_ms()

    @property
    def submission(self) -> Submission:
        """The submission as it was claimed."""
        return self.found.submission

    @property
    def is_last_attempt(self) -> bool:
        """Whether the message becomes a dead letter if this attempt fails."""
        return self.message.attempts >= current_env("settings").settings.max_attempts

    def learn(self, **changes: object) -> None:
        """Note what was found out on the way; it is written with the step that ends the delivery."""
        self.found = self.found._replace(submission=msgspec.structs.replace(self.found.submission, **changes))

    def keep(self, *operations: Operation) -> None:
        """Have these written with the step that ends the delivery, whichever that is."""
        self.kept += operations

    def lap(self, stage: str) -> None:
        """A stage has ended: note the milliseconds since the one before it did."""
        now_ms = current_env("clock").clock.now_ms()
        self.timings[stage] = max(now_ms - self._lap_ms, 0)
        self._lap_ms = now_ms

    def step(
        self,
        target: SubmissionState,
        trigger: Trigger,
        message: str,
        *,
        after: Submission | None = None,
        changes: Mapping[str, object] = MappingProxyType({}),
    ) -> Step:
        """A step of the worker from where the submission stands (or from `after`)."""
        return advance(
            after or self.submission,
            target,
            trigger=trigger,
            actor=Actor.WORKER,
            now_ms=current_env("clock").clock.now_ms(),
            message=message,
            **{"claim": None, "timings": dict(self.timings), **changes},
        )

    async def move_on(self, step: Step, *, operations: list[Operation] | None = None) -> None:
        """Commit a step that is not the last, and whatever goes with it: from then on the delivery stands there.

        The step has to keep the claim (`changes={"claim": delivery.submission.claim}`).
        """
        committed = await current_env("writes").writes.commit([*self.moving(step), *(operations or [])])
        self.found = Found(step.submission, encode_moved(self.found, step.submission), committed.version)

    async def finish(self, *steps: Step, operations: list[Operation] | None = None) -> None:
        """Commit the steps, whatever goes with them, and the end of the delivery, as one."""
        await current_env("writes").writes.commit(
            [*self.moving(*steps), *(operations or []), *self.kept, Ack(self.message.lease)]
        )
        self.message.mark_settled()

    async def put_back(self, *operations: Operation, delay_s: float) -> None:
        """Commit the operations and have the message come again after a delay, as one. The attempt does not count."""
        await current_env("writes").writes.commit([*operations, *self.kept, Release(self.message.lease, delay_s)])
        self.message.release(delay_s=delay_s)
        self.message.mark_settled()

    def moving(self, *steps: Step) -> list[Operation]:
        """The operations that take the submission through these steps."""
        return moving(self.found, *steps)
