"""What tests of the scanner share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.scanning.building import sample_ruleset
from vskill_platform.domain.content import SkillContent
from vskill_platform.domain.scan import ScanReport
from vskill_platform.scanning.tier1.rules import Ruleset
from vskill_platform.scanning.tier1.scan import scan_content


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Ruleset:
    """A small ruleset that does not change when the real one does."""
    folder: Path = tmp_path_factory.mktemp("rules")
    return sample_ruleset(folder)


@pytest.fixture
def scan(samples: Ruleset) -> Callable[[SkillContent], ScanReport]:
    """Scan by the small ruleset."""
    return partial(scan_content, ruleset=samples)
