"""Names of skills and files: those that deceive are found, and honest ones in any script are left alone."""

from __future__ import annotations

import pytest

from tests.hostile import cases_names
from tests.scanning.archives import zipped
from tests.scanning.building import found, make_skill, rule_ids
from vskill_platform.domain.scan import ScanReport, Verdict
from vskill_platform.scanning.tier1.excerpts import show_invisible
from vskill_platform.scanning.tier1.scan import scan_content


def named(name: str) -> ScanReport:
    head = f'---\nname: "{name}"\ndescription: Greets people politely.\n---\n\nGreet the user by name.\n'
    return scan_content(make_skill({"SKILL.md": head}))


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("\u0440aypal-tools", "NM-001"),
        ("\u0440\u0430\u0443\u0440\u0430\u04cf", "NM-001"),
        ("pdf-\u0442\u043e\u043e\u04cf\u0455", "NM-001"),
        ("g\u03bfogle", "NM-001"),
        ("\uff47\uff52\uff45\uff45\uff54", "NM-001"),
        ("\U0001d41a\U0001d41b\U0001d41c", "NM-001"),
        ("\\u0440aypal-tools", "NM-001"),
        ("gre\u200beting", "NM-002"),
        ("gre\u00adeting", "NM-002"),
        ("\u2800", "NM-002"),
        ("gre\\u200beting", "NM-002"),
        ("con", "NM-003"),
        ("COM1.txt", "NM-003"),
        ("nul.", "NM-003"),
        ("../../etc/passwd", "NM-004"),
        ("<script>alert(1)</script>", "NM-004"),
        ("a\\\\b", "NM-004"),
        ("claude-official", "NM-005"),
        ("Verified by GitHub", "NM-005"),
    ],
)
def test_deceptive_skill_name_is_found__at_its_line(name: str, rule: str) -> None:
    (finding,) = found(named(name), rule)
    assert finding.line == 2


@pytest.mark.parametrize(
    "name",
    [
        "pdf-tools",
        "日本語",
        "пример-навыка",
        "ελληνικά-εργαλεία",
        "café-finder",
        "İstanbul-straße",
        "工具-tools",
        "한국어 도구",
        "عربي",
        "greeting 👩\u200d💻",
        "می\u200cخواهم",
        "console",
        "claude-api",
        "github-actions",
        "official-minutes",
        "trusted-types",
    ],
)
def test_honest_skill_name_is_left_alone__in_any_script(name: str) -> None:
    assert not [rule for rule in rule_ids(named(name)) if rule.startswith("NM-")]


@pytest.mark.parametrize(
    "line",
    ['"name": con', "name : con", "name: >-\n  con", "name: |\n  con", "name:\n  con", "name: &x con", "'name': 'con'"],
)
def test_name_is_found__however_it_is_written(line: str) -> None:
    assert found(scan_content(make_skill({"SKILL.md": f"---\n{line}\ndescription: b\n---\n"})), "NM-003")


def test_second_name_counts_too__because_agents_differ() -> None:
    head = "---\nname: greeting\ndescription: b\nname: con\n---\n"
    (finding,) = found(scan_content(make_skill({"SKILL.md": head})), "NM-003")
    assert finding.line == 4


@pytest.mark.parametrize("name", ["run\u200b.sh", "a\u202etxt.sh", "r\u0435adme.md", "\u3164.txt"])
@pytest.mark.parametrize("is_inside", [False, True])
def test_deceptive_file_name_is_found__also_inside_an_archive(name: str, is_inside: bool) -> None:
    files = {"a.zip": zipped({name: b"hello"})} if is_inside else {name: b"hello"}
    report = scan_content(make_skill(dict(files)))
    assert found(report, "NM-006")
    assert report.flagged
    assert is_inside is False or all(show_invisible(finding.file) == finding.file for finding in report.findings)


@pytest.mark.parametrize("name", ["aux.txt", "docs/nul/a.txt", "run.sh.", "run.sh "])
def test_file_name_that_is_not_safe_everywhere_is_found__inside_an_archive(name: str) -> None:
    assert found(scan_content(make_skill({"a.zip": zipped({name: b"hello"})})), "NM-007")


@pytest.mark.parametrize(
    "name", ["docs/日本語.md", "résumé.md", "ссылка.md", "assets/icon 😀.txt", "assets/❤️.txt", "a/b-c_d.e.f"]
)
def test_honest_file_name_is_left_alone(name: str) -> None:
    for files in ({name: b"hello"}, {"a.zip": zipped({name: b"hello"})}):
        report = scan_content(make_skill(dict(files)))
        assert not [rule for rule in rule_ids(report) if rule.startswith("NM-")]


@pytest.mark.parametrize(
    "kind", ["bidi", "zero-width", "tag-characters", "mixed-script", "confusable", "nfkc", "device"]
)
def test_trap_in_a_skill_name_never_passes(kind: str) -> None:
    assert named(cases_names.SKILLS[kind]).verdict is not Verdict.PASS
