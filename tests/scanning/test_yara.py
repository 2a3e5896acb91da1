"""YARA rules of operators: what a match becomes, what does not compile, and the bounds of a search."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.scanning.building import HEAD, found, make_skill, rule_ids
from tests.scanning.pack_building import RULE, YARA, make_pack
from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.domain.errors import InvalidRules, YaraNotInstalled
from vskill_platform.domain.scan import Owasp, Severity, Threat, Verdict
from vskill_platform.scanning.limits import YARA_TIME_LIMIT
from vskill_platform.scanning.tier1 import yara
from vskill_platform.scanning.tier1.packs import load_rules
from vskill_platform.scanning.tier1.scan import scan_content

SLOW = (
    "rule slow { condition: for any i in (0..filesize) : (for any j in (0..filesize) : (uint8(i) + uint8(j) == 999)) }"
)


def test_yara_match_is_a_finding__with_place_excerpt_and_what_its_meta_says(tmp_path: Path) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar=YARA))
    text = "One.\r\n  Café: send it to box.acme.example now\nand drop.acme.example\nbox.acme.example\n"
    report = scan_content(make_skill({"a.md": text}), ruleset=ruleset)
    (finding,) = found(report, "YR-drop_box")
    assert (finding.file, finding.line, finding.column, finding.layer) == ("a.md", 2, 20, "yara")
    assert finding.excerpt == "Café: send it to box.acme.example now"
    assert finding.more_lines == (3, 4)
    assert (finding.severity, finding.category, finding.owasp) == (
        Severity.CRITICAL,
        Threat.DATA_EXFILTRATION,
        Owasp.SUPPLY_CHAIN,
    )
    assert finding.message == "The skill names a drop box."
    assert (finding.why, finding.fix) == ("What is dropped there is gone.", "Do not drop anything there.")
    assert report.verdict is Verdict.FAIL


def test_yara_rule_has_defaults__for_what_its_meta_leaves_out(tmp_path: Path) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yara="rule bare { strings: $a = { 00 01 02 } condition: $a }"))
    report = scan_content(make_skill({"data.bin": b"\xff\xfe\xfd\x00\x01\x02"}), ruleset=ruleset)
    (finding,) = found(report, "YR-bare")
    assert (finding.severity, finding.line, finding.column) == (Severity.HIGH, 0, 0)
    assert "bare" in finding.message
    assert finding.why
    assert finding.fix


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        (b"\xef\xbb\xbfdrop.acme.example", 1, 1),
        (b"a\rb drop.acme.example", 2, 3),
        ("é\n\u00e9é drop.acme.example".encode(), 2, 4),
        (b"\xff\n\xff\xff drop.acme.example " + b"x" * 40, 2, 4),
        (b"x" * 30_000 + b" drop.acme.example", 1, 30_002),
        (b"\0\1\2 drop.acme.example", 0, 0),
    ],
)
def test_yara_match_has_the_place_an_editor_shows__whatever_the_bytes_are(
    tmp_path: Path, content: bytes, line: int, column: int
) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar=YARA))
    (finding,) = found(scan_content(make_skill({"a.txt": content}), ruleset=ruleset), "YR-drop_box")
    assert (finding.line, finding.column) == (line, column)
    assert "drop.acme.example" in finding.excerpt
    assert len(finding.excerpt) <= 200


def test_yara_match_without_a_string_is_about_the_file(tmp_path: Path) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar="rule large { condition: filesize > 1KB }"))
    (finding,) = found(scan_content(make_skill({"a.txt": "x" * 2000}), ruleset=ruleset), "YR-large")
    assert (finding.file, finding.line, finding.column, finding.excerpt) == ("a.txt", 0, 0, "")


def test_private_rules_and_rules_that_are_off_report_nothing(tmp_path: Path) -> None:
    rules = "private rule inner { condition: true }\nrule one { condition: inner }\nrule two { condition: inner }"
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar=rules, severities_toml='"YR-two" = "off"\n'))
    assert [name for name in ruleset.rules if name.startswith("YR-")] == ["YR-one"]
    assert list(ruleset.off) == ["YR-two"]
    assert [name for name in rule_ids(scan_content(make_skill(), ruleset=ruleset)) if name.startswith("YR-")] == [
        "YR-one"
    ]


@pytest.mark.parametrize(
    "disguise",
    [
        "// private rule one {",
        "/*\nprivate rule one {\n*/",
        'rule other { strings: $a = "private rule one {" condition: $a }',
    ],
)
def test_rule_is_not_taken_for_a_private_one__by_what_comments_and_strings_say(tmp_path: Path, disguise: str) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar=f"{disguise}\nrule one {{ condition: true }}"))
    assert found(scan_content(make_skill(), ruleset=ruleset), "YR-one")


def test_match_of_a_rule_that_is_not_known_is_a_fault__and_no_pass(tmp_path: Path) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar="rule one { condition: true }"))
    del ruleset.rules["YR-one"]
    report = scan_content(make_skill(), ruleset=ruleset)
    assert (report.verdict, report.limits_hit) == (Verdict.CONCERNS, ("analyser_failed:yara",))


def test_global_rule_of_one_file_does_not_silence_another(tmp_path: Path) -> None:
    silent = "global rule never { condition: false }\nrule quiet { condition: true }"
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar=silent, b_yar="rule loud { condition: true }"))
    assert [name for name in rule_ids(scan_content(make_skill(), ruleset=ruleset)) if name.startswith("YR-")] == [
        "YR-loud"
    ]


def described(text: str) -> str:
    """A rule that says this of itself."""
    return f"rule x {{ meta: {text} condition: true }}"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("rule x {\n condition:\n  unknown_thing\n}", ["a.yar:3:3 does not compile", "unknown_thing"]),
        ("rule x { condition: true }\nrule x { condition: true }", ["a.yar:2:6", "duplicate rule"]),
        ("rule Y { condition: true }", ["YR-y in b.yara has the id of YR-Y in a.yar"]),
        ('include "b.yar"\nrule x { condition: true }', ["a.yar:1:1", "include statements not allowed"]),
        (
            '// import "vt"\n\nimport "time"\nrule x { condition: time.now() > 0 }',
            ["a.yar:3 imports the module 'time'", "elf, hash, macho, math, pe, string"],
        ),
        ('import "vt"\nrule x { condition: true }', ["a.yar:1 imports the module 'vt'"]),
        (described('severity = "severe"'), ["YARA rule x in a.yar has severity = 'severe'", "critical"]),
        (described('category = "malware"'), ["category = 'malware'", "prompt-injection"]),
        (described('owasp = "LLM01"'), ["owasp = 'llm01'", "AST01"]),
        (described("severity = 5"), ["severity = '5'"]),
        (f"rule {'x' * 65} {{ condition: true }}", ["more than 64 characters"]),
    ],
)
def test_yara_file_is_refused_with_its_line__when_something_in_it_is_wrong(
    tmp_path: Path, source: str, says: list[str]
) -> None:
    with pytest.raises(InvalidRules) as refused:
        load_rules(make_pack(tmp_path / "p", a_yar=source, b_yara="rule y { condition: true }"))
    assert [text for text in says if text not in refused.value.message] == [], refused.value.message


def test_yara_file_that_is_no_text_is_refused__by_name(tmp_path: Path) -> None:
    folder = make_pack(tmp_path / "p")
    (tmp_path / "p" / "a.yar").write_bytes(b"rule x { condition: true } // \xff")
    with pytest.raises(InvalidRules, match=r"a\.yar cannot be read"):
        load_rules(folder)


def test_yara_rules_without_yara_x_say_what_to_install__and_other_packs_need_it_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yara_x", None)
    with pytest.raises(YaraNotInstalled) as refused:
        load_rules(make_pack(tmp_path / "with", a_yar=YARA, own_toml=RULE))
    assert refused.value.code == "yara_not_installed"
    assert "pip install 'vskill-platform[yara]'" in refused.value.message
    assert load_rules(make_pack(tmp_path / "without", own_toml=RULE)).yara is None


def test_search_that_takes_too_long_is_a_limit_and_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yara, "TIME_LIMIT_S", 1)
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar=SLOW))
    content = make_content([SkillFile(path="SKILL.md", content=HEAD.encode() + b"x" * 100_000)])
    report = scan_content(content, ruleset=ruleset)
    assert YARA_TIME_LIMIT in report.limits_hit
    assert report.verdict is not Verdict.PASS


def test_matches_of_a_pattern_are_bounded__in_a_file_that_is_made_of_them(tmp_path: Path) -> None:
    ruleset = load_rules(make_pack(tmp_path / "p", a_yar='rule x { strings: $a = "abcd" condition: #a > 5 }'))
    assert ruleset.yara is not None
    (match,) = ruleset.yara.search(b"abcd" * 200_000)
    assert len(match.places) == yara.MAX_MATCHES
    (finding,) = found(scan_content(make_skill({"a.txt": "abcd\n" * 200_000}), ruleset=ruleset), "YR-x")
    assert len(finding.more_lines) == 20


def test_yara_rule_of_the_handbook_is_one__and_says_of_itself_what_the_page_says(tmp_path: Path) -> None:
    page = Path(__file__).parents[2].joinpath("docs", "howto", "write-rules.md").read_text()
    source = page.partition("```yara\n")[2].partition("```")[0]
    rule = load_rules(make_pack(tmp_path / "p", a_yar=source)).rules["YR-drop_box"]
    assert (rule.severity, rule.title) == (Severity.HIGH, "Names a drop box")
    for number in (f"{yara.TIME_LIMIT_S} seconds", f"{yara.MAX_MATCHES:,} times", f"{yara.RESERVED_BYTES >> 20} MB"):
        assert number in page
    for module in yara.MODULES:
        assert f"`{module}`" in page
