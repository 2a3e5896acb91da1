"""How the whole registry stands, read at once: what the overview shows, and what alerts are made of.

Nothing here is counted along or kept by a page: each figure is read from where it is true, and what cannot be read raises. What
nobody knows is None.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from weakref import WeakKeyDictionary

import msgspec

from vskill_platform import __version__
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.domain.standing import JobSign, Judgement, Signs, judge_standing
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.kv import KV
from vskill_platform.stores.cron_runs import CronRun, list_cron_runs
from vskill_platform.stores.drift import Drift, find_drift
from vskill_platform.stores.facts import count_stuck
from vskill_platform.stores.flow import Flow, read_flow
from vskill_platform.stores.health import Health, read_health
from vskill_platform.stores.reads import require_readable
from vskill_platform.stores.stuck import read_stuck
from vskill_platform.worker_context import current_env

_LOOKED_AT = 500
_KEPT_S = 2.0
_SHARE = 20
"""A count that takes long is kept for so many times as long, so that looking never takes more than a twentieth of the time."""


class JobRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How a cron job ran last, and when it is due again; null where that is not known."""

    job: str
    started_at: str
    finished_at: str | None
    took_ms: int | None
    error: str | None
    result: dict[str, object] | None
    due_at: str | None


class StuckFigures(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many look stuck (10,000 and more are told as 10,000), and of the first 500 how many have lost their message."""

    total: int
    lost: int
    dead: int


class Overview(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How the registry stands: in a word with reasons, and in figures."""

    at: str
    version: str
    judgement: Judgement
    health: Health
    stuck: StuckFigures
    flow: Flow
    jobs: list[JobRun]
    drift: Drift


async def read_overview() -> Overview:
    """Everything at once. Raises StoreUnavailable when any of it cannot be known."""
    env = current_env("clock")
    health = await read_health()
    stuck = await read_stuck_figures()
    flow = await read_flow()
    runs = require_readable(await list_cron_runs())
    drift = (await find_drift()).drift
    now_ms = env.clock.now_ms()
    signs = Signs(
        now_ms=now_ms,
        waiting=health.queue.waiting,
        leased=health.queue.leased,
        dead=health.queue.dead,
        oldest_age_ms=health.queue.oldest_age_ms,
        stuck=stuck.total,
        lost=stuck.lost,
        paused_until=None if health.queue.paused is None else health.queue.paused.until,
        trouble=health.trouble,
        jobs=[_sign(run) for run in runs],
        taken_up=flow.taken_up,
        scans=flow.scans,
        limited_scans=flow.limited_scans,
        drifted=None if drift.last is None else drift.last.drifted,
    )
    return Overview(
        at=iso_from_ms(now_ms),
        version=__version__,
        judgement=judge_standing(signs),
        health=health,
        stuck=stuck,
        flow=flow,
        jobs=[_show(run) for run in runs],
        drift=drift,
    )


class _Kept:
    def __init__(self) -> None:
        self.reading = asyncio.Lock()
        self.figures: StuckFigures | None = None
        self.read_ms = 0
        self.kept_ms = 0.0


_kept: WeakKeyDictionary[KV, _Kept] = WeakKeyDictionary()


async def read_stuck_figures() -> StuckFigures:
    """How many are stuck, as of a few seconds ago at most: a long line is not walked for everybody who looks."""
    env = current_env("kv")
    kept = _kept.setdefault(env.kv, _Kept())
    async with kept.reading:
        if kept.figures is None or not 0 <= env.clock.now_ms() - kept.read_ms < kept.kept_ms:
            began = perf_counter()
            kept.figures = await _read_stuck_figures()
            kept.read_ms, kept.kept_ms = env.clock.now_ms(), max(_KEPT_S, (perf_counter() - began) * _SHARE) * 1000
        return kept.figures


def forget_stuck_figures() -> None:
    """Read them afresh the next time: somebody has just changed them."""
    _kept.pop(current_env("kv").kv, None)


async def _read_stuck_figures() -> StuckFigures:
    first = await read_stuck(limit=_LOOKED_AT)
    total = len(first.items) if first.cursor is None else await count_stuck()
    by_status = [item.message for item in first.items]
    return StuckFigures(total=total, lost=by_status.count(MessageStatus.GONE), dead=by_status.count(MessageStatus.DEAD))


def _sign(run: CronRun) -> JobSign:
    return JobSign(
        job=run.job,
        started_ms=run.started_ms,
        finished_ms=run.finished_ms,
        error=run.error,
        interval_ms=int(run.interval_s * 1000),
    )


def _show(run: CronRun) -> JobRun:
    due_ms = run.started_ms + int(run.interval_s * 1000) if run.interval_s else None
    return JobRun(
        job=run.job,
        started_at=iso_from_ms(run.started_ms),
        finished_at=None if run.finished_ms is None else iso_from_ms(run.finished_ms),
        took_ms=None if run.finished_ms is None else max(run.finished_ms - run.started_ms, 0),
        error=run.error,
        result=msgspec.json.decode(run.result, type=dict[str, object] | None),
        due_at=None if due_ms is None else iso_from_ms(due_ms),
    )
