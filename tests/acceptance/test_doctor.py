"""`vskill-platform doctor` on setups that are well and on broken ones: it finds what is wrong, and disturbs nobody."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.commands import registry, run
from vskill_platform.app.doctor import Finding, Outcome, examine
from vskill_platform.app.doctor.database import judge_clock
from vskill_platform.settings import convert_settings
from vskill_platform.testing.postgres_server import PostgresServer
from vskill_platform.testing.s3_server import S3Server, running_s3_server


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with running_s3_server() as server:
        server.make_bucket("registry")
        yield server


def s3_settings(s3: S3Server, bucket: str) -> dict[str, str]:
    return {
        "blobs_url": f"s3://{bucket}/archives",
        "blobs_endpoint": s3.endpoint,
        "blobs_access_key_id": s3.access_key_id,
        "blobs_secret_access_key": s3.secret_access_key,
    }


async def look(data: Path, **settings: object) -> dict[str, Finding]:
    """The doctor's findings by name; of several of one name, the last."""
    given = convert_settings({"data": str(data), "scan_processes": 1, **settings})
    return {finding.name: finding async for finding in examine(given)}


def outcomes(findings: dict[str, Finding]) -> dict[str, Outcome]:
    return {name: finding.outcome for name, finding in findings.items()}


async def test_doctor_finds_all_well__on_a_safe_postgresql_and_an_object_store(tmp_path: Path, s3: S3Server) -> None:
    server = PostgresServer()
    server.start()
    try:
        database = server.create_database()
        findings = await look(tmp_path, database_url=server.url(database), **s3_settings(s3, "registry"))
        assert server.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'vskill'", database=database) == "0"
    finally:
        server.stop()
    assert {finding.outcome for finding in findings.values() if finding.name != "data folder"} == {Outcome.OK}
    assert {"database", "durability", "schema", "clock", "connections", "blobs", "git", "scanner"} <= set(findings)
    assert s3.request("GET", "registry").count(b"<Key>") == 0, "the doctor has left a blob behind"


async def test_doctor_fails_the_durability__of_a_server_that_does_not_sync(postgres_url: str, tmp_path: Path) -> None:
    findings = await look(tmp_path, database_url=postgres_url)
    assert findings["durability"].outcome is Outcome.FAIL
    assert "fsync off" in findings["durability"].detail
    assert (findings["schema"].outcome, findings["blobs"].outcome) == (Outcome.OK, Outcome.WARN)


async def test_doctor_looks_at_the_rest__where_database_bucket_and_git_are_missing(
    tmp_path: Path, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    nowhere = "postgresql://postgres:hunter2@127.0.0.1:1/none"
    findings = await look(tmp_path, database_url=nowhere, **s3_settings(s3, "no-such-bucket"))
    found = outcomes(findings)
    assert {found[name] for name in ("database", "blobs", "git")} == {Outcome.FAIL}
    assert found["scanner"] is Outcome.OK
    assert all(finding.advice for finding in findings.values() if finding.outcome is not Outcome.OK)
    assert not any("hunter2" in str(finding) for finding in findings.values())


async def test_doctor_fails_the_database__where_the_file_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "registry.db").write_bytes(b"not a database, but a long enough file to look at" * 100)
    findings = await look(tmp_path)
    assert findings["database"].outcome is Outcome.FAIL
    assert "database_not_ours" in findings["database"].detail


async def test_doctor_warns_of_a_folder__that_others_can_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert (await look(tmp_path))["data folder"].outcome is Outcome.WARN
    tmp_path.chmod(0o700)
    assert (await look(tmp_path))["data folder"].outcome is Outcome.OK
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("skew_ms", "outcome"),
    [(0, Outcome.OK), (1999, Outcome.OK), (-2000, Outcome.WARN), (299_999, Outcome.WARN), (-300_000, Outcome.FAIL)],
)
def test_clock_is_judged__by_how_far_it_is_off(skew_ms: float, outcome: Outcome) -> None:
    assert judge_clock(skew_ms).outcome is outcome


def test_doctor_disturbs_no_registry__that_runs_on_the_folder(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with registry(data) as (process, address):
        looked = run("doctor", "--data", str(data), "--json")
        findings = {finding["name"]: finding for finding in json.loads(looked.stdout)}
        assert (looked.returncode, findings["control socket"]["outcome"]) == (0, "ok")
        assert str(process.pid) in findings["control socket"]["detail"]
        os.chmod(data / "control.sock", 0o666)
        assert run("doctor", "--data", str(data)).returncode == 1
        with urllib.request.urlopen(f"{address}/healthz", timeout=30) as answer:
            assert json.load(answer)["status"] == "ok"


def test_doctor_tells_a_setting_that_means_nothing__and_exits_1(tmp_path: Path) -> None:
    looked = run("doctor", "--data", str(tmp_path), VSKILL_PLATFORM_PORT="abc")
    assert (looked.returncode, "fail settings" in looked.stdout) == (1, True)
