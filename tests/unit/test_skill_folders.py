"""What the skills of a repository are called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.skill_folders import name_skill_folders

parts = st.sampled_from(["skills", "plugins", "a", "b", ".claude", "review", "pdf"])
paths = st.lists(st.tuples(st.lists(parts, max_size=4).map("/".join), st.sampled_from("123")), max_size=8)


def names(folders: list[tuple[str, str]]) -> dict[str, str]:
    return {folder.name: folder.path for folder in name_skill_folders(folders, repository="toolbox")}


def test_skill_is_named_by_its_folder__and_by_the_repository_at_the_root() -> None:
    assert names([("", "1"), ("skills/pdf", "2")]) == {"toolbox": "", "pdf": "skills/pdf"}


def test_copies_count_once__under_the_plainest_path() -> None:
    folders = [(".claude/skills/pdf", "1"), ("skills/pdf", "1"), (".agents/skills/pdf", "1")]
    assert names(folders) == {"pdf": "skills/pdf"}


def test_skills_of_one_name_are_told_apart__by_the_folders_above() -> None:
    folders = [("plugins/web/skills/review", "1"), ("plugins/api/skills/review", "2")]
    assert names(folders) == {"web-review": "plugins/web/skills/review", "api-review": "plugins/api/skills/review"}


def test_names_that_differ_in_case_alone_are_told_apart__by_more_than_case() -> None:
    named = names([("a/Lint", "1"), ("b/lint", "2")])
    assert named == {"a-Lint": "a/Lint", "b-lint": "b/lint"}


def test_name_stays_with_the_folder_that_had_it__when_another_comes_to_share_it() -> None:
    folders = [("a/lint", "1"), ("b/lint", "2")]
    named = name_skill_folders(folders, repository="toolbox", holders={"lint": "b/lint"})
    assert {folder.name: folder.path for folder in named} == {"lint": "b/lint", "a-lint": "a/lint"}


def test_name_that_is_taken_is_told_apart_by_the_path__not_by_what_is_in_it() -> None:
    before = names([("a/lint", "1"), ("b/lint", "2"), ("a-lint", "3")])
    after = names([("a/lint", "7"), ("b/lint", "8"), ("a-lint", "9")])
    assert before == after
    assert len(before) == 3


def test_names_are_given_in_time__to_as_many_folders_as_a_tree_may_have() -> None:
    many = [(f"d{number}/s", str(number)) for number in range(100_000)]
    assert len(name_skill_folders(many, repository="toolbox")) == 100_000


@given(paths)
def test_every_tree_has_one_name_and_no_name_two__in_any_repository(folders: list[tuple[str, str]]) -> None:
    unique = dict(folders)
    named = name_skill_folders(list(unique.items()), repository="toolbox")
    assert len({folder.name for folder in named}) == len(named)
    assert {folder.tree for folder in named} == set(unique.values())
    assert all(unique[folder.path] == folder.tree for folder in named)
    assert names(list(unique.items())) == names(list(reversed(unique.items())))
