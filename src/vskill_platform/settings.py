"""One frozen Settings, read once from `VSKILL_PLATFORM_*` when the process starts. Nothing reads the environment later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vskill_platform.domain.errors import InvalidSettings

PREFIX = "VSKILL_PLATFORM_"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator can change. Each field is `VSKILL_PLATFORM_` and its name in capitals."""

    data: Annotated[str, Meta(min_length=1, description="Folder for the database, the blobs and the lock file.")] = (
        "data"
    )
    host: Annotated[str, Meta(min_length=1, description="Address the web server listens on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port the web server listens on; 0 takes a free one.")] = 8000
    log_level: Annotated[Literal["debug", "info", "warning", "error"], Meta(description="How much is logged.")] = "info"
    sqlite_synchronous: Annotated[
        Literal["FULL", "NORMAL"],
        Meta(description="FULL syncs every commit. NORMAL is faster and may lose the last commits in a power cut."),
    ] = "FULL"
    batch_size: Annotated[int, Meta(ge=1, le=100, description="Messages handed to the consumer together.")] = 3
    batches_in_flight: Annotated[int, Meta(ge=1, le=1000, description="Batches worked on at the same time.")] = 10
    message_time_limit_s: Annotated[
        float, Meta(gt=0, le=86_400, description="Longest that work on one message may take.")
    ] = 300.0
    lease_s: Annotated[
        float, Meta(ge=1, le=3600, description="How long a worker owns a message without a sign of life.")
    ] = 60.0
    drain_grace_s: Annotated[
        float, Meta(ge=0, le=3600, description="How long running work may go on after SIGTERM before it is released.")
    ] = 20.0
    max_attempts: Annotated[
        int, Meta(ge=1, le=100, description="Deliveries of a message before it is a dead letter.")
    ] = 4
    reads_in_flight: Annotated[
        int, Meta(ge=1, le=10_000, description="Reads of single keys that may be open at the same time.")
    ] = 256
    pause_s: Annotated[
        float, Meta(gt=0, le=86_400, description="How long a pause of the queue lasts when nobody says otherwise.")
    ] = 3600.0
    sweep_interval_s: Annotated[
        float, Meta(ge=1, le=86_400, description="Time between two sweeps for stuck submissions.")
    ] = 60.0
    sweep_time_box_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that one sweep may take before it yields to the next.")
    ] = 20.0
    purge_interval_s: Annotated[
        float, Meta(ge=1, le=86_400, description="Time between two purges of expired values and old events.")
    ] = 3600.0
    events_kept_s: Annotated[
        float, Meta(ge=60, le=31_536_000, description="How long events are kept for readers that were away.")
    ] = 604_800.0
    cron_job_limit_s: Annotated[
        float, Meta(gt=0, le=86_400, description="Longest that one run of a cron job may take.")
    ] = 600.0
    cron_lease_s: Annotated[
        float, Meta(ge=1, le=3600, description="How long a process that died keeps others from running the cron jobs.")
    ] = 30.0


def load_settings(environ: Mapping[str, str]) -> Settings:
    """The settings that an environment asks for. Raises InvalidSettings for a name or value that means nothing."""
    given = {name.removeprefix(PREFIX).lower(): value for name, value in environ.items() if name.startswith(PREFIX)}
    unknown = sorted(set(given) - set(Settings.__struct_fields__))
    if unknown:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in unknown)
        raise InvalidSettings(f"There is no setting {names}. docs/reference/settings.md lists them all.", names=unknown)
    return convert_settings(given)


def convert_settings(given: Mapping[str, object]) -> Settings:
    """Settings from values by field name; text is taken for the number it spells."""
    try:
        return msgspec.convert(dict(given), Settings, strict=False)
    except msgspec.ValidationError as exc:
        raise InvalidSettings(
            f"A setting has a value it cannot have: {exc}. docs/reference/settings.md says what each takes."
        ) from exc
