"""The machine for the queues: leases that lapse, holders that come too late, operators that reach in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis.stateful import invariant, rule

from tests.machines.queue_model import DEAD, DELAYED, LEASED, WAITING, QueueModel
from tests.machines.queue_steps import (
    QUEUES,
    STEPS,
    STEPS_ON_DISK,
    CheckLeases,
    ExchangeSome,
    Extend,
    PassTime,
    ReachIn,
    Receive,
    Reopen,
    SendSome,
    Settle,
    Step,
    Touch,
    Word,
)
from tests.machines.stage import Disagreement, Machine, Plant, PostgresStage, SqliteStage, agree, leave_alone
from vskill_platform.domain.errors import Conflict, LeaseLost, VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.ports.commit import (
    ABSENT,
    Ack,
    Bury,
    ByHand,
    CheckIdle,
    CheckLease,
    CheckStatus,
    Committed,
    DropMessage,
    Emit,
    Lease,
    Operation,
    Put,
    Release,
    Reprioritise,
    Requeue,
    Retry,
    Send,
    Settlement,
)
from vskill_platform.ports.queue import Message, MessageInfo

T = TypeVar("T")
MAX_ATTEMPTS = 3
COMPARE_EVERY = 8
EXCHANGE_LEASE_S = 30.0
STATUSES = (WAITING, LEASED, DEAD, WAITING, DELAYED)


class QueueMachine(Machine):
    """Random sends, pulls, settlements and time against a `QueueModel`."""

    def __init__(self, plant: Plant = leave_alone) -> None:
        super().__init__(max_attempts=MAX_ATTEMPTS, plant=plant)
        self.model = QueueModel(MAX_ATTEMPTS)
        self.leases: list[Lease] = []
        self.ids: list[MessageId] = []
        self.commits = 0
        self.play(SendSome("a", 0.0, (0, 1, 0)))

    def play(self, step: Step) -> None:
        match step:
            case SendSome(queue, delay_s, priorities):
                self._send(queue, delay_s, priorities)
            case Receive(queue, most, lease_s, word):
                self._receive(queue, most, lease_s, word)
            case Settle(numbers, word) if self.leases:
                self._settle([_say(_pick(self.leases, number), word) for number in numbers])
            case ExchangeSome(queue, most, words):
                settlements = [_say(_pick(self.leases, number), word) for number, word in words if self.leases]
                self._exchange(queue, most, settlements)
            case Extend(numbers, lease_s) if self.leases:
                self._extend([_pick(self.leases, number) for number in numbers], lease_s)
            case CheckLeases(numbers) if self.leases:
                self._check_leases([_pick(self.leases, number) for number in numbers])
            case ReachIn(touch, number) if self.ids:
                self._reach_in(touch, _pick(self.ids, number))
            case PassTime(past_s):
                self._pass_time(past_s)
            case Reopen():
                self.stage.reopen()
                self.model.lose_worker()

    @invariant()
    def agrees(self) -> None:
        if self.steps % COMPARE_EVERY == 0:
            self.stage.run(self._compare(self.steps // COMPARE_EVERY))

    def _send(self, queue: str, delay_s: float, priorities: Sequence[int]) -> None:
        sends = [self._new_message(queue, delay_s, priority) for priority in priorities]
        self._commit(sends)
        for send in sends:
            self.model.send(send, self.now_ms)

    def _receive(self, queue: str, most: int, lease_s: float, word: Word | None) -> None:
        received = self.stage.run(self.stage.engine.queue.receive(queue, max_messages=most, lease_s=lease_s))
        self._note_received(queue, most, lease_s, received)
        if word is not None:
            for message in received:
                self._settle([_say(message.lease, word)])

    def _exchange(self, queue: str, most: int, settlements: list[Settlement]) -> None:
        """Each settlement stands alone: some are too late, and one more commit always fails."""
        commits: list[list[Operation]] = [[settlement] for settlement in settlements]
        commits.append([Put("never", b""), Put("always", b"", if_version=99)])
        done = self.stage.run(
            self.stage.engine.queue.exchange(queue, commits, max_messages=most, lease_s=EXCHANGE_LEASE_S)
        )
        expected: list[type] = []
        for settlement in settlements:
            expected.append(Committed if self.model.can_settle([settlement]) else LeaseLost)
            if expected[-1] is Committed:
                self.model.settle(settlement, self.now_ms)
        agree("outcomes of an exchange", [type(outcome) for outcome in done.outcomes], [*expected, Conflict])
        self._note_received(queue, most, EXCHANGE_LEASE_S, done.messages)

    def _extend(self, leases: list[Lease], lease_s: float) -> None:
        until_ms = self.now_ms + lease_s * 1000
        live = self.stage.run(self.stage.engine.queue.extend(leases, lease_s=lease_s))
        agree("live leases", live, [self.model.extend(lease, until_ms) for lease in leases])

    def _check_leases(self, leases: list[Lease]) -> None:
        operations = [CheckLease(lease) for lease in leases]
        if all(self.model.is_live(lease) for lease in leases):
            self._commit(operations)
        else:
            self._expect(LeaseLost, operations)

    def _reach_in(self, touch: Touch, identity: MessageId) -> None:
        queue, ids = self.stage.engine.queue, [identity, MessageId("nobody")]
        match touch:
            case Touch.REQUEUE:
                agree("requeued", self.stage.run(queue.requeue(ids)), self.model.requeue(ids))
            case Touch.DROP:
                agree("dropped", self.stage.run(queue.drop(ids, reason="test")), self.model.drop(ids))
            case Touch.REQUEUE_IN_COMMIT:
                self._touch(Requeue(identity), is_done=bool(self.model.requeue([identity])))
            case Touch.DROP_IN_COMMIT:
                self._touch(DropMessage(identity, "test"), is_done=bool(self.model.drop([identity])))
            case Touch.RAISE | Touch.LOWER:
                priority = 1 if touch is Touch.RAISE else -1
                self._touch(Reprioritise(identity, priority), is_done=self.model.reprioritise(identity, priority))
            case Touch.CHECK_IDLE:
                self._check_idle(identity)
            case Touch.CHECK_STATUS:
                self._check_status(identity)
            case Touch.SEND_AGAIN:
                self._send_again(identity)

    def _touch(self, operation: ByHand, *, is_done: bool) -> None:
        if is_done:
            self._commit([operation])
        else:
            self._expect(Conflict, [operation])

    def _pass_time(self, past_s: float) -> None:
        moments = [m.until_ms for m in self.model.messages.values() if m.status in (DELAYED, LEASED)]
        wait_s = (min(moments) - self.now_ms) / 1000 if moments else 0.0
        self.stage.clock.shift(max(wait_s + past_s, 0.001))
        self.model.pass_time(self.now_ms)

    def _check_idle(self, identity: MessageId) -> None:
        message = self.model.messages.get(identity)
        if message is not None and message.status is LEASED:
            self._expect(Conflict, [CheckIdle(identity)])
        else:
            self._commit([CheckIdle(identity)])

    def _check_status(self, identity: MessageId) -> None:
        message = self.model.messages.get(identity)
        actual = MessageStatus.GONE if message is None else message.status
        self._commit([CheckStatus(identity, actual)])
        for other in MessageStatus:
            if other is not actual:
                self._expect(Conflict, [CheckStatus(identity, other)])

    def _send_again(self, identity: MessageId) -> None:
        """An id in use is refused, and with it all that came in the same commit. One whose message is gone is free."""
        send = Send("a", identity, b"again")
        if identity not in self.model.messages:
            self._commit([send])
            self.model.send(send, self.now_ms)
            return
        other = Send("a", MessageId("other"), b"")
        self._expect(Conflict, [other, Emit("kind", "subject", b""), send])
        agree("what a refused commit sent", self.stage.run(self.stage.engine.queue.find([other.id])), {})

    def _new_message(self, queue: str, delay_s: float, priority: int) -> Send:
        identity = MessageId(f"m{len(self.ids)}")
        self.ids.append(identity)
        return Send(queue, identity, identity.encode(), delay_s=delay_s, priority=priority)

    def _settle(self, settlements: list[Settlement]) -> None:
        """Settle in one commit with a record: both happen or neither."""
        key = f"done:{self.commits}"
        operations: list[Operation] = [Put(key, b"", if_version=ABSENT), *settlements]
        if self.model.can_settle(settlements):
            self._commit(operations)
            for settlement in settlements:
                self.model.settle(settlement, self.now_ms)
        else:
            self._expect(LeaseLost, operations)
            agree("what a stale holder wrote", self.stage.run(self.stage.engine.kv.get(key)), None)

    def _commit(self, operations: Sequence[Operation]) -> None:
        try:
            self.stage.run(self.stage.engine.writes.commit(operations))
        except VskillError as error:
            raise Disagreement(f"{operations} was refused: {error!r}") from error
        self.commits += 1

    def _expect(self, refusal: type[VskillError], operations: Sequence[Operation]) -> None:
        try:
            self.stage.run(self.stage.engine.writes.commit(operations))
        except VskillError as error:
            agree(f"refusal of {operations}", type(error), refusal)
        else:
            raise Disagreement(f"{operations} was not refused with {refusal.__name__}")

    def _note_received(self, queue: str, most: int, lease_s: float, received: Sequence[Message]) -> None:
        expected = self.model.next_batch(queue, most)
        for message in expected[: len(received)]:
            self.model.deliver(message, received[expected.index(message)].lease, until_ms=self.now_ms + lease_s * 1000)
        agree(
            "delivered",
            [(m.id, m.body, m.attempts, m.is_suspect, m.priority, m.lease.message_id) for m in received],
            [(m.id, m.body, m.attempts, m.is_suspect, m.priority, m.id) for m in expected],
        )
        fresh = [message.lease for message in received]
        agree("leases that were given before", [lease for lease in fresh if lease in self.leases], [])
        self.leases.extend(fresh)

    async def _compare(self, turn: int) -> None:
        """Every message; and, taking turns, one queue and one status as operators see them."""
        engine, model = self.stage.engine, self.model
        found = await engine.queue.find([*self.ids, MessageId("nobody")])
        seen = {id: _facts(info) for id, info in found.items()}
        agree("messages", seen, {id: message.facts for id, message in model.messages.items()})
        queue = QUEUES[turn % len(QUEUES)]
        agree("stats", await engine.queue.stats(queue), model.stats(queue))
        await self._compare_peek(queue, STATUSES[turn % len(STATUSES)])
        if turn % len(STATUSES) == 0:
            events = (await engine.events.read(0)).events
            drops = [("message.dropped", id) for id in model.dropped]
            agree("events of drops", [(event.kind, event.subject) for event in events], drops)

    async def _compare_peek(self, queue: str, status: MessageStatus) -> None:
        peek, expected = self.stage.engine.queue.peek, self.model.peek(queue, status)
        page = await peek(queue, status=status, limit=2)
        agree(f"first page of {status}", [info.id for info in page.messages], expected[:2])
        agree(f"completeness of {status}", page.complete, len(expected) <= 2)
        if not page.complete:
            rest = await peek(queue, status=status, cursor=page.cursor)
            agree(f"rest of {status}", [info.id for info in rest.messages], expected[2:])


def _pick(items: Sequence[T], number: int) -> T:
    return items[-1 - number % len(items)]


def _say(lease: Lease, word: Word) -> Settlement:
    match word:
        case Word.ACK:
            return Ack(lease)
        case Word.RETRY | Word.RETRY_LATER:
            return Retry(lease, f"failed {lease.token}", 5.0 if word is Word.RETRY_LATER else 0.0)
        case Word.RELEASE | Word.RELEASE_LATER:
            return Release(lease, 5.0 if word is Word.RELEASE_LATER else 0.0)
        case Word.BURY:
            return Bury(lease, f"hopeless {lease.token}")


def _facts(info: MessageInfo) -> tuple[object, ...]:
    ready_ms = info.ready_ms if info.status in (DELAYED, LEASED) else None
    return (*info[:5], ready_ms, *info[6:])


class QueueOnMemory(QueueMachine):
    """On the memory engine."""

    @rule(step=STEPS)
    def take(self, step: Step) -> None:
        self.take_step(step)


class QueueOnSqlite(QueueMachine):
    """On a file. The next process finds no lease of the last one alive, however long they would have run."""

    stage_type = SqliteStage

    @rule(step=STEPS_ON_DISK)
    def take(self, step: Step) -> None:
        self.take_step(step)


class QueueOnPostgres(QueueMachine):
    """On a database server."""

    stage_type = PostgresStage

    @rule(step=STEPS)
    def take(self, step: Step) -> None:
        self.take_step(step)
