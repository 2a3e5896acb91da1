"""The look at what a fleet has done reports each fault that is planted, and nothing where all is well."""

from __future__ import annotations

from pathlib import Path

from tests.faults.engines import ENGINES
from tests.faults.fleet import SKILLS, fleet
from vskill_platform.domain.ids import MessageId
from vskill_platform.domain.messages import SUBMISSIONS_QUEUE
from vskill_platform.domain.slug import skill_slug
from vskill_platform.ports.commit import Bury, Emit
from vskill_platform.stores.submissions import get_submission
from vskill_platform.worker_context import run_with_worker_env


async def test_fleet_reports_fault__when_one_is_planted(tmp_path: Path) -> None:
    kind = ENGINES["postgres"]
    with kind.make_store(tmp_path) as location:
        async with fleet(tmp_path, kind, location) as ships:
            worker = await ships.start()
            await ships.submit(1)
            await ships.drain()
            assert await ships.faults() == {}

            [(_, url)] = ships.submitted.items()
            twice, nobodys = skill_slug(url, SKILLS[0]), "acme/none/greet"
            telling = [Emit("skill.published", slug, b"{}") for slug in (twice, nobodys)]
            await ships.engine.writes.commit([*telling, Emit("skill.rescanned", twice, b"{}")])
            worker.kill()
            await ships.submit(2)
            dropped, buried = list(ships.submitted)[1:]
            found = await run_with_worker_env(ships.env, lambda: get_submission(dropped))
            await ships.engine.queue.drop([MessageId(found.submission.message_id or "")], reason="planted")
            [message] = await ships.engine.queue.receive(SUBMISSIONS_QUEUE, max_messages=1, lease_s=60)
            await ships.engine.writes.commit([Bury(message.lease, "planted")])
            faults = await ships.faults()
            lost = {skill_slug(ships.submitted[one], name) for one in (dropped, buried) for name in SKILLS}
    assert set(faults.pop("unfinished")) == {dropped, buried}  # type: ignore[call-overload]
    assert faults == {
        "lost": lost,
        "unexpected": {nobodys},
        "double_publishes": {twice: 2},
        "published_again": [twice],
        "dead": 1,
    }
