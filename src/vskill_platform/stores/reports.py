"""Reports and appeals: opening one, looking at it with the secret of who opened it, and answering it."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

import msgspec

from vskill_platform.domain.errors import InvalidInput, NotFound
from vskill_platform.domain.report import (
    MAX_TEXT_CHARS,
    REPORT_PREFIX,
    Report,
    ReportKind,
    ReportReason,
    ReportStatus,
    report_key,
    reporter_prefix,
)
from vskill_platform.domain.secrets import equal_secrets, hash_secret
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import ABSENT, Emit, Operation, Put
from vskill_platform.stores.reads import Settled, list_keys, read_keys, read_prefix
from vskill_platform.stores.records import decode_record, encode_changed, encode_record
from vskill_platform.worker_context import current_env

_reports = msgspec.json.Decoder(Report)


class OpenedReport(NamedTuple):
    """A report, and the secret that shows it to whoever made it. The secret is told once and not kept."""

    report: Report
    secret: str


async def open_report(
    subject: str, *, kind: ReportKind, reason: ReportReason, text: str, account: str | None = None
) -> OpenedReport:
    """Keep a report for the operator. Raises InvalidInput for a text that says nothing or too much."""
    text = text.strip()
    if not 1 <= len(text) <= MAX_TEXT_CHARS:
        raise InvalidInput(f"Say what is wrong, in 1 to {MAX_TEXT_CHARS} characters.")
    env = current_env("writes")
    secret = secrets.token_urlsafe(24)
    report = _make(
        f"rep_{env.random_id().hex}", subject, kind=kind, reason=reason, text=text, secret=secret, account=account
    )
    await env.writes.commit(_opening(report))
    return OpenedReport(report, secret)


async def opening_provider_report(subject: str, *, provider: str, content_digest: str, text: str) -> list[Operation]:
    """The operations by which an external scanner reports a published skill: once for the same bytes, then none.

    Nobody has the secret of such a report: it is the operator's alone.
    """
    about = hashlib.sha256("\n".join((subject, provider, content_digest)).encode()).hexdigest()[:32]
    if await _find(f"rep_{about}") is not None:
        return []
    report = _make(
        f"rep_{about}",
        subject,
        kind=ReportKind.SKILL,
        reason=ReportReason.EXTERNAL_SCAN,
        text=text[:MAX_TEXT_CHARS],
        secret=secrets.token_urlsafe(24),
        provider=provider,
    )
    return _opening(report)


async def get_report(identity: str, *, secret: str) -> Report:
    """The report, for whoever has its secret. Raises NotFound for everybody else, as if there were none."""
    found = await _find(identity)
    if found is None or not equal_secrets(found[0].secret_hash, hash_secret(secret)):
        raise NotFound(
            f"There is no report '{identity[:60]}' with this secret. Send the secret you were given as a Bearer token.",
            id=identity[:60],
        )
    return found[0]


async def reports_of(account: str) -> Settled[Report]:
    """The reports and appeals that an account has made."""
    prefix = reporter_prefix(account)
    keys = [report_key(key.removeprefix(prefix)) async for page in list_keys(prefix) for key in page]
    return await read_keys(keys, _decode)


async def list_reports() -> Settled[Report]:
    """Every report, for the operator."""
    return await read_prefix(REPORT_PREFIX, _decode)


async def answer_report(identity: str, *, status: ReportStatus, answer: str) -> Report:
    """Settle a report, with words for whoever made it. Raises NotFound, or Conflict if another does so now."""
    found = await _find(identity)
    if found is None:
        raise NotFound(f"There is no report '{identity[:60]}'.", id=identity[:60])
    if not answer.strip():
        raise InvalidInput("Say why: whoever made the report is shown the answer.")
    report, value, version = found
    env = current_env("writes")
    now = iso_from_ms(env.clock.now_ms())
    settled = msgspec.structs.replace(report, status=status, answer=answer.strip(), updated_at=now)
    key = report_key(identity)
    kept = Put(key, encode_changed(settled, key=key, previous=value), if_version=version)
    await env.writes.commit([kept, _telling("report.answered", settled)])
    return settled


def _make(
    identity: str,
    subject: str,
    *,
    kind: ReportKind,
    reason: ReportReason,
    text: str,
    secret: str,
    account: str | None = None,
    provider: str = "",
) -> Report:
    now = iso_from_ms(current_env("clock").clock.now_ms())
    return Report(
        id=identity,
        kind=kind,
        subject=subject,
        reason=reason,
        text=text,
        created_at=now,
        updated_at=now,
        secret_hash=hash_secret(secret),
        account=account,
        provider=provider,
    )


def _opening(report: Report) -> list[Operation]:
    kept: list[Operation] = [Put(report_key(report.id), encode_record(report), if_version=ABSENT)]
    if report.account is not None:
        kept.append(Put(f"{reporter_prefix(report.account)}{report.id}", b"{}"))
    return [*kept, _telling("report.opened", report)]


async def _find(identity: str) -> tuple[Report, bytes, int] | None:
    key = report_key(identity)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else (_decode(key, entry.value), entry.value, entry.version)


def _decode(key: str, value: bytes) -> Report:
    return decode_record(key, value, decoder=_reports)


def _telling(kind: str, report: Report) -> Operation:
    """The event. Its data has neither text nor subject: reports are between who made them and the operator."""
    return Emit(kind, report.id, msgspec.json.encode({"kind": report.kind, "status": report.status}))
