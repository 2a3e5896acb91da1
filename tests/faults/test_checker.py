"""The checker reports each fault that is planted in a sound store, and nothing in the sound store itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.faults.checker import Deed, Done, Journal, Sighting, Write, judge


def sound_journal() -> Journal:
    """Two items: `a` written twice and done, `b` written once and waiting. A third write was never heard of again."""
    acknowledged: dict[Deed, int] = {Write("a", 1): 1, Write("a", 2): 2, Done("a"): 4, Write("b", 1): 3}
    return Journal(attempted={*acknowledged, Write("c", 1)}, acknowledged=dict(acknowledged))


def sound_store() -> Sighting:
    """What that journal leaves behind."""
    return Sighting(
        records={"a": 2, "b": 1},
        history={"a": [1, 2], "b": [1]},
        rows={"a": 2, "b": 1},
        events={"a": [1, 2], "b": [1]},
        queued={"b"},
        effects={"a": 1},
        versions={Write("a", 1): 1, Write("a", 2): 2, Done("a"): 4, Write("b", 1): 3},
    )


def lose_a_write(seen: Sighting) -> None:
    for part in (seen.records, seen.history, seen.rows, seen.events):
        del part["b"]
    seen.queued.remove("b")


def find_a_stranger(seen: Sighting) -> None:
    seen.records["z"] = seen.rows["z"] = 1
    seen.history["z"], seen.events["z"] = [1], [1]
    seen.queued.add("z")
    seen.versions[Write("z", 1)] = 9


def do_it_twice(seen: Sighting) -> None:
    seen.effects["a"] = 2


def lose_an_effect(seen: Sighting) -> None:
    del seen.effects["a"]


def lose_a_message(seen: Sighting) -> None:
    seen.queued.remove("b")


def return_a_message(seen: Sighting) -> None:
    seen.queued.add("a")


def leave_the_row_behind(seen: Sighting) -> None:
    seen.rows["a"] = 1


def repeat_an_event(seen: Sighting) -> None:
    seen.events["a"].append(2)


def skip_a_history_entry(seen: Sighting) -> None:
    seen.history["a"].remove(1)


def reuse_a_version(seen: Sighting) -> None:
    seen.versions[Write("b", 1)] = 2


def damage_the_file(seen: Sighting) -> None:
    seen.damage.append("row 3 missing from index kv_due")


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (lose_a_write, {"lost": {Write("b", 1)}}),
        (find_a_stranger, {"unexpected": {Write("z", 1)}}),
        (do_it_twice, {"double_effects": {"a": 2}}),
        (lose_an_effect, {"lost": {Done("a")}, "lost_messages": {"a"}}),
        (lose_a_message, {"lost_messages": {"b"}}),
        (return_a_message, {"returned_messages": {"a"}}),
        (leave_the_row_behind, {"drift": {"a"}}),
        (repeat_an_event, {"drift": {"a"}}),
        (skip_a_history_entry, {"drift": {"a"}, "lost": {Write("a", 1)}}),
        (reuse_a_version, {"reused_versions": {2}, "changed_versions": {Write("b", 1)}}),
        (damage_the_file, {"damage": ["row 3 missing from index kv_due"]}),
    ],
)
def test_checker_reports_fault__when_one_is_planted(
    plant: Callable[[Sighting], None], found: dict[str, object]
) -> None:
    seen = sound_store()
    plant(seen)
    assert judge(sound_journal(), seen).faults == found


def test_checker_reports_nothing__when_store_is_sound() -> None:
    verdict = judge(sound_journal(), sound_store())
    assert (verdict.faults, verdict.recovered) == ({}, set())


def test_checker_counts_write_as_recovered__when_its_acknowledgement_was_not_heard() -> None:
    journal = sound_journal()
    del journal.acknowledged[Write("b", 1)]
    verdict = judge(journal, sound_store())
    assert (verdict.faults, verdict.recovered) == ({}, {Write("b", 1)})


def test_checker_reports_write__when_it_was_refused_and_is_there() -> None:
    journal = sound_journal()
    del journal.acknowledged[Write("b", 1)]
    journal.refused.add(Write("b", 1))
    assert judge(journal, sound_store()).faults == {"refused_and_there": {Write("b", 1)}}
