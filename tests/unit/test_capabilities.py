"""What a version can do that the one before could not."""

from __future__ import annotations

import msgspec
import pytest

from vskill_platform.domain.capabilities import CapabilityChanges, compare, gained_in_words
from vskill_platform.domain.scan import Capabilities
from vskill_platform.domain.skill import SkillVersion

BEFORE = Capabilities(network_hosts=("a.example", "b.example"), commands=("git",), packages=("pypi:rich",))
AFTER = Capabilities(network_hosts=("b.example", "c.example"), commands=("git",), environment=("HOME",))


def test_comparison_has_what_was_added_and_removed__list_by_list() -> None:
    changes = compare(BEFORE, AFTER, since="1.0.0")
    assert changes.added == Capabilities(network_hosts=("c.example",), environment=("HOME",))
    assert changes.removed == Capabilities(network_hosts=("a.example",), packages=("pypi:rich",))
    assert (changes.since, changes.has_same_rules) == ("1.0.0", True)


@pytest.mark.parametrize("name", Capabilities.__struct_fields__)
def test_comparison_covers_every_list__that_capabilities_have(name: str) -> None:
    some = Capabilities(**{name: ("x",)})
    assert compare(Capabilities(), some, since="1.0.0").added == some
    assert compare(some, Capabilities(), since="1.0.0").removed == some
    assert compare(some, some, since="1.0.0") == CapabilityChanges(since="1.0.0")


def test_gains_are_the_lists_that_an_operator_is_told_about__and_no_others() -> None:
    everything = Capabilities(**{name: (name,) for name in Capabilities.__struct_fields__})
    changes = compare(Capabilities(), everything, since="1.0.0")
    assert set(changes.gained) == {"network_hosts", "commands", "secrets", "remote_instructions"}
    assert compare(everything, Capabilities(), since="1.0.0").gained == {}


def test_gains_are_told_in_a_sentence__with_a_doubt_where_other_rules_looked() -> None:
    hosts = Capabilities(network_hosts=tuple(f"h{number}.example" for number in range(7)), secrets=("~/.ssh/id_rsa",))
    told = gained_in_words(compare(Capabilities(), hosts, since="1.0.0"))
    assert told == (
        "Unlike 1.0.0, it reaches h0.example, h1.example, h2.example, h3.example, h4.example and 2 more; "
        "reads the secrets ~/.ssh/id_rsa."
    )
    assert "Other rules" in gained_in_words(compare(Capabilities(), hosts, since="1.0.0", has_same_rules=False))
    assert gained_in_words(compare(hosts, Capabilities(), since="1.0.0")) == ""
    assert gained_in_words(None) == ""


def test_sentence_is_bounded__whatever_a_skill_brings() -> None:
    long = Capabilities(
        **{name: tuple(f"{number}{'x' * 300}" for number in range(100)) for name in ("secrets", "commands")}
    )
    assert len(gained_in_words(compare(Capabilities(), long, since="1.0.0"))) < 1200


def test_record_of_before_there_were_comparisons__is_read() -> None:
    fields = msgspec.inspect.type_info(SkillVersion).fields
    assert [field.required for field in fields if field.name == "capability_changes"] == [False]
