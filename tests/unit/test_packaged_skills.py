"""Skills in packages: which files are one skill, and where they may be laid out."""

from __future__ import annotations

from pathlib import Path

from tools.packaged_skills import MOST_FILES, main, skills_in
from tools.packages import Entry


def test_skill_is_the_outermost_folder_with_its_file__with_all_that_is_below() -> None:
    paths = ["p/README.md", "p/skills/a/SKILL.md", "p/skills/a/x.py", "p/skills/a/in/SKILL.md", "p/skills/b/skill.md"]
    found = {folder: [path for path, _ in files] for folder, files in skills_in([Entry(path, b"") for path in paths])}
    assert found == {"p/skills/a": ["SKILL.md", "x.py", "in/SKILL.md"], "p/skills/b": ["skill.md"]}


def test_skill_with_too_many_files_is_left_out() -> None:
    entries = [Entry("a/SKILL.md", b""), *(Entry(f"a/{number}", b"") for number in range(MOST_FILES))]
    assert list(skills_in(entries)) == []
    assert len(list(skills_in(entries[:-1]))) == 1


def test_package_that_cannot_be_fetched_has_no_skills(tmp_path: Path) -> None:
    assert main([str(tmp_path / "out"), "npm:../no-such-package"]) == 0
    assert (tmp_path / "out/index.jsonl").read_text(encoding="utf-8") == ""
