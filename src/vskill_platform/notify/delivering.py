"""Delivering webhooks that are due: each receiver has a lane of its own with a few places, so that a slow one delays nobody else.

A delivery is claimed by compare-and-set before it is sent and settled after. Between the two it may be lost with its process;
then its claim runs out and it is sent again, by the same id.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable

import msgspec
import structlog

from vskill_platform import metrics
from vskill_platform.domain.errors import Conflict, MalformedRecord, NotFound, VskillError
from vskill_platform.domain.times import iso_from_ms, ms_from_iso
from vskill_platform.domain.webhook import (
    DELIVERY_PREFIX,
    Answer,
    Delivery,
    DeliveryStatus,
    Webhook,
    delivery_key,
    next_delay_s,
)
from vskill_platform.notify.sending import Sender
from vskill_platform.notify.signing import sign
from vskill_platform.ports.commit import Delete, Operation, Put
from vskill_platform.ports.kv import DueEntry
from vskill_platform.stores.webhook_deliveries import (
    FoundDelivery,
    decode_delivery,
    due_deliveries,
    ending,
    waiting_until,
)
from vskill_platform.stores.webhooks import (
    changing,
    find_health,
    find_webhook,
    keeping_health,
    list_webhooks,
    signing_secrets,
)
from vskill_platform.worker_context import current_env

PLACES_OF_LANE = 4
_PAGE = 500
_TROUBLE_WAIT_S = 5.0
_HEALTH_TRIES = 5
_log = structlog.get_logger(__name__)


class Lanes:
    """What this process is sending, by receiver."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._lanes: defaultdict[str, dict[str, asyncio.Task[None]]] = defaultdict(dict)
        self.changed = asyncio.Event()

    @property
    def running(self) -> set[asyncio.Task[None]]:
        """Everything that is being sent."""
        return {task for lane in self._lanes.values() for task in lane.values()}

    async def start_due(self) -> int:
        """Begin to send what is due, as far as lanes have room. Says how many were begun. The env must be in scope."""
        begun = 0
        for entry in await self._find_due():
            lane = self._lanes[_webhook_of(entry.key)]
            if len(lane) >= PLACES_OF_LANE or entry.key in lane:
                continue
            lane[entry.key] = task = asyncio.create_task(self._run(entry))
            task.add_done_callback(lambda _, lane=lane, key=entry.key: self._end(lane, key))  # type: ignore[misc]
            begun += 1
        return begun

    async def _find_due(self) -> list[DueEntry]:
        """What is due; where that is too much to look at, something for everybody."""
        entries = await due_deliveries(limit=_PAGE)
        if len(entries) < _PAGE:
            return entries
        lanes = [
            await due_deliveries(webhook=webhook.id, limit=2 * PLACES_OF_LANE) for webhook in await list_webhooks()
        ]
        return [*(entry for lane in lanes for entry in lane), *entries]

    def _end(self, lane: dict[str, asyncio.Task[None]], key: str) -> None:
        del lane[key]
        self.changed.set()

    async def _run(self, entry: DueEntry) -> None:
        try:
            await deliver(entry, self._sender)
        except Exception as error:  # whatever one delivery does, the others go on
            code = error.code if isinstance(error, VskillError) else type(error).__name__
            _log.error("webhook_not_handled", delivery=entry.key, code=code, error=str(error))
            await current_env("clock").clock.sleep(_TROUBLE_WAIT_S)


async def deliver(entry: DueEntry, sender: Sender) -> None:
    """Claim a delivery that is due, send it, and settle it. Nothing happens where somebody else was faster."""
    try:
        found = FoundDelivery(decode_delivery(entry.key, entry.entry.value), *entry.entry)
    except MalformedRecord as error:
        _log.error("webhook_delivery_malformed", delivery=entry.key, error=error.message)
        await _commit([Put(entry.key, entry.entry.value, if_version=entry.entry.version)])
        return
    receiver = await find_webhook(found.delivery.webhook)
    if receiver is None:
        await _commit([Delete(entry.key, if_version=found.version)])
    elif not receiver.webhook.is_enabled:
        answer = Answer(at=_now(), error="The webhook is switched off.")
        await _settle(found, answer, is_last=True)
    else:
        claimed = await _claim(found)
        if claimed is not None:
            await _send(claimed, receiver.webhook, sender)


async def _claim(found: FoundDelivery) -> FoundDelivery | None:
    """Take a delivery for as long as sending may last. None where somebody else has."""
    env = current_env("writes")
    claim_ms = int((2 * env.settings.webhook_time_limit_s + 1) * 1000)
    claimed = msgspec.structs.replace(found.delivery, tries=found.delivery.tries + 1)
    put = waiting_until(found, claimed, due_ms=env.clock.now_ms() + claim_ms)
    try:
        committed = await env.writes.commit([put])
    except Conflict:
        return None
    return FoundDelivery(claimed, put.value, committed.version)


async def _send(claimed: FoundDelivery, webhook: Webhook, sender: Sender) -> None:
    delivery, body = claimed.delivery, claimed.delivery.body.encode()
    try:
        secrets = await signing_secrets(webhook.id)
    except NotFound:
        return  # the receiver was removed this moment, and the delivery goes when it comes up again
    at_s = current_env("clock").clock.now_ms() // 1000
    headers = sign(body, id=delivery.id, at_s=at_s, secrets=secrets)
    sent = await sender.send(webhook.url, body=body, headers=headers)
    answer = Answer(at=_now(), **sent._asdict())
    await _settle(claimed, answer, is_last=False)
    await note_health(webhook, answer)


async def _settle(found: FoundDelivery, answer: Answer, *, is_last: bool) -> None:
    """Write down what came of a try, and when the next one is."""
    delivery = msgspec.structs.replace(found.delivery, last=answer)
    delay_s = (
        None if is_last else next_delay_s(delivery.tries, identity=delivery_key(delivery.webhook, delivery.number))
    )
    operation, outcome = _next(found, delivery, answer, delay_s)
    metrics.WEBHOOK_TRIES.labels(outcome).inc()
    if await _commit([operation]):
        tell = _log.info if answer.is_success else _log.warning
        tell("webhook_" + outcome, webhook=delivery.webhook, id=delivery.id, tries=delivery.tries, status=answer.status)


def _next(found: FoundDelivery, delivery: Delivery, answer: Answer, delay_s: float | None) -> tuple[Put, str]:
    if answer.is_success:
        return ending(found, msgspec.structs.replace(delivery, status=DeliveryStatus.DELIVERED)), "delivered"
    if delay_s is None:
        return ending(found, msgspec.structs.replace(delivery, status=DeliveryStatus.GIVEN_UP)), "given_up"
    due_ms = current_env("clock").clock.now_ms() + int(delay_s * 1000)
    return waiting_until(found, delivery, due_ms=due_ms), "failed"


async def note_health(webhook: Webhook, answer: Answer) -> None:
    """Note how a receiver fares, and switch it off where it has only failed for too long."""
    for _ in range(_HEALTH_TRIES):
        health, version = await find_health(webhook.id)
        failing_since = None if answer.is_success else health.failing_since or answer.at
        changed = msgspec.structs.replace(
            health,
            last=answer,
            failing_since=failing_since,
            last_success_at=answer.at if answer.is_success else health.last_success_at,
        )
        operations: list[Operation] = [keeping_health(changed, if_version=version)]
        if failing_since is not None:
            operations += await _switching_off(webhook, failing_since)
        if await _commit(operations):
            return


async def _switching_off(webhook: Webhook, failing_since: str) -> list[Operation]:
    env = current_env("clock")
    if env.clock.now_ms() - ms_from_iso(failing_since) < env.settings.webhook_disable_after_s * 1000:
        return []
    found = await find_webhook(webhook.id)
    if found is None or not found.webhook.is_enabled:
        return []
    because = f"Nothing has been taken since {failing_since}."
    _log.error("webhook_switched_off", webhook=webhook.id, detail=because)
    return [changing(found, is_enabled=False, disabled_because=because)[1]]


async def _commit(operations: Iterable[Operation]) -> bool:
    """Commit unless somebody was faster; then what they wrote stands."""
    try:
        await current_env("writes").writes.commit(list(operations))
    except Conflict:
        return False
    return True


def _webhook_of(key: str) -> str:
    return key.removeprefix(DELIVERY_PREFIX).partition(":")[0]


def _now() -> str:
    return iso_from_ms(current_env("clock").clock.now_ms())
