"""A registry that came to its content through the pipeline moves, and goes on where it was."""

from __future__ import annotations

from pathlib import Path

from tests.moving.houses import all_documents, export_house, import_house, open_house, send_everything
from tests.pipeline.journey import Journey, skill_md
from tests.pipeline.test_turning_down import DOUBTFUL, EVIL
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.moving.unpacking import House
from vskill_platform.pipeline.blocking import block_and_stop, make_block
from vskill_platform.pipeline.review import approve_submission
from vskill_platform.ports.engine import Engine
from vskill_platform.stores.skills import enumerate_published_skills, find_skill
from vskill_platform.testing.envs import make_env


async def make_content(journey: Journey) -> str:
    """Skills that are published, withdrawn, waiting for a person, failed, and one submission that nobody has worked on."""
    await journey.publish("acme/greeting", {"SKILL.md": skill_md("greeting", "用名字问候用户。")})
    gone = await journey.publish("acme/gone", {"SKILL.md": skill_md("gone")})
    for name, content in (("acme/doubt", DOUBTFUL), ("shady/helper", EVIL)):
        journey.repository(name, {"SKILL.md": content})
        await journey.take_through(name)

    async def block() -> list[str]:
        return await block_and_stop(make_block(repo_url=journey.url("acme/gone"), reason="偷来的"))

    assert await journey.inside(block) == [gone.id]
    journey.repository("acme/new", {"SKILL.md": skill_md("new")})
    return (await journey.submit("acme/new")).submission.id


async def test_real_registry_moves_with_identical_digests__and_works_on(
    journey: Journey, engine: Engine, tmp_path: Path
) -> None:
    waiting = await make_content(journey)
    old = House(engine, journey.env.blobs, journey.env.clock)
    first = await export_house(old, tmp_path / "first")
    kinds = first.part("records.jsonl").kinds
    assert {"sub", "hist", "claim", "scan", "skill", "version", "withdrawn", "block"} <= set(kinds)
    async with open_house("memory", tmp_path / "middle") as middle, open_house("sqlite", tmp_path / "new") as new:
        await import_house(middle, tmp_path / "first")
        second = await export_house(middle, tmp_path / "second")
        await import_house(new, tmp_path / "second")
        third = await export_house(new, tmp_path / "third")
        assert first.parts == second.parts == third.parts
        assert await all_documents(new.engine) == await all_documents(engine)
        await _work_on(journey, new, waiting)


async def _work_on(journey: Journey, new: House, waiting: str) -> None:
    """What waited is worked on, what waits for a person is approved, and what was withdrawn is still known."""
    env = make_env(new.engine, clock=new.clock, folder=Path())
    moved = journey.with_env(
        kv=env.kv, writes=env.writes, queue=env.queue, catalog=env.catalog, events=env.events, blobs=new.blobs
    )
    await moved.work()
    parent = await moved.read(waiting)
    assert parent.state is SubmissionState.EXPANDED
    doubtful = await moved.take_through("acme/doubt")
    await moved.inside(lambda: approve_submission(doubtful[0].id, reason="Looked at it."))
    names = sorted(skill.name for skill in await moved.inside(enumerate_published_skills))
    assert names == ["greeting", "greeting", "new"]
    withdrawn = await moved.inside(lambda: find_skill("127-0-0-1-acme/gone/gone"))
    assert withdrawn is not None
    assert withdrawn.is_withdrawn


async def test_messages_of_every_state_move_with_a_real_registry(
    journey: Journey, engine: Engine, tmp_path: Path
) -> None:
    await journey.publish("acme/greeting", {"SKILL.md": skill_md()})
    await send_everything(engine)
    old = House(engine, journey.env.blobs, journey.env.clock)
    first = await export_house(old, tmp_path / "first")
    assert first.part("messages.jsonl").kinds == {"dead": 1, "delayed": 2, "waiting": 4}
    async with open_house("sqlite", tmp_path / "new") as new:
        await import_house(new, tmp_path / "first")
        assert (await export_house(new, tmp_path / "second")).content == first.content
