"""Where repositories are fetched from, and how large they and their skills may be."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from vskill_platform.settings.queue_and_cron import QueueAndCronSettings


class FetchingSettings(QueueAndCronSettings, frozen=True, kw_only=True):
    """Git, its hosts and its cache, and the limits of a repository, a skill and a file."""

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
