"""What the API says of reports and appeals."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from vskill_platform.domain.report import MAX_TEXT_CHARS, ReportKind, ReportReason, ReportStatus

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_TEXT_CHARS)]


class SkillReportReason(StrEnum):
    """Why a skill is reported."""

    MALWARE = "malware"
    SECRET_LEAK = "secret_leak"
    IMPERSONATION = "impersonation"
    COPYRIGHT = "copyright"
    BROKEN = "broken"
    OTHER = "other"


class ReportRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What is wrong with a skill."""

    reason: SkillReportReason
    text: Words


class AppealRequest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Why a decision about a submission is wrong."""

    text: Words


class ReportView(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A report as whoever made it sees it."""

    id: str
    kind: ReportKind
    subject: str
    reason: ReportReason
    text: str
    status: ReportStatus
    answer: str
    created_at: str
    updated_at: str


class ReportReceipt(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A report that was taken in. The secret is told this once: with it, `url` shows how the report stands."""

    id: str
    secret: str
    status: ReportStatus
    url: str


class ReportAnswer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The operator's answer to a report."""

    id: str
    status: ReportStatus
    answer: Words
