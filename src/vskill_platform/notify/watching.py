"""The watch: a cron job that judges the facts, opens and closes alerts, and says so.

What an alert becomes and the event that tells of it are one commit under compare-and-set, so an alert is told once, however
many watches run. One that closes and opens anew, again and again, is told no oftener than the setting says.
"""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from vskill_platform.domain.alert import (
    Alert,
    AlertSeverity,
    Finding,
    Thresholds,
    close_alert,
    closing_word,
    judge,
    open_alert,
    see_again,
)
from vskill_platform.domain.errors import Conflict
from vskill_platform.domain.times import ms_from_iso
from vskill_platform.notify.readings import keeping_watch, read_facts
from vskill_platform.ports.commit import Operation
from vskill_platform.settings import Settings
from vskill_platform.stores.alerts import (
    CLOSED,
    OPENED,
    REPEATED,
    find_alert,
    keeping,
    open_alerts,
    telling,
    told_at,
)
from vskill_platform.worker_context import current_env

_log = structlog.get_logger(__name__)


async def watch_registry() -> dict[str, int]:
    """Look once, and tell what has changed. Raises StoreUnavailable where alerts can be neither read nor kept."""
    env = current_env("writes")
    read = await read_facts()
    looked = judge(read.reading, thresholds(env.settings))
    before = {alert.id: alert for alert in await open_alerts()}
    await env.writes.commit([keeping_watch(read.watch)])
    opened = [await _note_finding(finding) for finding in looked.findings]
    found = {finding.id for finding in looked.findings}
    over = [alert for alert in before.values() if alert.id not in found and alert.code in looked.judged]
    for alert in over:
        await _close(alert)
    return {"open": len(before) + sum(opened) - len(over), "opened": sum(opened), "closed": len(over)}


def thresholds(settings: Settings) -> Thresholds:
    """From where on somebody is told, by the settings."""
    return Thresholds(
        stuck=settings.alert_stuck,
        dead_letters=settings.alert_dead_letters,
        no_throughput_s=settings.alert_no_throughput_s,
        paused_s=settings.alert_pause_s,
        scanner_errors=settings.alert_scanner_errors,
        disk_free_bytes=settings.alert_disk_free_bytes,
        clock_skew_s=settings.alert_clock_skew_s,
    )


async def _note_finding(finding: Finding) -> bool:
    """Open the alert, or note that it is still there. Says whether it was opened."""
    found = await find_alert(finding.id)
    now_ms = current_env("clock").clock.now_ms()
    before = None if found is None else found[0]
    is_opening = before is None or not before.is_open
    if before is None or not before.is_open:
        alert = open_alert(finding, now_ms=now_ms, before=before)
    else:
        alert = see_again(before, finding, now_ms=now_ms)
    if not _is_to_be_told(alert, now_ms):
        await _commit([keeping(alert, found=found)])
        return is_opening
    kind = REPEATED if alert.is_told else OPENED
    alert = told_at(alert, now_ms=now_ms)
    if await _commit([keeping(alert, found=found), telling(kind, alert)]):
        _tell_log(kind, alert)
    return is_opening


def _is_to_be_told(alert: Alert, now_ms: int) -> bool:
    """Whether nobody was told yet, or so long ago that it is time again. What a person has seen is not repeated."""
    if alert.acknowledged_at is not None:
        return False
    if alert.told_at is None:
        return True
    return now_ms - ms_from_iso(alert.told_at) >= current_env("settings").settings.alert_repeat_s * 1000


async def _close(alert: Alert) -> None:
    found = await find_alert(alert.id)
    if found is None or not found[0].is_open:
        return
    word = closing_word(alert)
    closed = close_alert(found[0], word=word, now_ms=current_env("clock").clock.now_ms())
    operations: list[Operation] = [keeping(closed, found=found)]
    if closed.is_told:
        operations.append(telling(CLOSED, closed, sentence=word))
    if await _commit(operations) and closed.is_told:
        _log.info("alert_closed", alert=closed.id, detail=word)


async def _commit(operations: Sequence[Operation]) -> bool:
    """Commit unless somebody was faster: then they have noted and told the same."""
    try:
        await current_env("writes").writes.commit(operations)
    except Conflict:
        return False
    return True


def _tell_log(kind: str, alert: Alert) -> None:
    tell = _log.error if alert.severity is AlertSeverity.CRITICAL else _log.warning
    tell(kind.replace(".", "_"), alert=alert.id, detail=alert.sentence, advice=alert.advice)
