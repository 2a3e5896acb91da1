"""The doctor's look at external scanners: whether each that is switched on could be asked. None is asked."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from vskill_platform.app.doctor.finding import Finding, doubtful, well
from vskill_platform.scanning.external import open_scanners
from vskill_platform.settings import Settings

NAME = "external scanners"
_ADVICE = "Until then its scans end as errors. Do what it says, or take it out of VSKILL_PLATFORM_EXTERNAL_SCANNERS."


async def look_at_external_scanners(settings: Settings) -> list[Finding]:
    """Every scanner that this machine is to run is installed, and may run."""
    folder = settings.scanners_folder or str(Path(settings.data) / "scanners")
    with tempfile.TemporaryDirectory() as elsewhere:  # a doctor leaves nothing in the data folder
        there = msgspec.structs.replace(settings, data=elsewhere, scanners_folder=folder)
        async with open_scanners(there) as scanners:
            reasons = {name: await scanner.unavailable_because() for name, scanner in scanners.items()}
    if not reasons:
        return [well(NAME, "None is switched on here.")]
    ready = [name for name, reason in reasons.items() if not reason]
    found = [well(NAME, f"Ready: {', '.join(ready)}.")] if ready else []
    return [*found, *(doubtful(NAME, reason, advice=_ADVICE) for reason in reasons.values() if reason)]
