"""One frozen Settings, read once from `VSKILL_PLATFORM_*` when the process starts. Nothing reads the environment later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from vskill_platform.domain.account import parse_role_map
from vskill_platform.domain.errors import InvalidInput, InvalidSettings
from vskill_platform.domain.external_provider import parse_providers
from vskill_platform.domain.redaction import HIDDEN, hide_password

PREFIX = "VSKILL_PLATFORM_"
POSTGRES_SCHEMES = ("postgresql", "postgres")
OBJECT_STORE_SCHEMES = ("s3",)
LOOPBACK = "127.0.0.1"
_SECRETS = (
    "blobs_secret_access_key",
    "external_push_secrets",
    "judge_api_key",
    "oidc_client_secret",
    "snyk_token",
)
CLIENT_NAMES = ("server", "token", "token_file")
"""Variables of the same prefix that commands read which speak to a registry elsewhere. They are no settings of this one."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator can change. Each field is `VSKILL_PLATFORM_` and its name in capitals."""

    data: Annotated[str, Meta(min_length=1, description="Folder for the database, the blobs and the lock file.")] = (
        "data"
    )
    database_url: Annotated[
        str,
        Meta(
            description="PostgreSQL database to keep everything in (`postgresql://user:password@host/name`), so that web, "
            "worker and cron can be processes of their own; empty means SQLite in the data folder."
        ),
    ] = ""
    database_pool_size: Annotated[
        int, Meta(ge=4, le=500, description="Connections to PostgreSQL that one process may have open.")
    ] = 10
    database_statement_limit_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that one statement may take on PostgreSQL.")
    ] = 30.0
    blobs_url: Annotated[
        str,
        Meta(
            description="Object store for archives (`s3://bucket/prefix`, any S3-compatible one); empty means a folder in "
            "the data folder, which every process must then share."
        ),
    ] = ""
    blobs_endpoint: Annotated[
        str, Meta(description="Address of the object store; empty means `AWS_ENDPOINT_URL`, else Amazon's.")
    ] = ""
    blobs_region: Annotated[
        str, Meta(description="Region of the bucket; empty means `AWS_REGION`, else `us-east-1`.")
    ] = ""
    blobs_access_key_id: Annotated[
        str,
        Meta(description="Key to the object store; empty means `AWS_ACCESS_KEY_ID`, else what the machine is given."),
    ] = ""
    blobs_secret_access_key: Annotated[
        str, Meta(description="Secret of that key; empty means `AWS_SECRET_ACCESS_KEY`. Never printed.")
    ] = ""
    health_address: Annotated[
        str,
        Meta(
            description="Where the process serves `/healthz`, `/readyz` and `/metrics` for its operator: `port`, which is on "
            "loopback, or `host:port`; port 0 takes a free one; empty means nowhere."
        ),
    ] = ""
    host: Annotated[str, Meta(min_length=1, description="Address the web server listens on.")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="Port the web server listens on; 0 takes a free one.")] = 8000
    public_url: Annotated[
        str,
        Meta(
            description="Address of the registry as people reach it (`https://skills.example.com`), for feeds and maps of the "
            "site; empty means the one that a request came to."
        ),
    ] = ""
    security_contact: Annotated[
        str,
        Meta(
            description="Whom to tell of a weakness (`mailto:…`, `https:…` or `tel:…`), for `/.well-known/security.txt`; "
            "empty means that there is none."
        ),
    ] = ""
    discovery_root: Annotated[
        str,
        Meta(
            pattern=r"^(certified|none|[a-z0-9-]+/[a-z0-9-]+)$",
            description="What `skills add` is offered that is given the address of the registry alone: `none`, `certified` (the "
            "newest 20 certified skills), or a public collection (`publisher/name`, its first 20). That client also takes it "
            "where the page it was given offers nothing, as that of a blocked skill.",
        ),
    ] = "none"
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
    git_protocols: Annotated[
        str, Meta(description="Protocols that repositories are fetched by, with commas between: https, http.")
    ] = "https"
    git_hosts: Annotated[
        str,
        Meta(description="Hosts that repositories are fetched from, with commas between; empty means any public one."),
    ] = ""
    git_ca_file: Annotated[
        str,
        Meta(description="File of certificates that git trusts in place of the system's; empty means the system's."),
    ] = ""
    git_cache_bytes: Annotated[
        int,
        Meta(
            ge=0,
            description="Bytes that the repositories may have together which are made for `git clone` and kept in the data "
            "folder; those that were asked for within 15 minutes stay.",
        ),
    ] = 1024 * 1024 * 1024
    allow_private_addresses: Annotated[
        bool, Meta(description="Whether repositories may be fetched from loopback and private networks.")
    ] = False
    fetch_time_limit_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that fetching a repository may take.")
    ] = 60.0
    fetch_max_bytes: Annotated[
        int, Meta(ge=1024, description="Bytes that may come over the network for one repository.")
    ] = 256 * 1024 * 1024
    repo_max_files: Annotated[int, Meta(ge=1, description="Files that a repository may have.")] = 200_000
    repo_max_skills: Annotated[
        int, Meta(ge=1, le=1000, description="Skills that one repository may be expanded to.")
    ] = 1000
    repo_max_skill_bytes: Annotated[
        int, Meta(ge=1024, description="Bytes that the skills of one repository may have together.")
    ] = 256 * 1024 * 1024
    skill_max_files: Annotated[int, Meta(ge=1, description="Files that a skill may have.")] = 1000
    skill_max_bytes: Annotated[int, Meta(ge=1024, description="Bytes that a skill's files may have together.")] = (
        25 * 1024 * 1024
    )
    skill_max_depth: Annotated[int, Meta(ge=1, le=100, description="Folders that a skill's file may be nested in.")] = (
        16
    )
    file_max_bytes: Annotated[
        int, Meta(ge=1024, description="Bytes that a file of a skill may have; a larger one is left out and reported.")
    ] = 5 * 1024 * 1024
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
    repo_health_checks: Annotated[
        bool, Meta(description="Whether the repositories of published skills are looked at again and again.")
    ] = True
    repo_health_interval_s: Annotated[
        float, Meta(ge=1, le=86_400, description="Time between two rounds of looks at repositories that are due.")
    ] = 60.0
    repo_health_time_box_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that a round starts further looks.")
    ] = 20.0
    repo_health_look_limit_s: Annotated[
        float, Meta(gt=0, le=600, description="Longest that a host may take to answer a look.")
    ] = 15.0
    repo_health_in_flight: Annotated[
        int, Meta(ge=1, le=100, description="Repositories that are looked at side by side.")
    ] = 4
    repo_health_per_host: Annotated[int, Meta(ge=1, description="Looks at repositories of one host in a minute.")] = 30
    repo_health_online_s: Annotated[
        float,
        Meta(
            ge=60,
            le=31_536_000,
            description="How long a repository that is there, or has moved, is not looked at again.",
        ),
    ] = 86_400.0
    repo_health_unknown_s: Annotated[
        float,
        Meta(
            ge=60,
            le=31_536_000,
            description="The same where nothing could be found out; twice as long each time in a row, up to the one above.",
        ),
    ] = 3600.0
    repo_health_gone_s: Annotated[
        float, Meta(ge=60, le=31_536_000, description="The same for a repository that is gone.")
    ] = 21_600.0
    repo_health_confirm_s: Annotated[
        float,
        Meta(
            ge=0,
            le=31_536_000,
            description="How long after a host first said that a repository is not there it has to say so again before it is "
            "told as gone.",
        ),
    ] = 21_600.0
    source_changes: Annotated[
        Literal["off", "offer", "submit"],
        Meta(
            description="What happens when a skill's source no longer has the bytes that were verified: nothing is looked for, "
            "it is shown and offered to be submitted again, or it is submitted again."
        ),
    ] = "offer"
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

    judge_url: Annotated[
        str,
        Meta(
            description="Address of an OpenAI-compatible server that judges skills as tier 2 (`http://127.0.0.1:11434/v1`); "
            "it may be on loopback or a private network; empty means that there is no judge."
        ),
    ] = ""
    judge_model: Annotated[str, Meta(description="Name of the model that the judge's server is asked for.")] = ""
    judge_api_key: Annotated[
        str, Meta(description="Key to the judge's server; empty means that it needs none. Never printed.")
    ] = ""
    judge_time_limit_s: Annotated[
        float, Meta(gt=0, le=3600, description="Longest that one judgement may take, with all its tries.")
    ] = 60.0
    judge_in_flight: Annotated[
        int, Meta(ge=1, le=1000, description="Questions to the judge that one worker may have open at the same time.")
    ] = 4
    judge_max_input_bytes: Annotated[
        int,
        Meta(
            ge=1024,
            le=16 * 1024**2,
            description="Bytes of a skill that the judge is shown; what has more is never let pass by the judge.",
        ),
    ] = 200_000
    judge_tokens_per_day: Annotated[
        int, Meta(ge=0, description="Tokens, both ways, that all workers may spend in a day (UTC); 0 means no limit.")
    ] = 5_000_000
    judge_cost_per_day: Annotated[
        float, Meta(ge=0, description="What all workers may spend in a day (UTC), by the two prices; 0 means no limit.")
    ] = 0.0
    judge_input_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens that the judge reads, in any currency.")
    ] = 0.0
    judge_output_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens that the judge writes, in the same currency.")
    ] = 0.0

    def __repr__(self) -> str:
        """Every field, with what is secret hidden: a repr ends up in logs."""
        shown = ", ".join(f"{name}={value!r}" for name, value in printable_settings(self).items())
        return f"Settings({shown})"


def printable_settings(settings: Settings) -> dict[str, object]:
    """Every setting by its name, with passwords and secrets hidden."""
    shown = {name: getattr(settings, name) for name in Settings.__struct_fields__}
    for name in ("database_url", "judge_url"):
        shown[name] = hide_password(getattr(settings, name))
    for name in _SECRETS:
        shown[name] = HIDDEN if getattr(settings, name) else ""
    return shown


def health_place(settings: Settings) -> tuple[str, int] | None:
    """Host and port that the process serves its health on, or None. A port alone is on loopback."""
    if not settings.health_address:
        return None
    host, _, port = settings.health_address.rpartition(":")
    return (host.strip("[]") or LOOPBACK, int(port))


def load_settings(environ: Mapping[str, str]) -> Settings:
    """The settings that an environment asks for. Raises InvalidSettings for a name or value that means nothing."""
    given = {name.removeprefix(PREFIX).lower(): value for name, value in environ.items() if name.startswith(PREFIX)}
    given = {name: value for name, value in given.items() if name not in CLIENT_NAMES}
    unknown = sorted(set(given) - set(Settings.__struct_fields__))
    if unknown:
        names = ", ".join(f"{PREFIX}{name.upper()}" for name in unknown)
        raise InvalidSettings(f"There is no setting {names}. docs/reference/settings.md lists them all.", names=unknown)
    return convert_settings(given)


def convert_settings(given: Mapping[str, object]) -> Settings:
    """Settings from values by field name; text is taken for the number it spells."""
    try:
        settings = msgspec.convert(dict(given), Settings, strict=False)
    except msgspec.ValidationError as exc:
        raise InvalidSettings(
            f"A setting has a value it cannot have: {exc}. docs/reference/settings.md says what each takes."
        ) from exc
    _check_scheme("database_url", settings.database_url, POSTGRES_SCHEMES, example="postgresql://user@host/name")
    _check_scheme("blobs_url", settings.blobs_url, OBJECT_STORE_SCHEMES, example="s3://bucket/prefix")
    _check_scheme("public_url", settings.public_url, ("https", "http"), example="https://skills.example.com")
    _check_scheme("oidc_issuer", settings.oidc_issuer, ("https", "http"), example="https://login.example.com")
    _check_scheme("judge_url", settings.judge_url, ("https", "http"), example="http://127.0.0.1:11434/v1")
    _check_oidc(settings)
    _check_judge(settings)
    _check_health_address(settings.health_address)
    _check_contact(settings.security_contact)
    _check_external(settings)
    return settings


def _check_scheme(name: str, url: str, schemes: tuple[str, ...], *, example: str) -> None:
    """Raise for an address of another kind. The message does not repeat it: there may be a password in it."""
    if not url:
        return
    try:
        parts = urlsplit(url)
        # What does not come apart is often a password whose signs were not written as %XX: drivers would tell parts of it.
        is_whole = "@" not in parts.path and not parts.fragment and (parts.port or 1) > 0
        is_known = parts.scheme in schemes and is_whole and bool(parts.netloc or parts.query)
    except ValueError:
        is_known = False
    if not is_known:
        raise InvalidSettings(
            f"{PREFIX}{name.upper()} is no address that it can be. Write it like {example}, or leave it empty.",
            name=name,
        )


def _check_oidc(settings: Settings) -> None:
    if settings.oidc_issuer and not settings.oidc_client_id:
        raise InvalidSettings(f"{PREFIX}OIDC_CLIENT_ID is missing: the provider knows the registry by it.")
    try:
        parse_role_map(settings.oidc_role_map)
    except InvalidInput as exc:
        raise InvalidSettings(f"{PREFIX}OIDC_ROLE_MAP: {exc.message}") from exc


def _check_judge(settings: Settings) -> None:
    key = settings.judge_api_key
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise InvalidSettings(f"{PREFIX}JUDGE_API_KEY has signs in it that no key can have.")
    if not settings.judge_url:
        return
    if not settings.judge_model:
        raise InvalidSettings(f"{PREFIX}JUDGE_MODEL is missing: the judge's server is asked for a model by its name.")
    if settings.judge_time_limit_s >= settings.message_time_limit_s:
        raise InvalidSettings(
            f"{PREFIX}JUDGE_TIME_LIMIT_S must be less than {PREFIX}MESSAGE_TIME_LIMIT_S, which work on a submission as a "
            "whole may take."
        )


def _check_health_address(address: str) -> None:
    port = address.rpartition(":")[2]
    if address and not (port.isascii() and port.isdigit() and int(port) <= 65535):
        raise InvalidSettings(
            f"{PREFIX}HEALTH_ADDRESS is '{address}'. Write a port, like 9464, or a host and a port, like 0.0.0.0:9464."
        )


def _check_external(settings: Settings) -> None:
    try:
        parse_providers(settings.external_scanners, push=settings.external_push, secrets=settings.external_push_secrets)
    except InvalidInput as exc:
        raise InvalidSettings(f"{PREFIX}{exc.message}") from exc


def _check_contact(contact: str) -> None:
    if contact and not (contact.startswith(("mailto:", "https:", "tel:")) and contact.isprintable()):
        raise InvalidSettings(
            f"{PREFIX}SECURITY_CONTACT is no address. Write it like mailto:security@example.com, or leave it empty."
        )
