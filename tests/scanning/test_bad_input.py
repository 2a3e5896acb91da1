"""Bad input ends in a verdict, within the memory and the time of a scanning process, and the report says what it did not see."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import msgspec
import pytest

from tests.scanning.bad_input import CASES, MOST_FILES, Result
from vskill_platform.domain.scan import Verdict
from vskill_platform.scanning.limits import ANALYSER_FAILED, ARCHIVE_LIMIT, CONFIG_LIMIT, UNANALYSABLE_FILE
from vskill_platform.settings import Settings

LONGEST_RUN_S = 600
SLOW = {MOST_FILES, "12 MB of frontmatter", "12 MB of noise"}


class Scans:
    """A process that scans cases one after the other, and what became of each."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._found: dict[str, Result | None] = {}

    def __getitem__(self, name: str) -> Result:
        if name not in self._found:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(f"{name}\n".encode())
            self._process.stdin.flush()
            self._found[name] = msgspec.json.decode(self._process.stdout.readline(), type=Result | None)
        result = self._found[name]
        assert result is not None, "the scan took more memory or time than it may, or failed"
        return result


@pytest.fixture(scope="module")
def scans() -> Iterator[Scans]:
    command = [sys.executable, "-m", "tests.scanning.bad_input"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Scans(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.full) if name in SLOW else name for name in CASES]
)
@pytest.mark.timeout(LONGEST_RUN_S)
def test_bad_input_has_a_verdict__within_bounds(scans: Scans, name: str) -> None:
    result = scans[name]
    assert result.memory_kib * 1024 < Settings().scan_memory_bytes
    assert result.verdict != Verdict.PASS or not result.limits
    assert not [limit for limit in result.limits if limit.startswith(ANALYSER_FAILED)]


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("12 MB of NUL", UNANALYSABLE_FILE),
        pytest.param("12 MB of noise", UNANALYSABLE_FILE, marks=pytest.mark.full),
        ("12 MB of settings", CONFIG_LIMIT),
        pytest.param("12 MB of frontmatter", CONFIG_LIMIT, marks=pytest.mark.full),
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
def test_bad_input_says_what_could_not_be_read(scans: Scans, name: str, limit: str) -> None:
    assert limit in scans[name].limits
    assert scans[name].verdict != Verdict.PASS


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
def test_bad_input_does_not_hide_what_is_in_it(scans: Scans, name: str, rule: str) -> None:
    assert rule in scans[name].rules
