"""A process that loads a store until it is killed, and says what it does on standard output.

Run as `python -m tests.faults.load_child ENGINE LOCATION TURN MODE`. One line before each attempt and one after each
answer, both written to the pipe at once, so that nothing that was said dies with the process:

    try write ITEM NUMBER      ok write ITEM NUMBER VERSION      no write ITEM NUMBER      unknown write ITEM NUMBER
    try done ITEM              ok done ITEM VERSION              no done ITEM              unknown done ITEM

`no` is a definite answer: nothing of it was written, and nothing will be. The first answer other than `ok` ends the load,
unless it is `stubborn`: then it goes on with the next item.

Writers commit record, history, catalog row, event and (the first time) message together. Consumers commit the effect of a
message together with its Ack. Two modes plant a fault, to show that the test can fail: a `liar` acknowledges before it
has heard of the commit, and a `splitter` commits the Ack apart from the effect.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count

from tests.faults.engines import ENGINES
from vskill_platform.cli.logs import set_up_logs
from vskill_platform.domain.catalog import SUBMISSIONS, Document
from vskill_platform.domain.errors import CommitUnknown, StoreUnavailable, VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.clock import SystemClock
from vskill_platform.ports.commit import ABSENT, Ack, Add, Emit, Index, Operation, Put, Retry, Send
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import Message

QUEUE = "work"
WRITERS = 5
CONSUMERS = 2
LEASE_S = 30.0
MOST_WRITES = 4
BREATH_S = 0.02
"""How long a stubborn load waits after trouble."""


class Mode(StrEnum):
    """How the load behaves."""

    HONEST = "honest"
    LIAR = "liar"
    SPLITTER = "splitter"
    STUBBORN = "stubborn"


def say(line: str) -> None:
    """One line, whole and at once."""
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


@dataclass
class Load:
    """The engine under load, the randomness of this process, and who is told."""

    engine: Engine
    turn: int
    mode: Mode
    random: random.Random
    say: Callable[[str], None] = say
    numbers: Iterator[int] = field(default_factory=count)

    async def commit(self, deed: str, operations: list[Operation]) -> int:
        """Commit, and say so: before, and once it is acknowledged."""
        self.say(f"try {deed}")
        if self.mode is Mode.LIAR:
            self.say(f"ok {deed} 0")
        try:
            version = (await self.engine.writes.commit(operations)).version
        except VskillError as error:
            self.deny([deed], error)
            raise
        if self.mode is not Mode.LIAR:
            self.say(f"ok {deed} {version}")
        return version

    def deny(self, deeds: Sequence[str], error: VskillError) -> None:
        """Say that these were not acknowledged, and whether that is certain."""
        for deed in deeds:
            self.say(f"{'unknown' if isinstance(error, CommitUnknown) else 'no'} {deed}")

    async def keep_on(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do endless work; whoever is stubborn begins again after every trouble that the store may have."""
        while True:
            try:
                await work()
            except (StoreUnavailable, CommitUnknown):
                if self.mode is not Mode.STUBBORN:
                    raise
                await asyncio.sleep(BREATH_S)

    async def write(self) -> None:
        """New items without end, each written a few times."""
        for number in self.numbers:
            item = f"{self.turn}-{number}"
            version = ABSENT
            for number in range(1, self.random.randint(1, MOST_WRITES) + 1):
                version = await self.commit(f"write {item} {number}", writing(item, number, version))

    async def consume(self) -> None:
        """Take messages without end, and do each once. Some attempts fail."""
        while True:
            for message in await self.engine.queue.receive(QUEUE, max_messages=3, lease_s=LEASE_S, wait_s=1.0):
                await self.work_on(message)

    async def work_on(self, message: Message) -> None:
        """The effect and the Ack."""
        item = message.body.decode()
        if message.attempts == 1 and self.random.random() < 0.1:
            await self.engine.writes.commit([Retry(message.lease, "planned")])
        elif self.mode is Mode.SPLITTER:
            await self.commit(f"done {item}", [affecting(item)])
            await self.engine.writes.commit([Ack(message.lease)])
        else:
            await self.commit(f"done {item}", [affecting(item), Ack(message.lease)])

    async def exchange(self) -> None:
        """The same as the worker's loop does it: settle what was done and pull more in one round trip."""
        held: list[Message] = []
        while True:
            items = [message.body.decode() for message in held]
            for item in items:
                self.say(f"try done {item}")
            commits: list[list[Operation]] = [
                [affecting(item), Ack(message.lease)] for item, message in zip(items, held, strict=True)
            ]
            try:
                done = await self.engine.queue.exchange(QUEUE, commits, max_messages=2, lease_s=LEASE_S)
            except VskillError as error:
                self.deny([f"done {item}" for item in items], error)
                raise
            for item, outcome in zip(items, done.outcomes, strict=True):
                if isinstance(outcome, VskillError):
                    raise outcome
                self.say(f"ok done {item} {outcome.version}")
            held = done.messages
            if not held:
                await self.engine.queue.wait_ready(QUEUE, wait_s=1.0)

    async def run(self) -> None:
        """Load the engine from every side until it fails or we are cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(WRITERS):
                group.create_task(self.keep_on(self.write))
            for _ in range(CONSUMERS):
                group.create_task(self.keep_on(self.consume))
            if self.mode in (Mode.HONEST, Mode.STUBBORN):
                group.create_task(self.keep_on(self.exchange))
            group.create_task(self.keep_on(self.read))

    async def read(self) -> None:
        """Reads beside the writes: listings, counts and the queue."""
        while True:
            await self.engine.kv.list("rec:", limit=50)
            await self.engine.catalog.counts(SUBMISSIONS, "state")
            await self.engine.queue.stats(QUEUE)


def affecting(item: str) -> Add:
    """The effect of an item's message. Nothing but the fence keeps it from happening twice: a counter takes any number."""
    return Add(f"done:{item}", {"times": 1})


def writing(item: str, number: int, version: int) -> list[Operation]:
    """The operations of the n-th write of an item."""
    value = f"{number}".encode()
    operations: list[Operation] = [
        Put(f"rec:{item}", value, if_version=version),
        Put(f"hist:{item}:{number:04d}", value, if_version=ABSENT),
        Index(describe(item, number)),
        Emit("written", item, value),
    ]
    if number == 1:
        operations.append(Send(QUEUE, MessageId(f"msg-{item}"), item.encode()))
    return operations


def describe(item: str, number: int) -> Document:
    """The catalog's document for an item; its row is the number of the write."""
    return Document(
        SUBMISSIONS,
        item,
        f"{number}".encode(),
        facets={"state": f"S{number}", "repo_url": "https://example.org/r", "verdict": ""},
        sorts={"created": 0, "updated": number, "skill_name": item},
        terms=(term_of(number),),
    )


def term_of(number: int) -> str:
    """The word by which a search finds the items that were written so often."""
    return f"written{number}times"


async def run(engine: str, location: str, turn: int, mode: Mode) -> None:
    """Load the store until somebody kills us. What it logs goes to standard error."""
    set_up_logs("error")
    opened = await ENGINES[engine].open(location, SystemClock())
    await Load(opened, turn, mode, random.Random(turn)).run()


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3]), Mode(sys.argv[4])))
