"""Sets that hyperscan compiled ahead say what google-re2 says, and where they cannot be used google-re2 says it."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.corpus.cases import read_corpus
from vskill_platform.scanning.tier1 import patterns
from vskill_platform.scanning.tier1.all_sets import compile_missing
from vskill_platform.scanning.tier1.compiled_sets import (
    ENDING,
    CompiledSet,
    compile_ahead,
    find_compiled,
    is_supported,
    remove_others,
    shown,
    shown_pattern,
)
from vskill_platform.scanning.tier1.one_blank import sketch
from vskill_platform.scanning.tier1.patterns import Pattern, PatternSet, loosened
from vskill_platform.scanning.tier1.rarest_parts import rarest_part
from vskill_platform.scanning.tier1.rules import read_ruleset

pytestmark = pytest.mark.skipif(not is_supported(), reason="there is no hyperscan for this machine")

SOURCES = (
    r"(?i)\bcurl\s+-[a-z]+\s",
    r"(?im)^allow\S+\s*:\s",
    r"a[^\n]b$",
    r"(?i)straße|naïve|ключ",
    r"[\s\S]x\.y",
    r"(?:^|[^\pL])dlatego(?:[^\pL]|$)",
    r"\d\d:\w+\b",
    r"(?i)\[(?:System\.Management\.Automation\.)?ScriptBlock\]::Create\s*\(",
)
OVERLOOKED = 'ot-export")\n& ([scriptblock]::Create('
"""What hyperscan does not find where it is asked to read UTF-8."""
NOT_TAKEN = r"(?:(?:^|b)c|d$)e"
PIECES = (
    *(
        "curl -s ",
        "CURL\t-X\n",
        "allowed:\u00a0",
        "aéb",
        "a\x0bb",
        "STRASSE",
        "straße",
        "Ключ",
        "ſ",
        "\u212a",
        "x.y",
        "é",
        "don\x01t `:",
        "\x01",
    ),
    *("12:ab", "dlatego", "\n", "\r\n", "\x0b", "\u2028", " ", "\x00"),
)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> CompiledSet:
    folder = tmp_path_factory.mktemp("compiled")
    compile_ahead(SOURCES, folder=folder)
    found = find_compiled(SOURCES, folder=folder)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def bundled() -> list[tuple[str, ...]]:
    """All sets of the bundled rules, as a process without other sets knows them, compiled: by `make`, or now."""
    script = (
        "import json; from vskill_platform.scanning.tier1.all_sets import all_sets; print(json.dumps(list(all_sets())))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    sets = [tuple(sources) for sources in json.loads(done.stdout)]
    list(compile_missing(sets))
    return sets


def test_compiled_set_leaves_nothing_out__in_any_text(compiled: CompiledSet) -> None:
    compiled_alone = list(map(Pattern, SOURCES))

    @given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4))).map("".join))
    @example("curl -s x")
    @example("a\u00e9b")
    @example("naïve")
    @example("($null) { throw }\n# templates\n& ([scriptblock]::Create($t))\n")
    def holds(text: str) -> None:
        data = text.encode(errors="ignore")
        plain = shown(data)
        if plain is not None:
            taken = {number for number in range(len(SOURCES)) if number not in compiled.left_out}
            by_re2 = {number for number in taken if compiled_alone[number].is_in(data)}
            assert by_re2 <= set(compiled.which(plain))

    holds()


@pytest.mark.parametrize(
    ("text", "as_shown"),
    [
        ("plain", b"plain"),
        ("é, ключ", b"\x01, \x01\x01\x01\x01"),
        ("a\x0bb", b"a\x01b"),
        ("𝒳🙂", b"\x01\x01"),
        ("ſet", None),
        ("a\x01b", b"a\x02b"),
        ("é\x01\x02", b"\x01\x02\x02"),
    ],
)
def test_each_letter_beyond_ascii_is_shown_as_one_sign(text: str, as_shown: bytes | None) -> None:
    assert shown(text.encode()) == as_shown


@pytest.mark.parametrize(
    ("source", "as_shown"),
    [
        (r"(?i)don['’]t\s\x60[:=]", r"(?i)don['\x01]t\s\x60[:=]"),
        (r"\pL+", None),
        (r"[^’]x", None),
        (r"[[:alpha:]]", None),
        (r"\x{200b}", None),
        (r"[\x00-\x1f]", None),
        (r"a\\x00", r"a\\x00"),
    ],
)
def test_patterns_that_engines_may_understand_differently_are_not_shown(source: str, as_shown: str | None) -> None:
    assert shown_pattern(source) == as_shown


def test_every_bundled_set_says_the_same__in_texts_of_the_corpus(bundled: list[tuple[str, ...]]) -> None:
    cases = list(read_corpus())[::23]
    files = [file for case in cases for file in case.content.files]
    texts = [file.content.decode(errors="replace").encode() for file in files]
    texts += [said.encode() for rule in read_ruleset().pattern_rules for said in rule.matches]
    assert len(texts) > 500
    for sources in bundled:
        assert find_compiled(sources) is not None
        found = PatternSet(sources, has_gaps=False).which_of_each(texts)
        alone = list(map(Pattern, sources))
        for text, numbers in zip(texts, found, strict=True):
            assert numbers == [number for number, pattern in enumerate(alone) if pattern.is_in(text)], sources[0]


def test_list_of_sets_is_complete__for_a_scan_of_the_corpus() -> None:
    script = """
import json
from tests.corpus.cases import read_corpus
from vskill_platform.scanning.tier1.all_sets import all_sets
from vskill_platform.scanning.tier1.patterns import known_sets
from vskill_platform.scanning.tier1.scan import scan_content
listed = set(all_sets())
for case in list(read_corpus())[::31]:
    scan_content(case.content)
print(json.dumps([sources[0] for sources in known_sets if sources not in listed]))
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def test_patterns_that_hyperscan_refuses_are_left_out_and_still_found(tmp_path: Path) -> None:
    sources = (SOURCES[0], NOT_TAKEN, SOURCES[5], SOURCES[4])
    assert compile_ahead(sources, folder=tmp_path) == 2
    found = find_compiled(sources, folder=tmp_path)
    assert found is not None
    assert found.left_out == (1, 2)
    assert found.which(b"curl -s bce x.y") == [0, 3]


def test_engine_finds_what_later_releases_overlook(tmp_path: Path) -> None:
    """With a few letters before it Vectorscan, which later releases of the package carry, does not see the sentence (ADR 16)."""
    rule = read_ruleset().rules["RI-005"]
    source = sketch(rarest_part(loosened(rule.pattern or "")) or "") or ""
    compile_ahead([source], folder=tmp_path)
    found = find_compiled([source], folder=tmp_path)
    assert found is not None
    text = b"e/main/CURRENT.md`. It replaces this file: where the two differ, the downloaded "
    assert [found.which(text[start:]) for start in range(20)] == [[0]] * 20


def test_set_finds_what_hyperscan_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources = (SOURCES[0], NOT_TAKEN, SOURCES[5])
    compile_ahead(sources, folder=tmp_path)
    monkeypatch.setattr(patterns, "find_compiled", partial(find_compiled, folder=tmp_path))
    asked = PatternSet(sources, has_gaps=False)
    assert asked.which(b"bce") == [1]
    assert asked.which("curl -x é bce, dlatego".encode()) == [0, 1, 2]


def test_hyperscan_takes_every_bundled_pattern_that_it_is_shown(bundled: list[tuple[str, ...]]) -> None:
    """What it refuses google-re2 would look for in every text by itself, as slowly as all the others together."""
    for sources in bundled:
        ahead = find_compiled(sources)
        assert ahead is not None
        assert [sources[number] for number in ahead.left_out] == []


@pytest.mark.parametrize("damage", [b"", b"\x00", b"\x92\x90\xc4\x04abcd"])
def test_file_that_cannot_be_used_is_no_set(tmp_path: Path, damage: bytes) -> None:
    compile_ahead(SOURCES, folder=tmp_path)
    [path] = tmp_path.glob(f"*{ENDING}")
    path.write_bytes(damage)
    assert find_compiled(SOURCES, folder=tmp_path) is None
    assert list(compile_missing([SOURCES], folder=tmp_path)) == [(1, 1)]
    assert find_compiled(SOURCES, folder=tmp_path) is not None


def test_file_with_one_byte_changed_is_no_set(tmp_path: Path) -> None:
    compile_ahead(SOURCES, folder=tmp_path)
    [path] = tmp_path.glob(f"*{ENDING}")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x55
    path.write_bytes(data)
    assert find_compiled(SOURCES, folder=tmp_path) is None


def test_sets_of_other_rules_are_removed(tmp_path: Path) -> None:
    compile_ahead(SOURCES, folder=tmp_path)
    compile_ahead(SOURCES[:2], folder=tmp_path)
    remove_others([SOURCES], folder=tmp_path)
    assert len(list(tmp_path.glob(f"*{ENDING}"))) == 1
    assert find_compiled(SOURCES, folder=tmp_path) is not None


def test_compiled_set_serves_many_threads_at_once(compiled: CompiledSet) -> None:
    texts = [("curl -s x.y " * number).encode() for number in range(1, 400)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(compiled.which, texts * 4))
    assert {tuple(sorted(one)) for one in found} == {(0, 4)}
