"""Alerts as they are kept: `alert:{id}`, one record for each thing that can be wrong, open or closed, with its history."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.alert import ALERT_PREFIX, Alert, AlertSeverity, acknowledge_alert, alert_key
from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Emit, Operation, Put
from vskill_platform.stores.reads import read_prefix, require_complete
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

OPENED, REPEATED, CLOSED, ACKNOWLEDGED = "alert.opened", "alert.repeated", "alert.closed", "alert.acknowledged"
MAX_NOTE_CHARS = 1000
_alerts = msgspec.json.Decoder(Alert)
_WORST_FIRST = (AlertSeverity.CRITICAL, AlertSeverity.WARNING)


class AlertNews(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What an event tells of an alert."""

    id: str
    code: str
    subject: str
    severity: AlertSeverity
    sentence: str
    advice: str
    opened_at: str
    closed_at: str | None = None


async def list_alerts() -> list[Alert]:
    """Every alert, the open ones first, the worst and newest of them first. Raises StoreUnavailable where one is unreadable."""
    found = require_complete(await read_prefix(ALERT_PREFIX, _decode))
    newest = sorted(found, key=lambda alert: alert.closed_at or alert.opened_at, reverse=True)
    return sorted(newest, key=lambda alert: (not alert.is_open, alert.is_open and _WORST_FIRST.index(alert.severity)))


async def open_alerts() -> list[Alert]:
    """What is wrong now, the worst first. Raises StoreUnavailable where that cannot be known."""
    return [alert for alert in await list_alerts() if alert.is_open]


async def find_alert(identity: str) -> tuple[Alert, bytes, int] | None:
    """An alert with its bytes and version, or None."""
    key = alert_key(identity)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else (_decode(key, entry.value), entry.value, entry.version)


def keeping(alert: Alert, *, found: tuple[Alert, bytes, int] | None) -> Put:
    """The operation that writes an alert over what was found of it, if nobody has meanwhile."""
    key = alert_key(alert.id)
    if found is None:
        return Put(key, encode_record(alert), if_version=ABSENT)
    _, previous, version = found
    return Put(key, encode_changed(alert, key=key, previous=previous), if_version=version)


def telling(kind: str, alert: Alert, *, sentence: str | None = None) -> Operation:
    """The event that tells of an alert."""
    news = AlertNews(
        id=alert.id,
        code=alert.code.value,
        subject=alert.subject,
        severity=alert.severity,
        sentence=sentence or alert.sentence,
        advice=alert.advice,
        opened_at=alert.opened_at,
        closed_at=alert.closed_at,
    )
    return Emit(kind, alert.id, msgspec.json.encode(news))


async def acknowledge(identity: str, *, by: str, note: str) -> Alert:
    """Note that a person has seen an open alert. Raises NotFound where no such alert is open, Conflict if it changed."""
    if not 1 <= len(note.strip()) <= MAX_NOTE_CHARS:
        raise InvalidInput(f"Say what is being done about it, in 1 to {MAX_NOTE_CHARS} characters.")
    found = await find_alert(identity)
    if found is None or not found[0].is_open:
        raise NotFound(f"There is no open alert '{identity[:80]}'. It may have closed meanwhile.", id=identity[:80])
    env = current_env("writes")
    seen = acknowledge_alert(found[0], by=by, note=note.strip(), now_ms=env.clock.now_ms())
    await env.writes.commit([keeping(seen, found=found), telling(ACKNOWLEDGED, seen)])
    return seen


def told_at(alert: Alert, *, now_ms: int) -> Alert:
    """The alert, told now."""
    return msgspec.structs.replace(alert, told_at=iso_from_ms(now_ms), is_told=True)


def _decode(key: str, value: bytes) -> Alert:
    return decode_record(key, value, decoder=_alerts)
