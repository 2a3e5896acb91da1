"""SARIF: valid by the schema, with places that viewers understand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from tests.scanning.building import make_skill
from vskill_platform.domain.content import Omitted, OmittedKind, SkillContent
from vskill_platform.domain.scan import ScanReport
from vskill_platform.scanning.sarif import sarif_log
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.scanning.tier1.scan import scan_content

SCHEMA = Path(__file__).with_name("data") / "sarif-2.1.0-rtm.5.json"


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator(json.loads(SCHEMA.read_text()))


def as_json(*scans: tuple[str, ScanReport]) -> Any:
    """What a reader of the file gets."""
    return json.loads(msgspec.json.encode(sarif_log(scans)))


def troubled_skill() -> SkillContent:
    return make_skill(
        {"a b/ü#?.md": "one\npass\u200bword \U000e0041\n", "model.bin": bytes(range(256))},
        omitted=(Omitted(path="link", kind=OmittedKind.SYMLINK, detail="/etc/passwd"),),
    )


def test_sarif_is_valid_by_the_schema__with_findings_limits_and_without(validator: jsonschema.Draft4Validator) -> None:
    report = scan_content(troubled_skill())
    assert report.findings
    assert report.limits_hit
    for scans in ([("skills/x", report)], [("x", report), ("y", scan_content(make_skill()))], []):
        validator.validate(as_json(*scans))


def test_schema_refuses__what_is_no_sarif(validator: jsonschema.Draft4Validator) -> None:
    log = as_json(("x", scan_content(troubled_skill())))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"] = {"startLine": 0}
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(log)


def test_sarif_results_have_places__where_findings_have_them() -> None:
    (run,) = as_json(("my skills/x", scan_content(troubled_skill())))["runs"]
    places = {
        result["ruleId"]: result["locations"][0]["physicalLocation"]
        for result in run["results"]
        if result["ruleId"].startswith("ST-")
    }
    assert places["ST-015"]["artifactLocation"]["uri"] == "my%20skills/x/a%20b/%C3%BC%23%3F.md"
    assert (places["ST-015"]["region"]["startLine"], places["ST-015"]["region"]["startColumn"]) == (2, 11)
    assert "region" not in places["ST-003"]
    assert run["columnKind"] == "unicodeCodePoints"


def test_sarif_explains_every_rule__and_results_point_at_them() -> None:
    (run,) = as_json(("x", scan_content(troubled_skill())))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(load_ruleset().rules)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["text"]
        assert result["properties"]["owasp"].startswith("AST")


def test_sarif_tells_limits__as_notifications() -> None:
    (invocation,) = as_json(("x", scan_content(troubled_skill())))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    assert [note["descriptor"]["id"] for note in invocation["toolExecutionNotifications"]] == ["unanalysable_file"]


def test_sarif_fingerprint_stays__when_lines_move() -> None:
    def prints(body: str) -> list[str]:
        (run,) = as_json(("x", scan_content(make_skill({"a.md": body}))))["runs"]
        return [result["partialFingerprints"]["vskillFinding/v1"] for result in run["results"]]

    assert prints("a \u202eb\n") == prints("\n\n\na \u202eb\n")
    assert prints("a \u202eb\n") != prints("c \u202eb\n")


def test_sarif_has_an_address_for_a_skill__that_came_from_one() -> None:
    (run,) = as_json(("https://host.example/o/r", scan_content(troubled_skill())))["runs"]
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert "https://host.example/o/r/link" in uris
