"""Every case of the corpus, end to end: what the manifest says becomes of it, and nothing else happens."""

from __future__ import annotations

import pytest

from tests.hostile import (  # noqa: F401  each registers its cases
    cases_addresses,
    cases_archives,
    cases_evasion,
    cases_frontmatter,
    cases_git,
    cases_names,
    cases_network,
    cases_patterns,
    cases_toctou,
)
from tests.hostile.corpus import BUILDERS, Case, read_manifest
from tests.hostile.playing import find_faults, find_trespasses, play
from tests.hostile.report import keep_line, make_line
from tests.hostile.stage import Stage, on_stage

pytestmark = pytest.mark.asyncio(loop_scope="module")


def _parameters() -> list[object]:
    return [pytest.param(case, id=case.id, marks=_marks(case)) for case in read_manifest().cases]


def _marks(case: Case) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.full] if case.full else []
    return [*marks, pytest.mark.xfail(reason=case.defect, strict=True)] if case.defect else marks


@pytest.mark.parametrize("case", _parameters())
async def test_hostile_case_ends_as_the_manifest_says__and_leaves_no_trace(case: Case, stage: Stage, run: str) -> None:
    async with on_stage(stage, case.id.lower()) as own:
        attack = await BUILDERS[case.id](own)
        played = await play(case, own, attack)
    faults = find_faults(case, played)
    keep_line(run, make_line(case, played, right=not faults))
    if case.known_gap is None:
        assert not faults, "\n".join(faults)
    else:
        trespasses = find_trespasses(played) + played.faults
        assert not trespasses, "\n".join(trespasses)
        assert faults, f"the gap is closed: take `known_gap` of {case.id} out of the manifest"
