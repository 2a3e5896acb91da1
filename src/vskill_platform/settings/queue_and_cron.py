"""How the queue is worked on, and how often everything else is done that nobody asks for."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from vskill_platform.settings.storage_and_serving import StorageAndServingSettings


class QueueAndCronSettings(StorageAndServingSettings, frozen=True, kw_only=True):
    """Batches, leases and attempts, and the times of the sweeps and the cron jobs."""

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
    figures_interval_s: Annotated[
        float, Meta(ge=1, le=3600, description="Time between two countings of the figures over time.")
    ] = 60.0
    collect_interval_s: Annotated[
        float, Meta(ge=1, le=604_800, description="Time between two collections of archives that nothing names.")
    ] = 21_600.0
    recount_interval_s: Annotated[
        float, Meta(ge=1, le=86_400, description="Time between two refreshes of the install counts in lists.")
    ] = 300.0
    drift_interval_s: Annotated[
        float, Meta(ge=1, le=604_800, description="Time between two looks at whether lists match their records.")
    ] = 60.0
    drift_time_box_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that one such look may take before it yields to the next.")
    ] = 1.0
    rules_interval_s: Annotated[
        float, Meta(ge=1, le=3600, description="Time between two looks for a dry run or a rescan to go on with.")
    ] = 10.0
    rescan_in_flight: Annotated[
        int, Meta(ge=1, le=1000, description="Skills that a rescan of everything has in the queue at a time.")
    ] = 50
    rule_hits_interval_s: Annotated[
        float, Meta(ge=1, le=604_800, description="Time between two countings of how often each rule hit.")
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
