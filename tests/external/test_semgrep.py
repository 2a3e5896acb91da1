"""semgrep for real, by the rules that come with us: each rule hits its example and passes over its counterexample."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from tests.external.installed import scanner_of
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.external_scan import ExternalScanStatus
from vskill_platform.domain.scan import Severity, Threat
from vskill_platform.scanning.external.semgrep import RULES

EXAMPLES = tomllib.loads((Path(__file__).parent / "semgrep_examples.toml").read_text(encoding="utf-8"))


def rules() -> list[dict[str, object]]:
    return [rule for path in sorted(RULES.glob("*.yaml")) for rule in yaml.safe_load(path.read_text())["rules"]]


def test_rules_for_semgrep_are_of_known_threats_and_severities__and_say_how_to_mend() -> None:
    threats, severities = {threat.value for threat in Threat}, {severity.value.upper() for severity in Severity}
    for rule in rules():
        assert str(rule["id"]).partition(".")[0] in threats
        assert rule["severity"] in severities
        assert rule["metadata"]["fix"]  # type: ignore[index]


def test_rules_for_semgrep_each_have_an_example() -> None:
    assert sorted(str(rule["id"]) for rule in rules()) == sorted(example["rule"] for example in EXAMPLES.values())


@pytest.mark.external
async def test_semgrep_hits_each_example_and_no_counterexample(tmp_path: Path) -> None:
    files, wanted = [], set()
    for name, example in EXAMPLES.items():
        files.append(SkillFile(path=f"bad/{name}/{example['file']}", content=example["matches"].encode()))
        files.append(SkillFile(path=f"good/{name}/{example['file']}", content=example["ignores"].encode()))
        wanted.add((f"semgrep/{example['rule']}", f"bad/{name}/{example['file']}"))
    async with scanner_of("semgrep", data=tmp_path) as scanner:
        report = await scanner.scan(make_content(files))
    found = {(finding.rule_id, finding.file) for finding in report.findings}
    assert wanted - found == set()
    by_example = {
        (f"semgrep/{example['rule']}", f"good/{name}/{example['file']}") for name, example in EXAMPLES.items()
    }
    assert found & by_example == set()
    assert {file for _, file in found if file.startswith("good/")} == set()


@pytest.mark.external
async def test_semgrep_takes_no_orders_from_a_skill__ignore_files_comments_and_odd_names(tmp_path: Path) -> None:
    line = b"import os, sys\nos.system('ls ' + sys.argv[1])  # nosemgrep\n"
    content = make_content(
        [
            SkillFile(path=".semgrepignore", content=b"*\n"),
            SkillFile(path=".gitignore", content=b"*\n"),
            SkillFile(path="tests/a.py", content=line),
            SkillFile(path="node_modules/b.py", content=line),
            SkillFile(path=".hidden/c.py", content=line),
            SkillFile(path="run", content=b"#!/usr/bin/env python3\n" + line),
        ]
    )
    async with scanner_of("semgrep", data=tmp_path) as scanner:
        report = await scanner.scan(content)
    assert report.status is ExternalScanStatus.PASS
    assert {finding.file for finding in report.findings} == {".hidden/c.py", "node_modules/b.py", "run", "tests/a.py"}
