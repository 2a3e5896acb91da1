"""Rules of an operator's own, from the command line and in a running registry."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.commands import LOOPBACK_GIT, registry, run
from tests.scanning.pack_building import RULE, YARA, make_pack
from vskill_platform.testing.git_repos import make_repository
from vskill_platform.testing.git_server import serve_repositories_in_thread

GOOD = b"---\nname: greeting\ndescription: Greets people politely.\n---\n\nGreet the user by name.\n"
OURS = GOOD + b"\nSee intranet.acme.example and drop.acme.example.\n"
SEVERITIES = '"XAC-001" = "low"\n"DX-001" = "medium"\n"RS-001" = "off"\n'


@pytest.fixture
def pack(tmp_path: Path) -> str:
    return make_pack(tmp_path / "pack", own_toml=RULE, acme_yar=YARA, severities_toml=SEVERITIES)


@pytest.fixture
def skill(tmp_path: Path) -> str:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "SKILL.md").write_bytes(OURS)
    return str(tmp_path / "ours")


def read_json(*arguments: str, **environment: str) -> Any:
    done = run(*arguments, **environment)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_scan_uses_the_rules_of_a_folder__named_by_option_or_by_setting(skill: str, pack: str) -> None:
    assert read_json("scan", skill, "--format", "json")["findings"] == []
    for answer in (
        read_json("scan", skill, "--format", "json", "--rules", pack),
        read_json("scan", skill, "--format", "json", VSKILL_PLATFORM_RULES_FOLDER=pack),
    ):
        found = {finding["ruleId"]: finding for finding in answer["findings"]}
        assert set(found) == {"XAC-001", "YR-drop_box"}
        assert (found["XAC-001"]["severity"], found["YR-drop_box"]["severity"]) == ("low", "critical")
        assert (found["YR-drop_box"]["line"], found["YR-drop_box"]["layer"]) == (8, "yara")
    sarif = read_json("scan", skill, "--format", "sarif", "--rules", pack)
    (one,) = [result for result in sarif["runs"][0]["results"] if result["ruleId"] == "YR-drop_box"]
    assert sarif["runs"][0]["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == "YR-drop_box"


def test_eval_uses_the_rules_of_a_folder(tmp_path: Path, skill: str, pack: str) -> None:
    index = tmp_path / "index.jsonl"
    index.write_text('{"path": "ours", "label": "malicious"}\n')
    assert read_json("eval", str(index), "--format", "json")["recall"]["k"] == 0
    result = read_json("eval", str(index), "--format", "json", "--rules", pack)
    assert result["recall"]["k"] == 1
    assert result["rulesetVersion"].count(".") == 2


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"own_toml": RULE.replace("XAC-001", "DX-001")}, "invalid_rules"),
        ({"a_yar": "rule x { condition: unknown }"}, "invalid_rules"),
        ({"severities_toml": '"NO-001" = "low"'}, "invalid_rules"),
    ],
)
def test_broken_pack_ends_every_command__with_exit_2_and_the_reason(
    tmp_path: Path, skill: str, files: dict[str, str], code: str
) -> None:
    folder = make_pack(tmp_path / "broken", **files)
    for arguments in (("scan", skill), ("explain",)):
        refused = run(*arguments, "--rules", folder)
        assert (refused.returncode, code in refused.stderr) == (2, True), refused.stderr
    refused = run("up", "--data", str(tmp_path / "data"), "--port", "0", VSKILL_PLATFORM_RULES_FOLDER=folder)
    assert (refused.returncode, code in refused.stderr) == (2, True), refused.stderr


def test_explain_tells_rules_of_every_origin__with_what_the_operator_changed(pack: str) -> None:
    ours = read_json("explain", "xac-001", "--rules", pack, "--format", "json")
    assert (ours["severity"], ours["ownSeverity"], ours["origin"]) == ("low", "high", "own.toml")
    assert ours["exceptions"]["form"]
    yara = read_json("explain", "YR-DROP_BOX", "--rules", pack, "--json")
    assert (yara["ruleId"], yara["layers"], yara["owaspRisk"]) == ("YR-drop_box", ["yara"], "Supply-chain compromise")
    off = run("explain", "RS-001", "--rules", pack)
    assert "off (the operator's choice; it comes as critical)" in off.stdout
    bundled = run("explain", "DX-001", "--rules", pack).stdout
    for told in (
        "medium (the operator's choice; it comes as high)",
        "AST01 Malicious skills",
        "why",
        "fix",
        "looks at",
        "raw",
    ):
        assert told in bundled, told
    for told in ("pattern", "but not", "matches", "does not match"):
        assert told in bundled, told
    assert "DX-001" not in run("explain", "--category", "fraud").stdout


def test_explain_lists_rules__by_category_and_severity(pack: str) -> None:
    everything = read_json("explain", "--rules", pack, "--json")["rules"]
    off = read_json("explain", "--severity", "off", "--rules", pack, "--json")["rules"]
    assert [rule["ruleId"] for rule in off] == ["RS-001"]
    chosen = read_json(
        "explain", "--category", "data-exfiltration", "--severity", "critical", "--rules", pack, "--json"
    )
    wanted = [
        rule["ruleId"]
        for rule in everything
        if (rule["category"], rule["severity"]) == ("data-exfiltration", "critical")
    ]
    assert [rule["ruleId"] for rule in chosen["rules"]] == wanted
    assert "YR-drop_box" in wanted
    assert run("explain", "--severity", "lowest").returncode == 2


def test_registry_judges_by_the_operators_rules(tmp_path: Path, pack: str) -> None:
    data = str(tmp_path / "data")
    make_repository(tmp_path / "git" / "acme" / "ours.git", {"SKILL.md": OURS})
    settings = {**LOOPBACK_GIT, "VSKILL_PLATFORM_RULES_FOLDER": pack}
    with serve_repositories_in_thread(tmp_path / "git") as source, registry(tmp_path / "data", **settings):
        view = read_json("submit", f"{source}/acme/ours", "--wait", "--json", "--data", data)
        (child,) = view["children"]
        assert (child["state"], child["reason"]) == ("TIER1_FAILED", "tier1_failed")
        scan = read_json("status", child["id"], "--json", "--data", data)["scan"]
        assert "YR-drop_box" in [finding["ruleId"] for finding in scan["findings"]]


def test_up_warns_of_rules_that_are_off__before_it_serves(tmp_path: Path, pack: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        stopped = run("up", "--data", str(tmp_path / "data"), "--port", port, VSKILL_PLATFORM_RULES_FOLDER=pack)
    assert "address_unavailable" in stopped.stderr
    (warning,) = [json.loads(line) for line in stopped.stderr.splitlines() if "rules_switched_off" in line]
    assert (warning["level"], warning["rules"], warning["critical"]) == ("warning", ["RS-001"], ["RS-001"])


def test_published_skills_are_rescanned__when_the_operators_rules_have_changed(tmp_path: Path, pack: str) -> None:
    data = str(tmp_path / "data")
    make_repository(tmp_path / "git" / "acme" / "good.git", {"SKILL.md": GOOD})
    with serve_repositories_in_thread(tmp_path / "git") as source:
        with registry(tmp_path / "data", **LOOPBACK_GIT):
            assert run("submit", f"{source}/acme/good", "--wait", "--data", data).returncode == 0
            assert run("rescan", "--outdated", "--data", data).stdout == "Nothing to do.\n"
        with registry(tmp_path / "data", **LOOPBACK_GIT, VSKILL_PLATFORM_RULES_FOLDER=pack):
            assert "new run" in run("rescan", "--outdated", "--data", data).stdout


def test_versions_of_a_skill_are_shown__with_what_each_gained(tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    repository = make_repository(tmp_path / "git" / "acme" / "good.git", {"SKILL.md": GOOD})
    with serve_repositories_in_thread(tmp_path / "git") as source, registry(tmp_path / "data", **LOOPBACK_GIT):
        assert run("submit", f"{source}/acme/good", "--wait", "--data", data).returncode == 0
        repository.commit({"SKILL.md": GOOD + b"\nRead https://api.acme.example/ first.\n"})
        (child,) = read_json("submit", f"{source}/acme/good", "--wait", "--json", "--data", data)["children"]
        assert child["version"] == "1.0.1"
        skill = read_json("skills", child["slug"], "--json", "--data", data)
        assert [version["version"] for version in skill["versions"]] == ["1.0.1", "1.0.0"]
        assert skill["versions"][0]["capabilityChanges"]["added"]["networkHosts"] == ["api.acme.example"]
        for shown in (run("skills", child["slug"], "--data", data), run("status", child["id"], "--data", data)):
            assert "since 1.0.0" in shown.stdout
            assert "network hosts" in shown.stdout
            assert "api.acme.example" in shown.stdout
        missing = run("skills", "acme/none/such", "--data", data)
        assert (missing.returncode, "not_found" in missing.stderr) == (1, True)
