"""When an operator is told of something, and how webhooks are sent."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from vskill_platform.settings.callers import CallerSettings


class AlertAndWebhookSettings(CallerSettings, frozen=True, kw_only=True):
    """The thresholds of alerts, and the protocols and times of webhooks."""

    alert_interval_s: Annotated[
        float, Meta(ge=1, le=3600, description="Time between two looks for what an operator has to be told.")
    ] = 60.0
    alert_repeat_s: Annotated[
        float,
        Meta(
            ge=60, le=2_592_000, description="An alert that stays open, or opens anew, is told again after this long."
        ),
    ] = 21_600.0
    alert_stuck: Annotated[
        int, Meta(ge=0, le=9999, description="Submissions that may look stuck before there is an alert.")
    ] = 50
    alert_dead_letters: Annotated[int, Meta(ge=0, description="Dead letters that may be there without an alert.")] = 0
    alert_no_throughput_s: Annotated[
        float,
        Meta(
            ge=60, le=604_800, description="How long messages may wait with nothing taken up before there is an alert."
        ),
    ] = 900.0
    alert_pause_s: Annotated[
        float, Meta(ge=60, le=2_592_000, description="How long the queue may be paused before there is an alert.")
    ] = 21_600.0
    alert_scanner_errors: Annotated[
        int, Meta(ge=0, description="Scans without a report, in this hour and the one before, without an alert.")
    ] = 5
    alert_disk_free_bytes: Annotated[
        int, Meta(ge=0, description="Free bytes on a machine's disk below which there is an alert.")
    ] = 5 * 1024**3
    alert_clock_skew_s: Annotated[
        float, Meta(gt=0, le=3600, description="How far a machine's clock may be off before there is an alert.")
    ] = 2.0
    webhook_protocols: Annotated[
        str, Meta(description="Protocols that webhooks are sent by, with commas between: https, http.")
    ] = "https"
    webhook_private_addresses: Annotated[
        bool, Meta(description="Whether webhooks may be sent to loopback and private networks.")
    ] = False
    webhook_ca_file: Annotated[
        str,
        Meta(description="File of certificates that webhooks trust in place of the usual; empty means the usual ones."),
    ] = ""
    webhook_time_limit_s: Annotated[
        float, Meta(gt=0, le=60, description="Longest that one delivery of a webhook may take.")
    ] = 10.0
    webhook_disable_after_s: Annotated[
        float,
        Meta(ge=3600, le=31_536_000, description="A webhook that has only failed for this long is switched off."),
    ] = 432_000.0
    webhook_deliveries_kept_s: Annotated[
        float, Meta(ge=3600, le=31_536_000, description="How long ended deliveries of webhooks can be looked at.")
    ] = 1_209_600.0
