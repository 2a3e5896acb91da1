"""A registry with something to judge, and people to judge it: what the tests of the panel's pages begin with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
import msgspec
from litestar.types import ASGIApp

from tests.admin.test_acting import client_of, read_entries
from vskill_platform.domain.access import Role
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.records import Submission
from vskill_platform.domain.scan import Finding, Owasp, ScanReport, Severity, Threat, Verdict
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.pinning import pin_content
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.scans import TIER1, ScanRecord, recording
from vskill_platform.testing.accounts import in_request, make_account, make_session, sign_in
from vskill_platform.testing.submissions import putting_submission, submission_at
from vskill_platform.web.app import create_web_app

SKILL = b"---\nname: greeting\ndescription: Greets people.\n---\n\n# Greeting\n\nSay hello.\n"


def finding(severity: Severity = Severity.HIGH, *, file: str = "SKILL.md", line: int = 8, **fields: object) -> Finding:
    """A finding in a file."""
    made = Finding(
        rule_id="DE-001",
        category=Threat.DATA_EXFILTRATION,
        owasp=Owasp.MALICIOUS_SKILL,
        severity=severity,
        file=file,
        line=line,
        column=1,
        excerpt="Say hello.",
        message="Sends a file to another host",
        why="The file may hold secrets.",
        fix="Leave it where it is.",
        layer="raw",
    )
    return msgspec.structs.replace(made, **fields)


async def plant(
    env: WorkerEnv,
    name: str,
    *findings: Finding,
    state: SubmissionState = SubmissionState.NEEDS_REVIEW,
    files: dict[str, bytes] | None = None,
    updated_ms: int | None = None,
) -> Submission:
    """A submission that was read and scanned, with these findings, as the pipeline leaves it."""

    async def write() -> Submission:
        given = {"SKILL.md": SKILL.replace(b"greeting", name.encode()), **(files or {})}
        content = make_content([SkillFile(path=path, content=text) for path, text in given.items()])
        pinned = await pin_content(content, commit="c" * 40)
        submission = submission_at(
            state,
            updated_ms=env.clock.now_ms() if updated_ms is None else updated_ms,
            repo_url=f"https://github.com/acme/{name}",
            skill_name=name,
            skill_path="",
            pin=pinned.pin,
            commit=pinned.pin.commit,
            verdict=Verdict.CONCERNS,
            score=71,
            history_length=1,
        )
        report = ScanReport(
            name=name,
            verdict=Verdict.CONCERNS,
            score=71,
            flagged=True,
            content_digest=pinned.pin.content_digest,
            ruleset_version="1",
            scanner_version="1",
            findings=findings,
        )
        scan = ScanRecord(
            submission_id=submission.id,
            run=1,
            tier=TIER1,
            scanned_at=submission.updated_at,
            commit="c" * 40,
            report=report,
        )
        await env.writes.commit([*putting_submission(submission), *recording(scan)])
        return submission

    return await in_request(env, write)


_apps: list[tuple[WorkerEnv, ASGIApp]] = []


def app_of(env: WorkerEnv) -> ASGIApp:
    """The application over an env, made once for each test: making one takes longer than asking it."""
    if not _apps or _apps[0][0] is not env:
        _apps[:] = [(env, create_web_app(env))]
    return _apps[0][1]


@asynccontextmanager
async def signed_in(env: WorkerEnv, role: Role, *, name: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """A client of somebody with a role."""
    account = await make_account(env, name or role.value.lower().replace("_", "-"), role)
    async with client_of(app_of(env)) as client:
        sign_in(client, await make_session(env, account))
        client.headers["Origin"] = "http://registry"
        yield client


async def assert_refused(env: WorkerEnv, *roles: Role, calls: Mapping[str, dict[str, str] | None]) -> None:
    """Nobody with one of these roles may ask for these paths, with a body or without, and nothing is told of the try."""
    for role in roles:
        async with signed_in(env, role) as client:
            for path, body in calls.items():
                answer = await (client.get(path) if body is None else client.post(path, json=body))
                assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed"), (role, path)
    assert await read_entries(env) == []
