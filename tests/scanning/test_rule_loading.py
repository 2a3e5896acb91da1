"""Rules are read strictly: a broken rule is an error with a name, never a rule that silently does not hit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scanning.building import RULES, sample_ruleset
from vskill_platform.domain.errors import InvalidRules
from vskill_platform.domain.scan import Owasp, Threat
from vskill_platform.scanning.tier1.analysers import CHECK_NAMES
from vskill_platform.scanning.tier1.rules import Ruleset, load_ruleset, read_ruleset
from vskill_platform.scanning.tier1.scan import scan_content


def test_ruleset_takes_the_files_category__unless_a_rule_has_its_own(samples: Ruleset) -> None:
    assert samples.rules["TT-001"].category is Threat.DOWNLOAD_EXECUTE
    assert samples.rules["TT-002"].category is Threat.PROMPT_INJECTION
    assert (samples.rules["TT-001"].owasp, samples.rules["TT-002"].owasp) == (
        Owasp.MALICIOUS_SKILL,
        Owasp.INSECURE_METADATA,
    )


def test_ruleset_version_follows_the_data__when_one_character_changes(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    first = sample_ruleset(folders[0])
    assert sample_ruleset(folders[1]).version == first.version
    assert sample_ruleset(folders[2], rules=RULES.replace("forget its", "forget all")).version != first.version
    assert first.version.startswith("2026.11+")


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ("'''(?i)ignore all previous instructions'''", "'''(?i)(ignore'''", "TT-002 is broken: its pattern does not compile"),
        ("'''https://trusted\\.example/'''", "'''(?=x)'''", "TT-001 is broken: its unless does not compile"),
        ("'''\\beval\\('''", "'''(?:eval)?'''", "TT-004 is broken: its pattern matches the empty text"),
        ("'''\\beval\\('''", "'''a{1001}'''", "TT-004 is broken: its pattern does not compile"),
        ('severity = "low"', 'severity = "lowest"', "samples.toml cannot be read"),
        ('id = "TT-004"', 'id = "TT-003"', "TT-003 in samples.toml is there twice"),
        ('id = "TT-004"', 'id = "tt-4"', "samples.toml cannot be read"),
        ('matches = ["eval(x)", " eval( y)"]', 'matches = ["eval(x)"]', "TT-004 in samples.toml is broken: it needs at least 2"),
        ("'''\\beval\\('''", "'''\\beval\\('''\ncheck = \"archive\"", "and only one of them"),
        ('applies_to = ["script"]', "applies_to = []", "applies_to is empty"),
        ('applies_to = ["script"]', 'aplies_to = ["script"]', "samples.toml cannot be read"),
        ('owasp = "AST01"\n[[rules]]', 'owasp = "AST11"\n[[rules]]', "samples.toml cannot be read"),
    ],
)  # fmt: skip
def test_load_ruleset_names_what_is_broken__for_a_bad_rule(tmp_path: Path, was: str, becomes: str, says: str) -> None:
    assert was in RULES
    with pytest.raises(InvalidRules) as refused:
        sample_ruleset(tmp_path, rules=RULES.replace(was, becomes, 1))
    assert says in refused.value.message


def test_load_ruleset_refuses__for_a_folder_without_rules(tmp_path: Path) -> None:
    with pytest.raises(InvalidRules, match="There is no rule"):
        load_ruleset(tmp_path)


def test_scan_refuses_rules__that_name_a_check_that_does_not_exist(tmp_path: Path) -> None:
    rules = RULES.replace("pattern = '''\\beval\\('''", 'check = "no_such_check"')
    from tests.scanning.building import make_skill

    with pytest.raises(InvalidRules, match="no_such_check"):
        scan_content(make_skill(), ruleset=sample_ruleset(tmp_path, rules=rules))


def test_every_check_has_a_rule_and_every_rule_its_check__in_the_real_ruleset() -> None:
    assert {rule.check for rule in read_ruleset().check_rules} == CHECK_NAMES
