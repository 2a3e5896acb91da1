"""The samples of the demo are what they say: good ones are good, bad ones are caught, and none points at anybody."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest

from vskill_platform.cli.samples import SAMPLES, SampleRepository
from vskill_platform.domain.content import SkillContent, SkillFile, make_content
from vskill_platform.domain.errors import InvalidFrontmatter
from vskill_platform.domain.scan import Verdict
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.ingest.paths import check_path
from vskill_platform.ingest.skill_md import parse_skill_md
from vskill_platform.scanning.tier1.scan import scan_content

VERDICTS = {
    SubmissionState.PUBLISHED: Verdict.PASS,
    SubmissionState.NEEDS_REVIEW: Verdict.CONCERNS,
    SubmissionState.TIER1_FAILED: Verdict.FAIL,
}
SCANNED = [sample for sample in SAMPLES if sample.expected in VERDICTS]
_ADDRESS = re.compile(r"https?://([^/\s\"')]+)")
_RESERVED = re.compile(r"203\.0\.113\.\d+|(?:.+\.)?(?:example|invalid)|example\.(?:com|org|net)")


def skills_of(sample: SampleRepository) -> dict[str, SkillContent]:
    """The skills of a sample by their folders, as a scan sees them."""
    folders = [str(PurePosixPath(path).parent) for path in sample.files if PurePosixPath(path).name == "SKILL.md"]
    return {folder: content_below(sample, folder) for folder in folders}


def content_below(sample: SampleRepository, folder: str) -> SkillContent:
    prefix = "" if folder == "." else f"{folder}/"
    return make_content(
        [
            SkillFile(path=path.removeprefix(prefix), content=content, executable=path in sample.executables)
            for path, content in sample.files.items()
            if path.startswith(prefix)
        ]
    )


def test_samples_show_every_way_that_a_submission_can_end() -> None:
    assert {sample.expected for sample in SAMPLES} == {*VERDICTS, SubmissionState.REJECTED}
    assert [len(skills_of(sample)) for sample in SCANNED] == [1, 3, 1, 1, 1]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_sample_is_safe_to_hand_out(sample: SampleRepository) -> None:
    assert sample.files
    for path, content in sample.files.items():
        assert check_path(path) == path
        hosts = _ADDRESS.findall(content.decode())
        assert [host for host in hosts if not _RESERVED.fullmatch(host)] == []


@pytest.mark.parametrize("sample", SCANNED, ids=lambda sample: sample.name)
def test_sample_gets_the_verdict_that_leads_where_it_says(sample: SampleRepository) -> None:
    verdicts = {folder: scan_content(content).verdict for folder, content in skills_of(sample).items()}
    assert set(verdicts.values()) == {VERDICTS[sample.expected]}, verdicts


@pytest.mark.parametrize("sample", SCANNED, ids=lambda sample: sample.name)
def test_sample_keeps_the_specification__whatever_else_it_does(sample: SampleRepository) -> None:
    for folder in skills_of(sample):
        name = PurePosixPath(sample.name if folder == "." else folder).name
        path = "SKILL.md" if folder == "." else f"{folder}/SKILL.md"
        assert parse_skill_md(sample.files[path], folder_name=name).problems == ()


def test_rejected_samples_have_no_skill_or_one_that_cannot_be_read() -> None:
    tangled, empty = (sample for sample in SAMPLES if sample.expected is SubmissionState.REJECTED)
    assert skills_of(empty) == {}
    with pytest.raises(InvalidFrontmatter):
        parse_skill_md(tangled.files["SKILL.md"])
