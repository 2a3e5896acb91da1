"""Every set of patterns that the bundled rules and analysers look for, and the way to have them compiled ahead.

A set that is made only when it is first needed is named here. A test scans the corpus and holds this to be complete.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from vskill_platform.domain.content import SkillFile, make_content
from vskill_platform.scanning.tier1.compiled_sets import FOLDER, compile_ahead, find_compiled, remove_others
from vskill_platform.scanning.tier1.matching import matcher_for
from vskill_platform.scanning.tier1.meaning import concepts, promises, section_signs
from vskill_platform.scanning.tier1.patterns import known_sets
from vskill_platform.scanning.tier1.rules import read_ruleset
from vskill_platform.scanning.tier1.scan import scan_content
from vskill_platform.scanning.tier1.views import glance

_MADE_WHEN_NEEDED = (
    lambda: matcher_for(read_ruleset()),
    concepts.all_english,
    concepts.all_markers,
    promises.all_words,
    section_signs.may_be_fetched,
    glance.all_signs,
)


def all_sets() -> list[tuple[str, ...]]:
    """The patterns of each set, once. A scan makes, or loads the modules that make, all but those that not every text needs."""
    scan_content(make_content([SkillFile(path="SKILL.md", content=b"---\nname: any\n---\n")]))
    for make in _MADE_WHEN_NEEDED:
        make()
    return list(dict.fromkeys(known_sets))


def are_compiled() -> bool:
    """Whether every set was compiled ahead for this machine."""
    return all(find_compiled(sources) is not None for sources in all_sets())


def compile_missing(sets: Sequence[Sequence[str]], *, folder: Path = FOLDER) -> Iterator[tuple[int, int]]:
    """Compile those that are not there or not for this machine, on all its processors, and delete what belongs to other rules.

    Tells after each how many are done, and of how many. Raises OSError where the folder cannot be written to.
    """
    missing = [sources for sources in sets if find_compiled(sources, folder=folder) is None]
    remove_others(sets, folder=folder)
    if not missing:
        return
    with ProcessPoolExecutor(min(len(missing), len(os.sched_getaffinity(0)))) as processes:
        compiling = [processes.submit(compile_ahead, sources, folder=folder) for sources in missing]
        for done, one in enumerate(as_completed(compiling), start=1):
            one.result()
            yield done, len(missing)
