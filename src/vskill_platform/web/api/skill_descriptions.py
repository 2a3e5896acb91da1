"""What the routes about skills say of themselves for the OpenAPI document: examples and errors, by the name of the handler."""

from __future__ import annotations

from vskill_platform.domain.capabilities import CapabilityChanges
from vskill_platform.domain.comparison import FileChange, FileChangeKind, FileState
from vskill_platform.domain.errors import (
    IllegalTransition,
    NotFound,
    SkillMoved,
    SkillWithdrawn,
    VersionYanked,
    VskillError,
)
from vskill_platform.domain.external_scan import ExternalFinding, ExternalScanStatus
from vskill_platform.domain.repo_health import RepoStatus
from vskill_platform.domain.report import ReportKind, ReportReason, ReportStatus
from vskill_platform.domain.scan import Capabilities, Finding, Owasp, Severity, Threat
from vskill_platform.domain.skill import PublishedSkillSummary, VersionFile
from vskill_platform.stores.counts import SkillCounts
from vskill_platform.web.api.describing import Description
from vskill_platform.web.api.examples import COMMIT, DIGEST, ID, REPOSITORY
from vskill_platform.web.api.opinions import OpinionsView
from vskill_platform.web.api.report_views import (
    AppealRequest,
    ReportReceipt,
    ReportRequest,
    ReportView,
    SkillReportReason,
)
from vskill_platform.web.api.security import SARIF_TYPE
from vskill_platform.web.api.skill_views import (
    ArchiveView,
    BadgeEndpoint,
    CapabilityReport,
    Comparison,
    CountsView,
    InstallAnswer,
    InstalledSkill,
    InstallOutcome,
    InstallReport,
    ListedSkill,
    PublisherDetail,
    PublisherList,
    PublisherView,
    SecurityReport,
    SkillDetail,
    SkillList,
    StarView,
    UpdateCheck,
    UpdateList,
    UpdateStatus,
    UpdateView,
    VersionDetail,
    VersionList,
    VersionRow,
)
from vskill_platform.web.api.source_health import HealthView
from vskill_platform.web.opinions import Opinions, ProviderOpinion
from vskill_platform.web.source_words import SourceHealth

_SLUG = "acme/skills/pdf-forms"
_PLACE = f"/api/v1/skills/{_SLUG}"
_THEN = "2026-02-21T10:00:00.000Z"
_ABOUT_SKILL: tuple[type[VskillError], ...] = (NotFound, SkillMoved, SkillWithdrawn)
_CAPABILITIES = Capabilities(network_hosts=("api.example.com",), commands=("python3",))
_GAINED = CapabilityChanges(since="1.0.0", added=Capabilities(network_hosts=("api.example.com",)))
_SUMMARY = PublishedSkillSummary(
    slug=_SLUG,
    name="pdf-forms",
    repo_url=REPOSITORY,
    description="Fills in the fields of PDF forms.",
    version="1.0.1",
    tier="SCANNED",
    score=97,
    updated_at=_THEN,
    published_at=_THEN,
    publisher="acme",
    category="documents",
    verdict="PASS",
    capabilities=("network",),
    installs=1204,
)
_LISTED = ListedSkill(
    source_status=RepoStatus.ONLINE, **{name: getattr(_SUMMARY, name) for name in _SUMMARY.__struct_fields__}
)
_HEALTH = SourceHealth(
    status=RepoStatus.ONLINE,
    says="The repository is there.",
    reason="",
    checked_at=_THEN,
    last_commit_at=_THEN,
    head=COMMIT,
    moved_to="",
    known_status=RepoStatus.ONLINE,
    known_at=_THEN,
    next_look_at="2026-02-22T10:00:00.000Z",
    change=None,
)
_OPINIONS = Opinions(
    content_digest=DIGEST,
    providers=(
        ProviderOpinion(
            provider="bandit",
            status=ExternalScanStatus.PASS,
            is_late=False,
            score=97,
            provider_version="1.9.1",
            requested_at=_THEN,
            completed_at=_THEN,
            duration_ms=850.0,
            summary="",
            findings=(
                ExternalFinding(
                    rule_id="B603",
                    severity=Severity.MEDIUM,
                    file="scripts/fill.py",
                    line=12,
                    message="Starts a process",
                ),
            ),
            left_off=0,
        ),
    ),
    judge=None,
)
_DETAIL = SkillDetail(
    slug=_SLUG,
    name="pdf-forms",
    description="Fills in the fields of PDF forms.",
    publisher="acme",
    category="documents",
    license="MIT",
    version="1.0.1",
    tier="SCANNED",
    verdict="PASS",
    score=97,
    ruleset_version="2026.02",
    repo_url=REPOSITORY,
    skill_path="skills/pdf-forms",
    commit=COMMIT,
    source_url=f"{REPOSITORY}/tree/{COMMIT}/skills/pdf-forms",
    content_digest=DIGEST,
    published_at=_THEN,
    updated_at=_THEN,
    submission_id=ID,
    capabilities=_CAPABILITIES,
    counts=SkillCounts(installs=1204, downloads=3310, stars=58),
    versions=2,
    health=_HEALTH,
    links={"self": _PLACE, "versions": f"{_PLACE}/versions"},
)
_FILE = VersionFile(path="SKILL.md", size=1804, sha256="5f" * 32)
_VERSION = VersionDetail(
    slug=_SLUG,
    version="1.0.1",
    name="pdf-forms",
    description="Fills in the fields of PDF forms.",
    published_at=_THEN,
    repo_url=REPOSITORY,
    skill_path="skills/pdf-forms",
    commit=COMMIT,
    source_url=f"{REPOSITORY}/tree/{COMMIT}/skills/pdf-forms",
    content_digest=DIGEST,
    zip=ArchiveView(digest=DIGEST, size=2048, url=f"{_PLACE}/versions/1.0.1/archive.zip"),
    tar=ArchiveView(digest=DIGEST, size=4096, url=f"{_PLACE}/versions/1.0.1/archive.tar"),
    files=(_FILE,),
    omitted=(),
    capability_changes=_GAINED,
    yanked_at="",
    yank_reason="",
)
_ROW = VersionRow(
    version="1.0.1",
    published_at=_THEN,
    tier="SCANNED",
    verdict="PASS",
    score=97,
    commit=COMMIT,
    content_digest=DIGEST,
    ruleset_version="2026.02",
    zip_digest=DIGEST,
    zip_size=2048,
    tar_digest=DIGEST,
    tar_size=4096,
    capability_changes=_GAINED,
    yanked_at="",
    yank_reason="",
)
_CHANGE = FileChange(
    path="SKILL.md",
    change=FileChangeKind.CHANGED,
    before=FileState(size=1790, sha256="4e" * 32, executable=False),
    after=FileState(size=1804, sha256="5f" * 32, executable=False),
    diff="@@ -3 +3 @@\n-Fill in the form.\n+Fill in every field of the form.\n",
)
_FINDING = Finding(
    rule_id="NA-001",
    category=next(iter(Threat)),
    owasp=next(iter(Owasp)),
    severity=Severity.LOW,
    file="scripts/fill.py",
    line=12,
    column=5,
    excerpt='requests.get("https://api.example.com")',
    message="Reaches a host.",
    why="What a skill sends there cannot be seen from here.",
    fix="Say in SKILL.md what is sent, and why.",
    layer="python",
)
_SECURITY = SecurityReport(
    slug=_SLUG,
    version="1.0.1",
    tier="SCANNED",
    verdict="PASS",
    score=97,
    content_digest=DIGEST,
    ruleset_version="2026.02",
    scanner_version="1",
    scanned_at=_THEN,
    capabilities=_CAPABILITIES,
    findings=(_FINDING,),
    limits_hit=(),
)
_COUNTS = CountsView(slug=_SLUG, installs=1204, downloads=3310, stars=58, update_checks=912)
_STAR = StarView(slug=_SLUG, is_starred=True, stars=58)
_REPORT_ID = "rep_3f2b8c1d9e4a4f60b7a1c5d2e8f90134"
RECEIPT = ReportReceipt(
    id=_REPORT_ID, secret="told-once", status=ReportStatus.OPEN, url=f"/api/v1/reports/{_REPORT_ID}"
)
REPORT = ReportView(
    id=_REPORT_ID,
    kind=ReportKind.SKILL,
    subject=_SLUG,
    reason=ReportReason.MALWARE,
    text="It sends the form to a host that it does not name.",
    status=ReportStatus.OPEN,
    answer="",
    created_at=_THEN,
    updated_at=_THEN,
)
_SKILLS = SkillList(skills=[_LISTED], total=1, limit=50, offset=0, counts={"tier": {"SCANNED": 1}})
_UPDATES = UpdateList(
    skills=[
        UpdateView(
            slug=_SLUG,
            status=UpdateStatus.OUTDATED,
            current_slug=_SLUG,
            version="1.0.1",
            content_digest=DIGEST,
            capability_changes=_GAINED,
        )
    ]
)
_PUBLISHER = PublisherDetail(name="acme", skills=[_SUMMARY], total=1, limit=50, offset=0, counts={})
_BADGE = '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="vskill: scanned · 97"></svg>'


def _description(
    example: object, *errors: type[VskillError], body: object = None, types: tuple[str, ...] = ()
) -> Description:
    return Description(example, body, errors, types=types)


SKILL_DESCRIPTIONS: dict[str, Description] = {
    "list_skills": _description(_SKILLS),
    "search": _description(_SKILLS),
    "show_skill": _description(_DETAIL, *_ABOUT_SKILL),
    "show_alias": _description(_DETAIL, *_ABOUT_SKILL),
    "list_versions": _description(VersionList(slug=_SLUG, versions=[_ROW], total=1), *_ABOUT_SKILL),
    "show_version": _description(_VERSION, *_ABOUT_SKILL),
    "show_comparison": _description(
        Comparison(slug=_SLUG, source="1.0.0", target="1.0.1", files=[_CHANGE], capabilities=_GAINED), *_ABOUT_SKILL
    ),
    "download_file": _description(
        "---\nname: pdf-forms\n---\n", *_ABOUT_SKILL, VersionYanked, types=("text/plain", "application/octet-stream")
    ),
    "download_zip": _description("PK…", *_ABOUT_SKILL, VersionYanked, types=("application/zip",)),
    "download_tar": _description("SKILL.md…", *_ABOUT_SKILL, VersionYanked, types=("application/x-tar",)),
    "show_badge": _description(_BADGE, NotFound, SkillMoved),
    "show_badge_endpoint": _description(
        BadgeEndpoint(label="vskill", message="scanned · 97", color="2ea043"), NotFound, SkillMoved
    ),
    "show_security": _description(_SECURITY, *_ABOUT_SKILL),
    "show_sarif": _description({"version": "2.1.0", "runs": []}, *_ABOUT_SKILL, types=(SARIF_TYPE,)),
    "show_capabilities": _description(
        CapabilityReport(
            slug=_SLUG,
            version="1.0.1",
            ruleset_version="2026.02",
            capabilities=_CAPABILITIES,
            capability_changes=_GAINED,
        ),
        *_ABOUT_SKILL,
    ),
    "show_health": _description(HealthView(slug=_SLUG, repo_url=REPOSITORY, health=_HEALTH), *_ABOUT_SKILL),
    "show_opinions": _description(OpinionsView(slug=_SLUG, version="1.0.1", opinions=_OPINIONS), *_ABOUT_SKILL),
    "show_installs": _description(_COUNTS, *_ABOUT_SKILL),
    "report_install": _description(_COUNTS, *_ABOUT_SKILL),
    "report_installs": _description(
        InstallAnswer(outcomes={_SLUG: InstallOutcome.COUNTED}), body=InstallReport(skills=[_SLUG])
    ),
    "check_updates": _description(_UPDATES, body=UpdateCheck(skills=[InstalledSkill(slug=_SLUG, version="1.0.0")])),
    "show_star": _description(_STAR, *_ABOUT_SKILL),
    "add_star": _description(_STAR, *_ABOUT_SKILL),
    "remove_star": _description(_STAR, *_ABOUT_SKILL),
    "report_skill": _description(
        RECEIPT,
        *_ABOUT_SKILL,
        body=ReportRequest(reason=SkillReportReason.MALWARE, text="It sends the form to a host that it does not name."),
    ),
    "appeal_decision": _description(
        RECEIPT, NotFound, IllegalTransition, body=AppealRequest(text="The host is our own, and SKILL.md says so.")
    ),
    "show_report": _description(REPORT, NotFound),
    "list_publishers": _description(
        PublisherList(publishers=[PublisherView(name="acme", skills=1)], total=1, limit=50, offset=0)
    ),
    "show_publisher": _description(_PUBLISHER, NotFound),
    "export_skills": _description('{"slug": "acme/skills/pdf-forms", "name": "pdf-forms"}\n'),
}
