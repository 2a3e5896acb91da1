"""From a git address to a published skill, and again when its source changes."""

from __future__ import annotations

import io
import zipfile

import msgspec
import pytest

from tests.pipeline.journey import Journey, skill_md
from vskill_platform.domain.archives import read_tar
from vskill_platform.domain.content import content_digest
from vskill_platform.domain.errors import BranchNotDefault
from vskill_platform.domain.ids import Digest, claim_key, history_key
from vskill_platform.domain.records import Submission
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.pipeline.intake import Answer
from vskill_platform.stores.scans import get_scan
from vskill_platform.stores.skills import (
    SkillQuery,
    find_skill,
    get_published_skills_list,
    putting_published,
    resolve_slug,
    search_skills,
)
from vskill_platform.stores.versions import get_versions
from vskill_platform.testing.git_repos import executable

SLUG = "127-0-0-1-acme/greeting/greeting"


async def test_skill_is_published__when_its_repository_is_sound(journey: Journey) -> None:
    repository = journey.repository(
        "acme/greeting", {"SKILL.md": skill_md(), "scripts/hi.sh": executable(b"echo hi\n")}
    )
    intake = await journey.submit("acme/greeting")
    assert (intake.answer, intake.submission.state) == (Answer.CREATED, SubmissionState.RECEIVED)
    await journey.work()
    parent = await journey.read(intake.submission.id)
    assert parent.state is SubmissionState.EXPANDED
    (child,) = [await journey.read(identity) for identity in parent.children]
    assert (child.state, child.slug, child.version, child.verdict) == ("PUBLISHED", SLUG, "1.0.0", "PASS")
    assert child.commit == repository.ref("refs/heads/main")
    states = [entry.state for entry in await journey.history(child.id)]
    assert states == ["RECEIVED", "TIER1_SCANNING", "AUTO_APPROVED", "PUBLISHED"]
    rows = await journey.inside(get_published_skills_list)
    assert [(row.slug, row.version, row.description) for row in rows.rows] == [
        (SLUG, "1.0.0", "Greets people politely.")
    ]
    assert ("skill.published", SLUG) in await journey.events()


async def test_list_says_what_the_newest_version_can_do__and_keeps_its_installs(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md()})
    await journey.take_through("acme/greeting")
    found = await journey.inside(lambda: find_skill(SLUG))
    assert found is not None
    counted = msgspec.structs.replace(found.skill, installs=7)
    await journey.env.writes.commit(putting_published(counted, found=found))
    script = b"import urllib.request\n\nprint(urllib.request.urlopen('https://example.org/greetings').read())\n"
    repository.commit({"SKILL.md": skill_md(), "scripts/fetch.py": script})
    await journey.take_through("acme/greeting")
    (row,) = (await journey.inside(lambda: search_skills(SkillQuery(capability=("network",))))).rows
    assert (row.slug, row.version, row.verdict, row.installs) == (SLUG, "1.0.1", "PASS", 7)
    assert "network" in row.capabilities
    assert row.published_at < row.updated_at


async def test_archives_hold_what_was_scanned__and_nothing_else(journey: Journey) -> None:
    files = {"SKILL.md": skill_md(), "scripts/hi.sh": executable(b"echo hi\n"), "notes/\u00fc.md": b"x"}
    await journey.publish("acme/greeting", files)
    (version,) = await journey.inside(lambda: get_versions(SLUG))
    zipped = await journey.env.blobs.get(Digest(version.zip_digest))
    with zipfile.ZipFile(io.BytesIO(zipped)) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    assert held == {"SKILL.md": skill_md(), "scripts/hi.sh": b"echo hi\n", "notes/\u00fc.md": b"x"}
    assert [(file.path, file.executable) for file in version.files] == [
        ("SKILL.md", False),
        ("notes/\u00fc.md", False),
        ("scripts/hi.sh", True),
    ]
    tarred = await journey.env.blobs.get(Digest(version.tar_digest))
    assert (version.zip_size, version.tar_size) == (len(zipped), len(tarred))
    assert content_digest(read_tar(tarred)) == version.content_digest


async def test_same_source_answers_verified__when_it_is_submitted_again(journey: Journey) -> None:
    child = await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    assert (await journey.submit("acme/greeting")).answer is Answer.VERIFIED
    assert (await journey.submit("acme/greeting", skill="greeting")).answer is Answer.VERIFIED
    assert await journey.work() == 0
    assert (await journey.read(child.id)).run == 1


async def test_changed_source_gets_a_new_version__of_the_same_submission(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md()})
    (first,) = await journey.take_through("acme/greeting")
    repository.commit({"SKILL.md": skill_md(body="Greet the user by their family name.")})
    assert (await journey.submit("acme/greeting")).answer is Answer.CREATED
    await journey.work()
    second = await journey.read(first.id)
    assert (second.run, second.state, second.version) == (2, "PUBLISHED", "1.0.1")
    versions = await journey.inside(lambda: get_versions(SLUG))
    assert [version.version for version in versions] == ["1.0.1", "1.0.0"]
    assert versions[0].commit != versions[1].commit


async def test_other_commit_with_the_same_bytes_makes_no_version__but_is_noted(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"skills/greeting/SKILL.md": skill_md(), "README.md": b"1"})
    (first,) = await journey.take_through("acme/greeting")
    repository.commit({"skills/greeting/SKILL.md": skill_md(), "README.md": b"2"})
    intake = await journey.submit("acme/greeting")
    assert intake.answer is Answer.CREATED
    await journey.work()
    assert (await journey.read(first.id)).run == 1
    assert len(await journey.inside(lambda: get_versions(SLUG))) == 1
    assert (await journey.submit("acme/greeting")).answer is Answer.VERIFIED


async def test_declared_version_is_taken__when_it_is_higher(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md(metadata="{version: 1.4.0}")})
    (first,) = await journey.take_through("acme/greeting")
    assert first.version == "1.4.0"
    repository.commit({"SKILL.md": skill_md(body="Changed.", metadata="{version: 1.4.0}")})
    (second,) = await journey.take_through("acme/greeting")
    assert second.version == "1.4.1"


async def test_old_slug_lives_on_as_alias__when_the_skill_is_renamed(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"skills/greeting/SKILL.md": skill_md()})
    await journey.take_through("acme/greeting")
    repository.commit({"skills/greeting/SKILL.md": skill_md("salutation")})
    (moved,) = await journey.take_through("acme/greeting")
    new = "127-0-0-1-acme/greeting/salutation"
    assert (moved.slug, moved.version) == (new, "1.0.1")
    assert await journey.inside(lambda: resolve_slug(SLUG)) == new
    assert [v.version for v in await journey.inside(lambda: get_versions(new))] == ["1.0.1", "1.0.0"]
    assert await journey.inside(lambda: get_versions(SLUG)) == []
    rows = await journey.inside(get_published_skills_list)
    assert [row.slug for row in rows.rows] == [new]
    repository.commit({"skills/greeting/SKILL.md": skill_md()})
    (back,) = await journey.take_through("acme/greeting")
    assert (back.slug, back.version) == (SLUG, "1.0.2")
    assert await journey.inside(lambda: resolve_slug(new)) == SLUG


async def test_several_skills_become_a_submission_each__in_one_commit(journey: Journey) -> None:
    names = [f"skill-{number}" for number in range(7)]
    journey.repository("acme/many", {f"skills/{name}/SKILL.md": skill_md(name) for name in names})
    children = await journey.take_through("acme/many")
    assert sorted(child.skill_name for child in children) == names
    assert {child.state for child in children} == {SubmissionState.PUBLISHED}
    assert len({child.commit for child in children}) == 1
    parent = await journey.read(children[0].parent_id or "")
    expanded = (await journey.history(parent.id))[-1]
    assert expanded.message.startswith("7 skills at ")
    claims = [await journey.env.kv.get(claim_key(parent.repo_url, name)) for name in names]
    step = await journey.env.kv.get(history_key(parent.id, expanded.number))
    assert step is not None
    assert {claim.version for claim in claims if claim is not None} == {step.version}


async def test_skills_of_one_name_are_both_published__under_names_of_their_own(journey: Journey) -> None:
    files = {
        "plugins/web/skills/review/SKILL.md": skill_md("review", "Review a web page."),
        "plugins/api/skills/review/SKILL.md": skill_md("review", "Review an interface."),
    }
    journey.repository("acme/plugins", files)
    children = await journey.take_through("acme/plugins")
    assert sorted(child.skill_name for child in children) == ["api-review", "web-review"]
    assert {child.state for child in children} == {SubmissionState.PUBLISHED}
    assert len({child.slug for child in children}) == 2


@pytest.mark.parametrize("address", ["tree/main/skills/a", "tree/feature/x/skills/a", "blob/main/skills/a/SKILL.md"])
async def test_folder_of_a_branch_is_taken_alone__when_the_address_names_it(journey: Journey, address: str) -> None:
    files = {"skills/a/SKILL.md": skill_md("a"), "skills/b/SKILL.md": skill_md("b")}
    repository = journey.repository("acme/two", files)
    repository.commit(files, branch="feature/x")
    children = await journey.take_through(f"acme/two/{address}")
    assert [(child.skill_name, child.state) for child in children] == [("a", SubmissionState.PUBLISHED)]


async def test_other_branch_is_refused__so_that_nobody_brings_back_what_was_mended(journey: Journey) -> None:
    repository = journey.repository("acme/greeting", {"SKILL.md": skill_md(body="Old and broken.")})
    first = repository.ref("refs/heads/main")
    assert first is not None
    repository.point("refs/heads/old", first)
    repository.commit({"SKILL.md": skill_md()})
    await journey.take_through("acme/greeting")
    (refused,) = await journey.take_through("acme/greeting/tree/old")
    assert (refused.state, refused.reason) == (SubmissionState.REJECTED, "branch_not_default")
    with pytest.raises(BranchNotDefault):
        await journey.submit("acme/greeting/tree/old", skill="greeting")
    (version,) = await journey.inside(lambda: get_versions(SLUG))
    assert version.commit == repository.ref("refs/heads/main")


async def test_name_does_not_depend_on_the_folder_that_was_asked_for__nor_on_case(journey: Journey) -> None:
    files = {"a/lint/SKILL.md": skill_md("lint", "Lint a."), "b/lint/SKILL.md": skill_md("lint", "Lint b.")}
    journey.repository("acme/two", files)
    (one,) = await journey.take_through("acme/two/tree/main/a")
    (other,) = await journey.take_through("acme/two/tree/main/b")
    assert [(child.skill_name, child.skill_path) for child in (one, other)] == [
        ("a-lint", "a/lint"),
        ("b-lint", "b/lint"),
    ]
    children = await journey.take_through("acme/two")
    assert {child.id for child in children} == {one.id, other.id}
    again = await journey.submit("acme/two", skill="A-LINT")
    assert (again.answer, again.submission.id) == (Answer.VERIFIED, one.id)


async def test_skill_keeps_its_name__when_another_of_that_name_joins_it(journey: Journey) -> None:
    repository = journey.repository("acme/two", {"b/lint/SKILL.md": skill_md("lint", "Lint b.")})
    (first,) = await journey.take_through("acme/two")
    repository.commit({"a/lint/SKILL.md": skill_md("lint", "Lint a."), "b/lint/SKILL.md": skill_md("lint", "Lint b2.")})
    children = {child.skill_name: child for child in await journey.take_through("acme/two")}
    assert set(children) == {"lint", "a-lint"}
    assert (children["lint"].id, children["lint"].version) == (first.id, "1.0.1")


async def test_skills_are_refused_together__when_few_files_add_up_to_many_bytes(journey: Journey) -> None:
    small = journey.with_env(settings=msgspec.structs.replace(journey.env.settings, repo_max_skill_bytes=5000))
    files = {f"s{number}/SKILL.md": skill_md(f"s{number}") for number in range(4)}
    files |= {f"s{number}/big.txt": b"x" * 1500 for number in range(4)}
    small.repository("acme/bomb", files)
    (refused,) = await small.take_through("acme/bomb")
    assert (refused.state, refused.reason) == (SubmissionState.REJECTED, "repository_too_large")


async def test_one_skill_is_taken__when_it_is_named(journey: Journey) -> None:
    journey.repository("acme/two", {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    (only,) = await journey.take_through("acme/two", skill="b")
    assert (only.skill_name, only.skill_path, only.state) == ("b", "b", SubmissionState.PUBLISHED)
    (missing,) = await journey.take_through("acme/two", skill="c")
    assert (missing.state, missing.reason) == (SubmissionState.REJECTED, "no_skill_md")
    history = await journey.history(missing.id)
    assert "It has 2: a, b." in history[-1].message


async def test_specification_is_checked_beside_the_scan__and_does_not_stop_a_skill(journey: Journey) -> None:
    journey.repository("acme/loose", {"skills/greeting/SKILL.md": skill_md("Greeting Card", version="2.0")})
    (child,) = await journey.take_through("acme/loose")
    assert (child.state, child.version) == (SubmissionState.PUBLISHED, "2.0.0")
    scan = await journey.inside(lambda: get_scan(child))
    assert scan is not None
    assert scan.lint is not None
    assert not scan.lint.strict_valid
    assert all(problem.message and problem.fix for problem in scan.lint.problems)


async def test_spellings_of_an_address_are_one_submission__whoever_comes(journey: Journey) -> None:
    journey.repository("acme/greeting", {"SKILL.md": skill_md()})
    first = await journey.submit("acme/greeting")
    for spelling in ("acme/greeting.git", "acme/greeting/", "acme//greeting"):
        again = await journey.submit(spelling)
        assert (again.answer, again.submission.id) == (Answer.PENDING, first.submission.id)


async def test_skill_of_this_submission_is_found__by_every_name(journey: Journey) -> None:
    child: Submission = await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    found = await journey.inside(lambda: find_skill(SLUG))
    assert found is not None
    assert (found.skill.submission_id, found.skill.publisher) == (child.id, "127-0-0-1-acme")
