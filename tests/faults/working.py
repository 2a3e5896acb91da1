"""Runs worker children over one store, and judges what became of each message: its effects, counted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.faults.children import Child, running
from tests.faults.engines import EngineKind
from tests.faults.worker_child import WorkMode
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MessageInfo

CHILD = "tests.faults.worker_child"


@dataclass
class Outcome:
    """How often each message had its effect, and the dead letters."""

    effects: dict[str, int] = field(default_factory=dict)
    dead: list[MessageInfo] = field(default_factory=list)

    def faults(self, sent: Iterable[str], *, expected_dead: Iterable[str] = ()) -> dict[str, object]:
        """What is wrong: effects that are missing, doubled or of nobody's message. Empty is a pass."""
        attempted = set(sent)
        dead = {info.body.decode() for info in self.dead}
        found = {
            "lost": attempted - set(self.effects) - dead,
            "unexpected": set(self.effects) - attempted,
            "double_effects": {item: times for item, times in self.effects.items() if times != 1},
            "dead": dead ^ set(expected_dead),
            "done_and_dead": dead & set(self.effects),
        }
        return {name: value for name, value in found.items() if value}


@dataclass
class Workers:
    """A store that children work on, and all that they said."""

    kind: EngineKind
    location: str
    folder: Path
    lease_s: float
    batches: int
    said: Counter[str] = field(default_factory=Counter)
    started: int = 0

    async def send(self, items: Iterable[str]) -> None:
        """Put a message for each item into the queue."""
        engine = await self._open()
        await engine.writes.commit([Send(SUBMISSIONS_QUEUE, MessageId(item), item.encode()) for item in items])
        await engine.close()

    @contextmanager
    def child(self, mode: WorkMode = WorkMode.FENCED) -> Iterator[Child]:
        """A child at work."""
        self.started += 1
        shape = [f"{self.lease_s}", f"{self.batches}", mode, f"{self.started}"]
        arguments = [self.kind.name, self.location, str(self.folder), *shape]
        with running(CHILD, arguments, log=self.folder / f"child-{self.started}.log") as child:
            yield child
        self.said.update(child.lines)

    async def outcome(self) -> Outcome:
        """What is there in the end."""
        engine = await self._open()
        outcome = Outcome()
        page = await engine.kv.list("done:")
        for key in page.keys:
            entry = await engine.kv.get(key)
            assert entry is not None
            outcome.effects[key.removeprefix("done:")] = msgspec.json.decode(entry.value)["times"]
        outcome.dead = (await engine.queue.peek(SUBMISSIONS_QUEUE, status=MessageStatus.DEAD)).messages
        await engine.close()
        return outcome

    async def _open(self) -> Engine:
        return await self.kind.open(self.location, SystemClock())


def work_to_the_end(workers: Workers, *, most: int) -> int:
    """Start a child again and again until one ends by itself. Says how many died."""
    for died in range(most):
        with workers.child() as child:
            code = child.wait()
        if code == 0:
            return died
        if code > 0:
            raise RuntimeError(f"the child failed ({code}): {child.explain()}")
    raise RuntimeError(f"{most} children died")


def pause_children(workers: Workers, *, pauses: Iterable[float], mode: WorkMode) -> int:
    """One child at work, paused past its leases again and again; says how often.

    Where the store is shared, a second child takes what the first one has let go of.
    """
    paused = 0
    with ExitStack() as stack:
        child = stack.enter_context(workers.child(mode))
        if workers.kind.is_shared:
            stack.enter_context(workers.child(mode))
        for count, wait_s in enumerate(pauses, start=1):
            # Where another child shares the work, this one may have ended before it had so much to do.
            child.wait_for(lambda lines, count=count: child.has_ended or _has_begun(lines, at_least=3 * count))
            time.sleep(wait_s)
            if child.has_ended:
                break
            child.pause(workers.lease_s * 1.3)
            paused += 1
        code = child.wait()
        if code != 0:
            raise RuntimeError(f"the child failed ({code}): {child.explain()}")
    return paused


def _has_begun(lines: list[str], *, at_least: int) -> bool:
    return sum(line.startswith("begin") for line in lines) >= at_least
