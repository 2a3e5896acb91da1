"""How skills are scanned here, and which external scanners are asked, when and how."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from vskill_platform.settings.fetching import FetchingSettings


class ScanningSettings(FetchingSettings, frozen=True, kw_only=True):
    """The scanning processes, the operator's own rules, and the queue of external scans."""

    scan_processes: Annotated[
        int,
        Meta(
            ge=0,
            le=256,
            description="Processes that may scan side by side, started as they are needed; 0 means one for each core.",
        ),
    ] = 0
    scan_time_limit_s: Annotated[
        float, Meta(gt=0, le=600, description="Longest that one scan may take before its process is killed.")
    ] = 30.0
    scan_memory_bytes: Annotated[
        int, Meta(ge=256 * 1024 * 1024, description="Memory that a scanning process may have.")
    ] = 1024 * 1024 * 1024
    rules_folder: Annotated[
        str,
        Meta(
            description="Folder with the operator's own rules (`*.toml`, `*.yar`, `*.yara`) and `severities.toml`, read "
            "when the process starts; empty means none."
        ),
    ] = ""
    external_scanners: Annotated[
        str,
        Meta(
            description="External scanners that are asked for a second opinion, with commas between (`vskill-platform "
            "scanners list` names them); `remote:NAME` is one that only workers elsewhere run; empty means none."
        ),
    ] = ""
    external_scans_when: Annotated[
        Literal["after", "before"],
        Meta(
            description="Whether skills are published first and handed to external scanners then, or wait for their answers."
        ),
    ] = "after"
    external_scans_wait_s: Annotated[
        float,
        Meta(
            ge=1,
            le=604_800,
            description="Longest that a submission waits for external scanners, and a pushed scan for its result; then a "
            "person decides.",
        ),
    ] = 1800.0
    external_scans_in_flight: Annotated[
        int, Meta(ge=1, le=256, description="External scans that one worker runs side by side.")
    ] = 4
    external_scans_per_hour: Annotated[
        int, Meta(ge=1, description="Scans that one external scanner is given in an hour; more of them wait.")
    ] = 1000
    external_lease_s: Annotated[
        float, Meta(ge=1, le=3600, description="How long a remote worker owns a scan without a sign of life.")
    ] = 60.0
    external_reap_interval_s: Annotated[
        float,
        Meta(ge=1, le=3600, description="Time between two looks for external scans that nobody works on any more."),
    ] = 15.0
    external_push: Annotated[
        str,
        Meta(
            description="Remote scanners that are sent their scans rather than asking for them, as `NAME=https://host/path`, "
            "with commas between."
        ),
    ] = ""
    external_push_secrets: Annotated[
        str,
        Meta(
            description="Secret that signs the messages to and from each of those, as `NAME=whsec_…`, with commas between. "
            "Never printed."
        ),
    ] = ""
