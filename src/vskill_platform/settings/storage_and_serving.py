"""Where a process keeps what it has, where it is reached, and how much it logs."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class StorageAndServingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The data folder, the database, the object store, addresses and ports, and the log."""

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
