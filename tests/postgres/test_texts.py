"""Text that holds a NUL: PostgreSQL cannot store it, the other engines can, and nobody can tell the difference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.catalog import SKILLS
from vskill_platform.domain.ids import CommitId, MessageId
from vskill_platform.engines.postgres import PostgresEngine
from vskill_platform.engines.postgres.texts import from_stored, to_stored
from vskill_platform.ports.catalog import CatalogQuery
from vskill_platform.ports.commit import Bury, Emit, Index, Send
from vskill_platform.testing.builders import skill_document

texts = st.text(st.sampled_from("\0\x01\x02a\U0010ffff"), max_size=8)


@given(texts)
def test_text_comes_back_as_it_was__and_is_stored_without_nul(text: str) -> None:
    assert "\0" not in to_stored(text)
    assert from_stored(to_stored(text)) == text


@given(texts, texts)
def test_stored_texts_keep_their_order(one: str, other: str) -> None:
    assert (to_stored(one).encode() < to_stored(other).encode()) == (one.encode() < other.encode())


async def test_names_may_hold_a_nul__wherever_they_are_written(engines: list[PostgresEngine]) -> None:
    engine = engines[0]
    document = skill_document("id\0\x01", tier="tier\0")
    id = CommitId("commit\0")
    committed = await engine.writes.commit(
        [Send("q\0", MessageId("m\0"), b""), Emit("kind\0", "subject\0", b""), Index(document)], id=id
    )
    (message,) = await engine.queue.receive("q\0", max_messages=1, lease_s=60)
    await engine.writes.commit([Bury(message.lease, "error\0")])
    assert message.id == "m\0"
    assert (await engine.queue.find([message.id]))[message.id].error == "error\0"
    assert (await engine.queue.stats("q\0")).dead == 1
    assert (await engine.events.read(0)).events[0][2:4] == ("kind\0", "subject\0")
    assert await engine.catalog.counts(SKILLS, "tier") == {"tier\0": 1}
    page = await engine.catalog.query(CatalogQuery(SKILLS, where={"tier": ("tier\0",)}))
    assert [id for id, _ in page.rows] == ["id\0\x01"]
    assert await engine.writes.find_commit(id) == committed
