"""Decisions about messages: the first wins, and a message's own beats its batch's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vskill_platform.domain.ids import MessageId
from vskill_platform.ports.commit import Ack, Bury, Lease, Release, Retry, Settlement
from vskill_platform.ports.queue import Message, MessageBatch

LEASE = Lease(MessageId("msg_1"), 7)
Decide = Callable[[Message], None]

DECISIONS: list[tuple[str, Decide, Settlement]] = [
    ("ack", lambda message: message.ack(), Ack(LEASE)),
    ("retry", lambda message: message.retry(error="no answer", delay_s=10), Retry(LEASE, "no answer", 10)),
    ("release", lambda message: message.release(delay_s=5), Release(LEASE, 5)),
    ("bury", lambda message: message.bury(error="hopeless"), Bury(LEASE, "hopeless")),
]
each_decision = pytest.mark.parametrize(
    ("decide", "settlement"), [pytest.param(decide, settlement, id=name) for name, decide, settlement in DECISIONS]
)


def make_message(id: str = "msg_1") -> Message:
    return Message(id=MessageId(id), body=b"{}", attempts=1, lease=Lease(MessageId(id), 7))


def make_batch(count: int = 3) -> MessageBatch:
    return MessageBatch("scans", [make_message(f"msg_{number}") for number in range(1, count + 1)])


def kinds_of(batch: MessageBatch) -> list[type[Settlement] | None]:
    return [type(message.settlement) if message.settlement else None for message in batch.messages]


def test_message_has_no_decision__before_the_first() -> None:
    message = make_message()
    assert (message.settlement, message.is_settled) == (None, False)


@each_decision
def test_decision_is_recorded_whole__as_its_settlement(decide: Decide, settlement: Settlement) -> None:
    message = make_message()
    decide(message)
    assert (message.settlement, message.is_settled) == (settlement, False)


@each_decision
def test_first_decision_wins__over_every_later_one(decide: Decide, settlement: Settlement) -> None:
    message = make_message()
    decide(message)
    for _, decide_again, _ in DECISIONS:
        decide_again(message)
    assert message.settlement == settlement


def test_first_decision_wins__over_the_same_with_other_words() -> None:
    message = make_message()
    message.retry(error="first", delay_s=1)
    message.retry(error="second", delay_s=2)
    assert message.settlement == Retry(LEASE, "first", 1)


def test_retry_and_release_are_at_once__without_a_delay() -> None:
    retried, released = make_message(), make_message()
    retried.retry()
    released.release()
    assert retried.settlement == Retry(LEASE, "retried by the handler", 0.0)
    assert released.settlement == Release(LEASE, 0.0)


def test_messages_decide_apart__in_one_batch() -> None:
    batch = make_batch()
    batch.messages[1].bury(error="hopeless")
    assert kinds_of(batch) == [None, Bury, None]


def test_mark_settled_stands_for_an_ack__without_a_decision() -> None:
    message = make_message()
    message.mark_settled()
    assert (message.settlement, message.is_settled) == (Ack(LEASE), True)


@each_decision
def test_mark_settled_keeps_the_decision__that_there_was(decide: Decide, settlement: Settlement) -> None:
    message = make_message()
    decide(message)
    message.mark_settled()
    assert (message.settlement, message.is_settled) == (settlement, True)


@each_decision
def test_settled_message_stays_as_it_is__whatever_is_decided(decide: Decide, settlement: Settlement) -> None:
    message = make_message()
    message.mark_settled()
    decide(message)
    assert (message.settlement, message.is_settled) == (Ack(LEASE), True)


def test_settled_message_stays_as_it_is__when_its_batch_raises() -> None:
    batch = make_batch()
    batch.messages[0].mark_settled()
    batch.close(ValueError("bad"))
    assert kinds_of(batch) == [Ack, Retry, Retry]
    assert [message.is_settled for message in batch.messages] == [True, False, False]


def test_batch_acks_what_is_open__when_the_handler_returned() -> None:
    batch = make_batch()
    batch.close()
    assert [message.settlement for message in batch.messages] == [Ack(message.lease) for message in batch.messages]


def test_batch_retries_what_is_open_with_the_error__when_the_handler_raised() -> None:
    batch = make_batch()
    batch.close(ValueError("no such tree"))
    assert [message.settlement for message in batch.messages] == [
        Retry(message.lease, "ValueError: no such tree") for message in batch.messages
    ]


def test_batch_settles_nothing__before_it_is_closed() -> None:
    batch = make_batch()
    batch.ack_all()
    assert kinds_of(batch) == [None, None, None]


def test_ack_all_stands__when_the_handler_raised_afterwards() -> None:
    batch = make_batch()
    batch.ack_all()
    batch.close(ValueError("too late"))
    assert kinds_of(batch) == [Ack, Ack, Ack]


def test_retry_all_stands__when_the_handler_returned_afterwards() -> None:
    batch = make_batch()
    batch.retry_all()
    batch.close()
    assert [message.settlement for message in batch.messages] == [
        Retry(message.lease, "retried by the handler") for message in batch.messages
    ]


def test_retry_all_tells_the_error__when_the_handler_raised_afterwards() -> None:
    batch = make_batch(1)
    batch.retry_all()
    batch.close(KeyError("name"))
    assert batch.messages[0].settlement == Retry(batch.messages[0].lease, "KeyError: 'name'")


def test_first_decision_for_the_batch_wins__whichever_it_is() -> None:
    acked, retried = make_batch(1), make_batch(1)
    acked.ack_all()
    acked.retry_all()
    acked.close()
    retried.retry_all()
    retried.ack_all()
    retried.close()
    assert (kinds_of(acked), kinds_of(retried)) == ([Ack], [Retry])


@each_decision
def test_own_decision_beats_the_batch__decided_before_it(decide: Decide, settlement: Settlement) -> None:
    for decide_all in (MessageBatch.ack_all, MessageBatch.retry_all):
        batch = make_batch()
        decide(batch.messages[0])
        decide_all(batch)
        batch.close()
        assert batch.messages[0].settlement == settlement


@each_decision
def test_own_decision_beats_the_batch__decided_after_it(decide: Decide, settlement: Settlement) -> None:
    for decide_all in (MessageBatch.ack_all, MessageBatch.retry_all):
        batch = make_batch()
        decide_all(batch)
        decide(batch.messages[0])
        batch.close()
        assert batch.messages[0].settlement == settlement


@each_decision
def test_own_decision_stands__when_the_handler_raised(decide: Decide, settlement: Settlement) -> None:
    batch = make_batch()
    decide(batch.messages[0])
    batch.close(ValueError("bad"))
    assert batch.messages[0].settlement == settlement
    assert kinds_of(batch)[1:] == [Retry, Retry]


def test_batch_keeps_its_decisions__when_it_is_closed_again() -> None:
    batch = make_batch()
    batch.close()
    batch.close(ValueError("again"))
    assert kinds_of(batch) == [Ack, Ack, Ack]


def test_batch_retries__when_the_handler_was_cancelled() -> None:
    batch = make_batch(1)
    batch.close(KeyboardInterrupt())
    assert kinds_of(batch) == [Retry]


def test_empty_batch_closes__without_a_word() -> None:
    make_batch(0).close()
