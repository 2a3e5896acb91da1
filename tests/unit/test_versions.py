"""Which version comes next."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.versions import next_version, read_version, version_order

numbers = st.integers(0, 30)
versions = st.builds(
    lambda a, b, c, pre: f"{a}.{b}.{c}" + (f"-{pre}" if pre else ""),
    numbers,
    numbers,
    numbers,
    st.sampled_from(["", "alpha", "rc.1", "rc.2", "0.x"]),
)


@pytest.mark.parametrize(
    ("current", "declared", "expected"),
    [
        (None, None, "1.0.0"),
        (None, "0.3.0", "1.0.0"),
        (None, "2.1", "2.1.0"),
        (None, "not a version", "1.0.0"),
        ("1.0.0", None, "1.0.1"),
        ("1.0.0", "1.0.0", "1.0.1"),
        ("1.0.0", "0.9.0", "1.0.1"),
        ("1.0.0", "v1.2.0", "1.2.0"),
        ("1.0.0", "1.1.0+build.5", "1.1.0"),
        ("2.0.0-rc.1", None, "2.0.0"),
        ("1.0.999999999", None, "1.1.0"),
        ("1.999999999.999999999", None, "2.0.0"),
        ("1.0.0", "1１.0.0", "1.0.1"),
        ("2.0.0-rc.1", "2.0.0-rc.2", "2.0.0-rc.2"),
    ],
)
def test_next_version_is_declared_or_a_patch_more__for_new_bytes(
    current: str | None, declared: str | None, expected: str
) -> None:
    assert next_version(current, declared=declared) == expected


@given(st.one_of(st.none(), versions), st.one_of(st.none(), versions, st.text(max_size=12)), st.sets(versions))
def test_next_version_is_higher_and_free__whatever_came_before(
    current: str | None, declared: str | None, taken: set[str]
) -> None:
    chosen = next_version(current, declared=declared, taken=taken)
    assert chosen not in taken
    assert current is None or version_order(chosen) > version_order(current)


def test_version_order_is_that_of_semantic_versioning__with_pre_releases() -> None:
    ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
    ]
    keys = [version_order(version) for version in ordered]
    assert all(one < other for one, other in itertools.pairwise(keys))


@pytest.mark.parametrize("text", ["", "x", "1.2.3.4", "01.2.3", "1.2.3-", "9" * 70, "1.0.0-" + "a" * 80, "1.2.3\n"])
def test_version_is_none__when_it_is_none(text: str) -> None:
    assert read_version(text) is None
