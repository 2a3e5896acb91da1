"""What people tell the operator: that something is wrong with a skill, or that a decision about a submission is."""

from __future__ import annotations

from enum import StrEnum

from vskill_platform.domain.records import Record

REPORT_PREFIX = "report:"
MAX_TEXT_CHARS = 4000


class ReportKind(StrEnum):
    """What a report is about: a published skill, or a decision."""

    SKILL = "skill"
    APPEAL = "appeal"


class ReportReason(StrEnum):
    """Why a skill is reported. An appeal has `wrong_decision`, a report by an external scanner `external_scan`."""

    MALWARE = "malware"
    SECRET_LEAK = "secret_leak"
    IMPERSONATION = "impersonation"
    COPYRIGHT = "copyright"
    BROKEN = "broken"
    OTHER = "other"
    WRONG_DECISION = "wrong_decision"
    EXTERNAL_SCAN = "external_scan"


class ReportStatus(StrEnum):
    """How a report stands."""

    OPEN = "open"
    UPHELD = "upheld"
    DISMISSED = "dismissed"


class Report(Record, frozen=True, kw_only=True, rename="camel"):
    """One report. `subject` is a slug, or the id of a submission; `secret_hash` belongs to the secret of who made it.

    `account` is whoever was signed in when making it, which nobody but the operator and they themselves are told.
    `provider` is the external scanner that made it, if one did.
    """

    id: str
    kind: ReportKind
    subject: str
    reason: ReportReason
    text: str
    status: ReportStatus = ReportStatus.OPEN
    answer: str = ""
    created_at: str
    updated_at: str
    secret_hash: str
    account: str | None = None
    provider: str = ""


def reporter_prefix(account: str) -> str:
    """What the keys begin with that name the reports of an account."""
    return f"reporter:{account}:"


def report_key(identity: str) -> str:
    """The key of a report."""
    return f"{REPORT_PREFIX}{identity}"
