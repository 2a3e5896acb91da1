"""The doctor's look at the database: reachable, durable, at the right schema, at the same time of day."""

from __future__ import annotations

import asyncio

from vskill_platform.app.doctor.finding import Finding, broken, doubtful, well
from vskill_platform.app.stores import APPLICATION_NAME, database_path
from vskill_platform.domain.alert import SKEW_FAIL_MS
from vskill_platform.domain.redaction import hide_password
from vskill_platform.engines.postgres.inspection import PostgresFacts, inspect_postgres
from vskill_platform.engines.sqlite.inspection import inspect_sqlite
from vskill_platform.settings import Settings

SKEW_WARN_MS = 2_000


async def look_at_database(settings: Settings) -> list[Finding]:
    """The engine that the settings name."""
    if not settings.database_url:
        return await asyncio.to_thread(_look_at_file, settings)
    facts = await inspect_postgres(settings.database_url, application_name=f"{APPLICATION_NAME} doctor")
    place = hide_password(settings.database_url)
    found = well("database", f"PostgreSQL {facts.version} answers at {place}.")
    if facts.refusal is not None:
        found = broken("database", f"PostgreSQL at {place} {facts.refusal}", advice="Change that on the server.")
    return [
        found,
        _durability(facts),
        _schema(facts.schema_step, facts.known_step),
        judge_clock(facts.skew_ms),
        _pool(facts, settings),
    ]


def _look_at_file(settings: Settings) -> list[Finding]:
    path = database_path(settings)
    if not path.exists():
        return [well("database", f"SQLite in {path}, which the first start will make.")]
    facts = inspect_sqlite(path)
    findings = [well("database", f"SQLite {facts.library} reads {path}."), _schema(facts.schema_step, facts.known_step)]
    if settings.sqlite_synchronous != "FULL":
        advice = "Set VSKILL_PLATFORM_SQLITE_SYNCHRONOUS=FULL unless the last commits may be lost."
        findings.append(doubtful("durability", "synchronous is NORMAL: a power cut may lose commits.", advice=advice))
    return findings


def _durability(facts: PostgresFacts) -> Finding:
    shown = (
        f"fsync {facts.fsync}, synchronous_commit {facts.synchronous_commit}, full_page_writes {facts.full_page_writes}"
    )
    if "off" in (facts.fsync, facts.synchronous_commit, facts.full_page_writes):
        advice = "Set all three to on: otherwise a crash of the server loses what it has acknowledged, or the database."
        return broken("durability", f"{shown}.", advice=advice)
    return well("durability", f"{shown}.")


def _schema(step: int | None, known: int) -> Finding:
    if step is None:
        return well("schema", f"None yet; the first process to start makes step {known}.")
    if step > known:
        advice = "Fine during an upgrade; afterwards run the newer version everywhere."
        return doubtful("schema", f"Step {step}, newer than this version's {known}.", advice=advice)
    if step < known:
        advice = "Nothing: the next process of this version to start takes it forward."
        return doubtful("schema", f"Step {step}; this version works with {known}.", advice=advice)
    return well("schema", f"Step {step}, as this version has it.")


def judge_clock(skew_ms: float) -> Finding:
    """How far this machine's clock is from the database's, which is ahead where the number is positive."""
    detail = f"This machine is {abs(skew_ms) / 1000:.1f} s {'behind' if skew_ms > 0 else 'ahead of'} the database."
    if abs(skew_ms) >= SKEW_FAIL_MS:
        return broken("clock", detail, advice="Synchronise both machines by NTP before starting anything here.")
    if abs(skew_ms) >= SKEW_WARN_MS:
        return doubtful("clock", detail, advice="Synchronise both machines by NTP.")
    return well("clock", detail)


def _pool(facts: PostgresFacts, settings: Settings) -> Finding:
    fits = facts.max_connections // settings.database_pool_size
    detail = f"{facts.max_connections} at most on the server, {settings.database_pool_size} for each process."
    if fits < 4:
        advice = (
            f"That is room for {fits} processes: raise max_connections or lower VSKILL_PLATFORM_DATABASE_POOL_SIZE."
        )
        return doubtful("connections", detail, advice=advice)
    return well("connections", detail)
