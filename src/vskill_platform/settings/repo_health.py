"""How the repositories of published skills are looked at again, and what follows when they have changed."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from vskill_platform.settings.scanning import ScanningSettings


class RepoHealthSettings(ScanningSettings, frozen=True, kw_only=True):
    """The looks at repositories, their pace, and changes of the source."""

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
