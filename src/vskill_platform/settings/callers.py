"""What those who call the registry may do, how often and for how long, and how they sign in."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from vskill_platform.settings.scanner_programs import ScannerProgramSettings


class CallerSettings(ScannerProgramSettings, frozen=True, kw_only=True):
    """Rates, time limits, sessions, the OpenID provider, event streams and proxies."""

    submissions_per_hour: Annotated[
        int, Meta(ge=1, description="Submissions that one address may make in an hour without an account.")
    ] = 10
    pushes_per_hour: Annotated[
        int, Meta(ge=1, description="Versions of skills that may be pushed with one API token in an hour.")
    ] = 120
    uploads_per_hour: Annotated[
        int, Meta(ge=1, description="Files that may be uploaded with one API token in an hour, before they are pushed.")
    ] = 3000
    discoveries_per_hour: Annotated[
        int,
        Meta(ge=1, description="Repositories that one address may have looked at in an hour without submitting them."),
    ] = 20
    installs_per_hour: Annotated[int, Meta(ge=1, description="Installs that one address may report in an hour.")] = 60
    stars_per_hour: Annotated[
        int, Meta(ge=1, description="Stars that one address may give or take back in an hour.")
    ] = 60
    reports_per_quarter_hour: Annotated[
        int, Meta(ge=1, description="Reports about skills that one address may make in 15 minutes.")
    ] = 5
    requests_per_minute: Annotated[
        int, Meta(ge=1, description="Requests that one address may make in a minute to one web process.")
    ] = 3000
    sign_ins_per_quarter_hour: Annotated[
        int,
        Meta(
            ge=1,
            description="Times that one address may try to sign in within 15 minutes; one account takes five times as many "
            "from all addresses together.",
        ),
    ] = 20
    arrival_time_limit_s: Annotated[
        float,
        Meta(gt=0, le=3600, description="Longest that the head of a request, and then its body, may take to arrive."),
    ] = 20.0
    answer_time_limit_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that anybody but the operator waits for an answer to begin.")
    ] = 120.0
    session_idle_s: Annotated[
        float, Meta(ge=60, le=31_536_000, description="How long a sign-in lasts that nothing is done with.")
    ] = 43_200.0
    session_longest_s: Annotated[
        float, Meta(ge=60, le=31_536_000, description="How long a sign-in lasts at most, whatever is done with it.")
    ] = 604_800.0
    oidc_issuer: Annotated[
        str,
        Meta(
            description="OpenID provider that people may sign in with (`https://login.example.com/realm`); empty means none."
        ),
    ] = ""
    oidc_client_id: Annotated[str, Meta(description="What the registry is called at that provider.")] = ""
    oidc_client_secret: Annotated[
        str, Meta(description="Secret of the registry at that provider; empty for a public client. Never printed.")
    ] = ""
    oidc_groups_claim: Annotated[
        str, Meta(min_length=1, description="Claim of the ID token that lists the groups of whoever signs in.")
    ] = "groups"
    oidc_role_map: Annotated[
        str,
        Meta(
            description="Role of each group, as `admins=SUPER_ADMIN,reviewers=REVIEWER`; the highest counts, and who is in "
            "none of them is a SUBMITTER."
        ),
    ] = ""
    streams_most: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Event streams that one web process serves at the same time.")
    ] = 10_000
    streams_per_address: Annotated[
        int, Meta(ge=1, le=1_000_000, description="Event streams that one address may have open on one web process.")
    ] = 32
    trusted_proxies: Annotated[
        str,
        Meta(
            description="Addresses of proxies in front of the web server whose X-Forwarded-For is believed, "
            "with commas between."
        ),
    ] = ""
