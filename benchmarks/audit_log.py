"""Verifying an audit log of 100,000 entries: how long it takes, in how much memory, and that one flipped byte is found."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.fixtures import env_over, folder, open_engine
from benchmarks.peak_memory import status_mb
from benchmarks.report import Row, at_least, at_most, told
from vskill_platform.domain.audit import AUDIT_HEAD_KEY, AuditEntry, AuditHead, audit_key, seal
from vskill_platform.domain.times import iso_from_ms
from vskill_platform.ports.commit import Operation, Put
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.audit_log import Verification, verify_log
from vskill_platform.stores.records import encode_record
from vskill_platform.worker_context import run_with_worker_env

COUNT = 100_000
FLIPPED = 73_531
LIMIT_MB = 50
_CHUNK = 2000
_START_MS = 1_770_000_000_000


async def run() -> list[Row]:
    """The log as it was written, in a process of its own, and with one byte of one entry flipped."""
    with folder() as path:
        async with open_engine(path) as engine:
            await _load(engine)
        whole = await asyncio.to_thread(_in_child, path)
        async with open_engine(path) as engine:
            await _flip(engine)
            found = await run_with_worker_env(env_over(engine, path), verify_log)
    return _rows(whole, found)


def _rows(whole: dict[str, float], found: Verification) -> list[Row]:
    named = 0 if found.fault is None else found.fault.number
    return [
        told(
            "audit_verification",
            whole["seconds"],
            unit="s",
            detail=f"{whole['entries']:,} entries, each hashed and held to its bytes: whole is {bool(whole['isWhole'])}",
        ),
        at_most(
            "audit_verification_peak_memory",
            whole["peakMb"],
            target=LIMIT_MB,
            unit="MB",
            detail="above the idle process, while the log streams by",
        ),
        at_least(
            "audit_flipped_byte_found",
            float(named == FLIPPED),
            target=1,
            unit="of 1",
            detail=f"one byte of entry {FLIPPED:,} flipped; the verification names entry {named:,}",
        ),
    ]


async def _load(engine: Engine) -> None:
    """A chain as acts write it, many entries a commit."""
    end = AuditHead()
    for first in range(1, COUNT + 1, _CHUNK):
        operations: list[Operation] = []
        for number in range(first, first + _CHUNK):
            entry = _entry(number, end.hash)
            end = AuditHead(number=number, hash=entry.hash)
            operations.append(Put(audit_key(number), encode_record(entry)))
        await engine.writes.commit([*operations, Put(AUDIT_HEAD_KEY, encode_record(end))])


def _entry(number: int, previous: str) -> AuditEntry:
    subject = f"sub_{number:032x}"
    return seal(
        AuditEntry(
            number=number,
            at=iso_from_ms(_START_MS + number * 60_000),
            act="review.approve",
            subject=subject,
            reason=f"Looked at it, and the finding quotes a warning ({number}).",
            actor="ada",
            actor_id="user_1",
            role="REVIEWER",
            via="session",
            request=f"{number:032x}",
            touched=(f"sub:{subject}", f"hist:{subject}:00000003", f"version:acme/skills/demo-{number}:1.0.0"),
            previous=previous,
        )
    )


async def _flip(engine: Engine) -> None:
    entry = await engine.kv.get(audit_key(FLIPPED))
    assert entry is not None
    changed = bytearray(entry.value)
    changed[len(changed) // 2] ^= 1
    await engine.writes.commit([Put(audit_key(FLIPPED), bytes(changed))])


def _in_child(path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.audit_log", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    return dict(json.loads(done.stdout.splitlines()[-1]))


async def _verify(path: Path) -> None:
    async with open_engine(path) as engine:
        env = env_over(engine, path)
        idle_mb = status_mb("VmRSS")
        started = time.perf_counter()
        found = await run_with_worker_env(env, verify_log)
        seconds = time.perf_counter() - started
        peak_mb = round(status_mb("VmHWM") - idle_mb, 1)
    answer = {"seconds": seconds, "entries": found.entries, "isWhole": found.fault is None, "peakMb": peak_mb}
    print(json.dumps(answer))


if __name__ == "__main__":
    asyncio.run(_verify(Path(sys.argv[1])))
