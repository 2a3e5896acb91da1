"""Scanners of other makes for real, on samples and on our corpus: `make test-external`."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.cases import Case, read_corpus
from tests.external.installed import FOLDER, scanner_of, settings_for
from tests.scanning.building import make_skill
from tests.scanning.watching import is_gone
from vskill_platform.cli.scanners import SAMPLE
from vskill_platform.domain.external_scan import ExternalReport, ExternalScanStatus
from vskill_platform.domain.scan import Severity
from vskill_platform.scanning.external import open_scanners
from vskill_platform.scanning.external.environments import Environment
from vskill_platform.scanning.external.installing import install
from vskill_platform.scanning.external.known import mark_known
from vskill_platform.scanning.external.warm import WarmScanner
from vskill_platform.scanning.tier1.scan import scan_content

pytestmark = pytest.mark.external
OFFLINE = ("bandit", "cisco-ai-skill-scanner", "detect-secrets", "semgrep")
ENDED = (ExternalScanStatus.PASS, ExternalScanStatus.FAIL)
EVERY_NTH = 12
"""Of our corpus every twelfth case: the rest is measured by `python -m tools.external_accuracy`."""


@pytest.mark.parametrize("name", OFFLINE)
async def test_scanner_finds_something_in_the_sample__and_marks_what_tier_1_has(tmp_path: Path, name: str) -> None:
    async with scanner_of(name, data=tmp_path) as scanner:
        report = await scanner.scan(SAMPLE)
    assert report.status in ENDED
    assert report.provider_version == Environment(name, FOLDER / name).pinned_version()
    assert {finding.file for finding in report.findings if finding.severity is not Severity.INFO} == {"scripts/get.py"}
    known = {finding.same_as for finding in mark_known(report.findings, scan_content(SAMPLE))}
    assert known - {""} <= {finding.rule_id for finding in scan_content(SAMPLE).findings}


@pytest.mark.parametrize("name", OFFLINE)
async def test_scanner_comes_to_an_end__on_skills_of_our_corpus_of_every_kind(tmp_path: Path, name: str) -> None:
    cases = read_corpus()[::EVERY_NTH]
    assert {case.kind for case in cases} == {"benign", "malicious", "pairs", "tricks"}
    async with scanner_of(name, data=tmp_path) as scanner:
        reports = [(case, await scanner.scan(case.content)) for case in cases]
    ended = [(case, report) for case, report in reports if report.status in ENDED]
    assert len(ended) >= 0.97 * len(reports), [report.summary for _, report in reports if report.status not in ENDED]
    assert all(_is_well_formed(case, report) for case, report in ended)
    assert any(report.findings for _, report in ended)


def _is_well_formed(case: Case, report: ExternalReport) -> bool:
    """Whether every finding is of a file and a line that the skill has."""
    files = {file.path: file.content.count(b"\n") + 1 for file in case.content.files}
    return all(finding.file in files and finding.line <= files[finding.file] for finding in report.findings)


async def test_cisco_stays_running_between_skills__and_ends_with_its_owner(tmp_path: Path) -> None:
    async with scanner_of("cisco-ai-skill-scanner", data=tmp_path) as scanner:
        assert isinstance(scanner, WarmScanner)
        await scanner.scan(SAMPLE)
        pid = scanner.pid
        reports = [await scanner.scan(make_skill({"a.sh": f"echo {number}\n"})) for number in range(3)]
        assert scanner.pid == pid
    assert [report.status for report in reports] == [ExternalScanStatus.PASS] * 3
    assert pid is not None
    assert is_gone(pid)


async def test_detect_secrets_takes_no_orders_from_a_skill(tmp_path: Path) -> None:
    key = "AKIA" + "IOSFODNN7SAMPLEK"
    skill = make_skill(
        {
            "a.py": f"key = '{key}'  # pragma: allowlist secret\n",
            "package-lock.json": f'{{"key": "{key}"}}\n',
            ".secrets.baseline": f'{{"results": {{}}, "x": "{key}"}}\n',
            ".hidden/swagger.json": f'{{"key": "{key}"}}\n',
        }
    )
    async with scanner_of("detect-secrets", data=tmp_path) as scanner:
        report = await scanner.scan(skill)
    grave = {finding.file for finding in report.findings if finding.severity is Severity.HIGH}
    assert grave == {"a.py", "package-lock.json", ".secrets.baseline", ".hidden/swagger.json"}
    assert all(key not in finding.message + finding.fix for finding in report.findings)


async def test_scanners_work_side_by_side__and_tell_the_same_as_one_by_one(tmp_path: Path) -> None:
    async with open_scanners(settings_for(",".join(OFFLINE), data=tmp_path)) as scanners:
        alone = [await scanner.scan(SAMPLE) for scanner in scanners.values()]
        together = await asyncio.gather(*(scanner.scan(SAMPLE) for scanner in scanners.values()))
    assert [report.findings for report in together] == [report.findings for report in alone]


class _Service(BaseHTTPRequestHandler):
    """Stands in for Snyk's service: keeps what it is sent and answers as it was told."""

    asked: list[tuple[dict[str, str], dict[str, Any]]]
    status: int

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((dict(self.headers.items()), body))
        risk = {
            "score": 950,
            "evidence": "talks to the agent",
            "locations": [{"start": {"path": "SKILL.md", "line": 2}}],
        }
        skill = {"name": "sample", "risk_indexes": {"prompt_injection_skill_instructions": risk}}
        answer = json.dumps({"scan_path_responses": [{"path": "x", "skill_risks": [skill]}]}).encode()
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def service(*, status: int = 200) -> Iterator[tuple[str, list[tuple[dict[str, str], dict[str, Any]]]]]:
    handler = type("Service", (_Service,), {"asked": [], "status": status})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hidden/mcp-scan/analysis-machine", handler.asked  # type: ignore[attr-defined]
        server.shutdown()


async def test_snyk_sends_the_skill_with_the_operators_token__and_reads_the_answer(tmp_path: Path) -> None:
    with service() as (url, asked):
        given = {"snyk_token": "token-of-the-operator", "snyk_analysis_url": url}
        async with scanner_of("snyk-agent-scan", data=tmp_path, **given) as scanner:
            report = await scanner.scan(SAMPLE)
    assert report.status is ExternalScanStatus.FAIL, report.summary
    (finding,) = report.findings
    assert (finding.rule_id, finding.file, finding.line) == (
        "snyk-agent-scan/prompt_injection_skill_instructions",
        "SKILL.md",
        2,
    )
    ((headers, body),) = asked
    assert headers["Authorization"] == "token token-of-the-operator"
    assert "scripts/get.py" in json.dumps(body)


async def test_snyk_is_an_error__when_the_service_refuses(tmp_path: Path) -> None:
    with service(status=401) as (url, _):
        given = {"snyk_token": "wrong", "snyk_analysis_url": url}
        async with scanner_of("snyk-agent-scan", data=tmp_path, **given) as scanner:
            report = await scanner.scan(SAMPLE)
    assert report.status is ExternalScanStatus.ERROR
    assert "wrong" not in report.summary


def test_installation_makes_an_environment_that_counts(tmp_path: Path) -> None:
    environment = Environment("detect-secrets", tmp_path / "detect-secrets")
    told: list[str] = []
    install(environment, tell=told.append)
    assert environment.missing_because() == ""
    assert any("detect-secrets==" in line for line in told)
