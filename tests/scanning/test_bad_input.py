"""Bad input ends in a verdict, within the memory and the time of a scanning process, and the report says what it did not see."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from tests.scanning.bad_input import CASES, Result
from vskill_platform.domain.scan import Verdict
from vskill_platform.scanning.limits import ANALYSER_FAILED, ARCHIVE_LIMIT, CONFIG_LIMIT, UNANALYSABLE_FILE
from vskill_platform.settings import Settings

LONGEST_RUN_S = 600


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """What became of each case, in a process of its own."""
    command = [sys.executable, "-m", "tests.scanning.bad_input"]
    ended = subprocess.run(command, capture_output=True, timeout=LONGEST_RUN_S, check=True)
    found = [msgspec.json.decode(line, type=Result) for line in ended.stdout.splitlines()]
    return {result.name: result for result in found}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.timeout(LONGEST_RUN_S)
def test_bad_input_has_a_verdict__within_bounds(results: dict[str, Result], name: str) -> None:
    assert name in results, "the scan took more memory or time than it may, or failed"
    result = results[name]
    assert result.memory_kib * 1024 < Settings().scan_memory_bytes
    assert result.verdict != Verdict.PASS or not result.limits
    assert not [limit for limit in result.limits if limit.startswith(ANALYSER_FAILED)]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("12 MB of NUL", UNANALYSABLE_FILE),
        ("12 MB of noise", UNANALYSABLE_FILE),
        ("12 MB of settings", CONFIG_LIMIT),
        ("12 MB of frontmatter", CONFIG_LIMIT),
        ("deep JSON", CONFIG_LIMIT),
        ("deep JSON of objects", CONFIG_LIMIT),
        ("deep YAML", CONFIG_LIMIT),
        ("deep frontmatter", CONFIG_LIMIT),
        ("picture and zip", UNANALYSABLE_FILE),
        ("tar and zip", UNANALYSABLE_FILE),
        ("script and archive", UNANALYSABLE_FILE),
        ("binary with a text name", UNANALYSABLE_FILE),
        ("archives in archives", ARCHIVE_LIMIT),
        ("bomb", ARCHIVE_LIMIT),
        ("bomb of text", ARCHIVE_LIMIT),
        ("archive of many", ARCHIVE_LIMIT),
    ],
)
@pytest.mark.timeout(LONGEST_RUN_S)
def test_bad_input_says_what_could_not_be_read(results: dict[str, Result], name: str, limit: str) -> None:
    assert limit in results[name].limits
    assert results[name].verdict != Verdict.PASS


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("100,000 newlines", "ST-014"),
        ("100,000 newlines in SKILL.md", "ST-014"),
        ("a line of 1 MB", "ST-013"),
        ("picture and zip", "RS-001"),
        ("picture and script", "ST-012"),
        ("picture and page", "CT-017"),
        ("tar and zip", "RS-001"),
        ("archives beside archives", "RS-001"),
        ("install commands", "PK-001"),
        ("binary with a text name", "ST-008"),
    ],
)
@pytest.mark.timeout(LONGEST_RUN_S)
def test_bad_input_does_not_hide_what_is_in_it(results: dict[str, Result], name: str, rule: str) -> None:
    assert rule in results[name].rules
