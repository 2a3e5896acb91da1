"""What scans said of a submission, run by run."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vskill_platform.domain.ids import scan_key
from vskill_platform.domain.judgement import Judgement
from vskill_platform.domain.lint import Lint
from vskill_platform.domain.records import Record, Submission
from vskill_platform.domain.scan import ScanReport
from vskill_platform.ports.commit import Delete, Operation, Put
from vskill_platform.stores.news import telling_scan
from vskill_platform.stores.reads import Settled, read_keys
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

TIER1 = "tier1"
TIER2 = "tier2"
RUNS_KEPT = 5


class ScanRecord(Record, frozen=True, kw_only=True, rename="camel"):
    """The report of one tier on one run, and what its SKILL.md gets wrong."""

    submission_id: str
    run: int
    tier: str
    scanned_at: str
    commit: str
    report: ScanReport
    lint: Lint | None = None


class JudgementRecord(Record, frozen=True, kw_only=True, rename="camel"):
    """What the judge said in one run. It is kept for as long as the report of tier 1 is."""

    submission_id: str
    run: int
    judged_at: str
    content_digest: str
    judgement: Judgement


_scans = msgspec.json.Decoder(ScanRecord)
_judgements = msgspec.json.Decoder(JudgementRecord)


async def get_scan(submission: Submission, *, tier: str = TIER1) -> ScanRecord | None:
    """What a tier said in the present run, or None."""
    return await get_scan_of_run(submission.id, submission.run, tier=tier)


async def get_scan_of_run(submission_id: str, run: int, *, tier: str = TIER1) -> ScanRecord | None:
    """What a tier said in one run, or None where it said nothing or that is no longer kept."""
    key = scan_key(submission_id, run, tier)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_record(key, entry.value, decoder=_scans)


async def get_judgement(submission: Submission) -> JudgementRecord | None:
    """What the judge said in the present run, or None where it was not asked."""
    return await get_judgement_of_run(submission.id, submission.run)


async def get_judgement_of_run(submission_id: str, run: int) -> JudgementRecord | None:
    """What the judge said in one run, or None where it was not asked or that is no longer kept."""
    key = scan_key(submission_id, run, TIER2)
    entry = await current_env("kv").kv.get(key)
    return None if entry is None else decode_record(key, entry.value, decoder=_judgements)


async def get_scans_of_runs(runs: Sequence[tuple[str, int]], *, tier: str = TIER1) -> Settled[ScanRecord]:
    """What a tier said in each of these runs (submission and number); those that are not kept are left out and counted."""
    return await read_keys([scan_key(identity, run, tier) for identity, run in runs], _decode_scan)


def _decode_scan(key: str, value: bytes) -> ScanRecord:
    return decode_record(key, value, decoder=_scans)


def recording_judgement(record: JudgementRecord) -> Put:
    """The operation that keeps what the judge said. A run that is judged again keeps the newest."""
    return Put(scan_key(record.submission_id, record.run, TIER2), encode_record(record))


def recording(scan: ScanRecord, *, published_run: int | None = None) -> list[Operation]:
    """The operations that keep a report, tell of it, and forget one of long ago. A run scanned again keeps the newest.

    The report on what is published stays, however many runs have failed since.
    """
    kept = Put(scan_key(scan.submission_id, scan.run, scan.tier), encode_record(scan))
    told = telling_scan(scan.submission_id, scan.report, run=scan.run, tier=scan.tier)
    forgotten = scan.run - RUNS_KEPT
    if forgotten < 1 or forgotten == published_run:
        return [kept, told]
    return [kept, told, *(Delete(scan_key(scan.submission_id, forgotten, tier)) for tier in (TIER1, TIER2))]
