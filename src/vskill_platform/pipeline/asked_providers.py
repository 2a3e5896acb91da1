"""Everybody who is asked for a second opinion, by the settings in scope."""

from __future__ import annotations

from vskill_platform.domain.external_provider import Provider
from vskill_platform.scanning.external.programs import parse_programs
from vskill_platform.stores.external_scans import named_providers
from vskill_platform.worker_context import current_env


def asked_providers() -> dict[str, Provider]:
    """External scanners by name, here and elsewhere, and the operator's own programs."""
    programs = parse_programs(current_env("settings").settings.external_programs)
    return {**named_providers(), **{program.name: Provider(program.name) for program in programs}}
