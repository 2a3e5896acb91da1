"""What the external scanners that run here are, and what they may use up."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from vskill_platform.settings.repo_health import RepoHealthSettings


class ScannerProgramSettings(RepoHealthSettings, frozen=True, kw_only=True):
    """Programs of the operator's own, limits of every external scanner, and what single ones need."""

    external_programs: Annotated[
        str,
        Meta(
            description="Programs that print SARIF and are asked too: `NAME=command {folder}`, one a line or with ` ; ` "
            "between; empty means none."
        ),
    ] = ""
    external_scan_time_limit_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that one external scan may take before it is ended.")
    ] = 120.0
    external_scan_memory_bytes: Annotated[
        int,
        Meta(
            ge=64 * 1024 * 1024, description="Memory that an external scanner may have, with all processes it starts."
        ),
    ] = 2 * 1024 * 1024 * 1024
    external_scan_output_bytes: Annotated[
        int, Meta(ge=1024, description="Bytes that an external scanner may answer with for one skill.")
    ] = 16 * 1024 * 1024
    snyk_token: Annotated[
        str,
        Meta(
            description="Token of Snyk for the scanner snyk-agent-scan, which sends every skill to Snyk; empty means that it is "
            "off. Never printed."
        ),
    ] = ""
    snyk_analysis_url: Annotated[
        str, Meta(description="Address of Snyk's service for that scanner; empty means the scanner's own.")
    ] = ""
    scanners_folder: Annotated[
        str,
        Meta(
            description="Folder that external scanners are installed into; empty means `scanners` in the data folder."
        ),
    ] = ""
