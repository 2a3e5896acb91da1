"""The memory engine's queues."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vskill_platform.domain.errors import VskillError
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.engines.cursors import encode_cursor, number_position
from vskill_platform.engines.memory.commit import MemoryCommit
from vskill_platform.engines.memory.state import MemoryState, StoredMessage
from vskill_platform.engines.waiting import pull_waiting, wait_until_ready
from vskill_platform.ports.commit import Committed, Emit, Lease, Operation
from vskill_platform.ports.kv import check_limit
from vskill_platform.ports.queue import (
    MAX_LINE,
    MAX_RECEIVE,
    Exchange,
    Message,
    MessageInfo,
    MessagePage,
    QueueStats,
    WaitingMessage,
)


class MemoryQueue:
    """Queue over a MemoryState."""

    def __init__(self, state: MemoryState) -> None:
        self._state = state
        self._writes = MemoryCommit(state)

    async def receive(self, queue: str, *, max_messages: int, lease_s: float, wait_s: float = 0.0) -> list[Message]:
        """Pull messages, waiting for the first."""
        check_limit(max_messages, most=MAX_RECEIVE)

        async def pull() -> list[Message]:
            return self._pull(queue, max_messages=max_messages, lease_s=lease_s)

        return await pull_waiting(
            pull, lambda wait_s: self.wait_ready(queue, wait_s=wait_s), self._state.clock, wait_s=wait_s
        )

    async def exchange(
        self, queue: str, commits: Sequence[Sequence[Operation]], *, max_messages: int, lease_s: float
    ) -> Exchange:
        """Commit and pull at once."""
        check_limit(max_messages + 1, most=MAX_RECEIVE + 1)
        outcomes: list[Committed | VskillError] = []
        for operations in commits:
            try:
                outcomes.append(self._writes.apply(operations))
            except VskillError as error:
                outcomes.append(error)
        return Exchange(outcomes, self._pull(queue, max_messages=max_messages, lease_s=lease_s))

    def _pull(self, queue: str, *, max_messages: int, lease_s: float) -> list[Message]:
        state = self._state
        state.check_open()
        state.settle_timers()
        line = state.waiting.setdefault(queue, [])
        pulled: list[Message] = []
        if line and max_messages:
            state.sequence += 1
        while line and len(pulled) < max_messages:
            stored = state.messages[line[0][2]]
            if stored.is_suspect and pulled:
                break
            del line[0]
            pulled.append(self._lease(stored, lease_s=lease_s))
            if stored.is_suspect:
                break
        return pulled

    def _lease(self, stored: StoredMessage, *, lease_s: float) -> Message:
        stored.attempts += 1
        stored.token = self._state.sequence
        self._state.make_timed(stored, MessageStatus.LEASED, self._state.clock.now_ms() + int(lease_s * 1000))
        identity = MessageId(stored.id)
        return Message(
            id=identity,
            body=stored.body,
            attempts=stored.attempts,
            lease=Lease(identity, stored.token),
            is_suspect=stored.is_suspect,
            priority=stored.priority,
        )

    async def wait_ready(self, queue: str, *, wait_s: float) -> None:
        """Wait for something to pull."""
        await wait_until_ready(
            self._state.arrivals, self._state.clock, next_ready_ms=lambda: self._next_ready_ms(queue), wait_s=wait_s
        )

    async def _next_ready_ms(self, queue: str) -> int | None:
        self._state.check_open()
        self._state.settle_timers()
        if self._state.waiting.get(queue):
            return self._state.clock.now_ms()
        timed = (MessageStatus.DELAYED, MessageStatus.LEASED)
        moments = [m.at_ms for m in self._state.messages.values() if m.queue == queue and m.status in timed]
        return min(moments, default=None)

    async def extend(self, leases: Sequence[Lease], *, lease_s: float) -> list[bool]:
        """Prolong live leases."""
        self._state.check_open()
        self._state.settle_timers()
        until_ms = self._state.clock.now_ms() + int(lease_s * 1000)
        live: list[bool] = []
        for lease in leases:
            message = self._state.messages.get(lease.message_id)
            held = message is not None and (message.token, message.status) == (lease.token, MessageStatus.LEASED)
            if message is not None and held:
                self._state.make_timed(message, MessageStatus.LEASED, until_ms)
            live.append(held)
        self._state.arrivals.notify()
        return live

    async def stats(self, queue: str) -> QueueStats:
        """Counts by status."""
        messages = self._messages(queue)
        counts = {status: sum(m.status is status for m in messages) for status in MessageStatus}
        oldest_ms = min((m.sent_ms for m in messages if m.status is not MessageStatus.DEAD), default=None)
        return QueueStats(
            counts[MessageStatus.WAITING],
            counts[MessageStatus.DELAYED],
            counts[MessageStatus.LEASED],
            counts[MessageStatus.DEAD],
            oldest_ms,
        )

    async def peek(
        self, queue: str, *, status: MessageStatus, cursor: str | None = None, limit: int = 100
    ) -> MessagePage:
        """One page of messages of a status."""
        check_limit(limit)
        listing = f"peek:{queue}:{status}"
        after = number_position(cursor, listing=listing)
        found = sorted(
            (m for m in self._messages(queue) if m.status is status and m.number > after), key=lambda m: m.number
        )
        page = [_info(message) for message in found[:limit]]
        if len(found) <= limit:
            return MessagePage(page, None, complete=True)
        return MessagePage(page, encode_cursor(listing=listing, position=found[limit - 1].number), complete=False)

    async def line(self, queue: str, *, limit: int = MAX_LINE) -> list[WaitingMessage]:
        """What waits, in the order of delivery."""
        check_limit(limit, most=MAX_LINE)
        waiting = [message for message in self._messages(queue) if message.status is MessageStatus.WAITING]
        waiting.sort(key=lambda message: (-message.priority, message.number))
        return [WaitingMessage(MessageId(message.id), message.body) for message in waiting[:limit]]

    def _messages(self, queue: str) -> list[StoredMessage]:
        self._state.check_open()
        self._state.settle_timers()
        return [message for message in self._state.messages.values() if message.queue == queue]

    async def find(self, ids: Sequence[MessageId]) -> dict[MessageId, MessageInfo]:
        """Those of the messages that exist."""
        self._state.check_open()
        self._state.settle_timers()
        messages = self._state.messages
        return {id: _info(messages[id]) for id in ids if id in messages}

    async def requeue(self, ids: Sequence[MessageId]) -> list[MessageId]:
        """Deliver dead and delayed messages now."""
        self._state.check_open()
        self._state.settle_timers()
        moved: list[MessageId] = []
        for id in dict.fromkeys(ids):
            message = self._state.messages.get(id)
            if message is not None and message.status in (MessageStatus.DEAD, MessageStatus.DELAYED):
                message.attempts, message.is_suspect = 0, False
                self._state.make_ready(message)
                moved.append(id)
        self._state.arrivals.notify()
        return moved

    async def drop(self, ids: Sequence[MessageId], *, reason: str) -> list[MessageId]:
        """Remove messages that nobody works on."""
        self._state.check_open()
        self._state.settle_timers()
        dropped: list[MessageId] = []
        for id in dict.fromkeys(ids):
            message = self._state.messages.get(id)
            if message is not None and message.status is not MessageStatus.LEASED:
                self._state.leave_waiting(message)
                del self._state.messages[id]
                dropped.append(id)
                data = msgspec.json.encode({"queue": message.queue, "reason": reason})
                self._writes.apply([Emit("message.dropped", id, data)])
        return dropped


def _info(message: StoredMessage) -> MessageInfo:
    return MessageInfo(
        id=MessageId(message.id),
        queue=message.queue,
        status=message.status,
        attempts=message.attempts,
        sent_ms=message.sent_ms,
        ready_ms=message.at_ms,
        error=message.error,
        is_suspect=message.is_suspect,
        body=message.body,
    )
