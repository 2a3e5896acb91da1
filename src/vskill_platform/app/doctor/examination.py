"""The doctor's round: every check once, each with a limit, and none that ends the round."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from vskill_platform.app.doctor.database import look_at_database
from vskill_platform.app.doctor.external import look_at_external_scanners
from vskill_platform.app.doctor.finding import Finding, broken
from vskill_platform.app.doctor.judge import look_at_judge
from vskill_platform.app.doctor.machine import (
    look_at_blobs,
    look_at_disk,
    look_at_folder,
    look_at_git,
    look_at_scanner,
    look_at_settings,
)
from vskill_platform.domain.errors import VskillError
from vskill_platform.settings import Settings

LIMIT_S = 60.0
Check = Callable[[Settings], Awaitable[list[Finding]]]
CHECKS: dict[str, Check] = {
    "settings": look_at_settings,
    "data folder": look_at_folder,
    "disk": look_at_disk,
    "database": look_at_database,
    "blobs": look_at_blobs,
    "git": look_at_git,
    "scanner": look_at_scanner,
    "external scanners": look_at_external_scanners,
    "judge": look_at_judge,
}


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Every finding, as it is made."""
    for name, check in CHECKS.items():
        for finding in await _run(name, check, settings):
            yield finding


async def _run(name: str, check: Check, settings: Settings) -> list[Finding]:
    try:
        async with asyncio.timeout(LIMIT_S):
            return await check(settings)
    except VskillError as error:
        return [broken(name, f"{error.code}: {error.message}", advice="Do what the message says, then look again.")]
    except TimeoutError:
        return [broken(name, f"No answer in {LIMIT_S:g} seconds.", advice="Find out what hangs, then look again.")]
    except Exception as error:  # a doctor that falls over says nothing about the rest
        return [broken(name, f"{type(error).__name__}: {error}", advice="This is a fault of the doctor: report it.")]
