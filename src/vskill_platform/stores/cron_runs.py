"""How the cron's jobs ran last: one record a job, written when a run begins and when it ends."""

from __future__ import annotations

import msgspec
import structlog

from vskill_platform.domain.errors import MalformedRecord
from vskill_platform.domain.records import Record
from vskill_platform.ports.commit import Put
from vskill_platform.stores.reads import Settled, read_prefix
from vskill_platform.stores.records import decode_record, encode_record
from vskill_platform.worker_context import current_env

CRON_PREFIX = "cron:"
SWEEP_POSITION_KEY = "cron:sweep-position"
_log = structlog.get_logger(__name__)


class CronRun(Record, frozen=True, kw_only=True, rename="camel"):
    """How a job ran last. One without an end runs, or ended with its process. `interval_s` is 0 where it is not known."""

    job: str
    started_ms: int
    finished_ms: int | None = None
    error: str | None = None
    result: msgspec.Raw = msgspec.Raw(b"null")
    interval_s: float = 0.0


_runs = msgspec.json.Decoder(CronRun)


async def get_cron_run(job: str) -> CronRun | None:
    """How a job ran last, or None if it never did or its record cannot be read."""
    key = _key(job)
    entry = await current_env("kv").kv.get(key)
    if entry is None:
        return None
    try:
        return _decode(key, entry.value)
    except MalformedRecord as error:
        _log.warning("cron_record_malformed", job=job, error=error.message)
        return None


async def list_cron_runs() -> Settled[CronRun]:
    """How every job that ever ran ran last, by name."""
    return await read_prefix(CRON_PREFIX, _decode, exclude=SWEEP_POSITION_KEY)


async def record_cron_run(run: CronRun) -> None:
    """Keep how a job runs, in place of its last run."""
    await current_env("writes").writes.commit([Put(_key(run.job), encode_record(run))])


def _decode(key: str, value: bytes) -> CronRun:
    return decode_record(key, value, decoder=_runs)


def _key(job: str) -> str:
    return f"{CRON_PREFIX}{job}"
