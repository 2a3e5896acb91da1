"""The error tree, the messages of the queue, and the settings."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from vskill_platform.domain.catalog import SKILLS, Document
from vskill_platform.domain.errors import (
    InvalidInput,
    InvalidSettings,
    MalformedMessage,
    UnknownMessageKind,
    error_tree,
)
from vskill_platform.domain.messages import ProcessSubmission, RunExternalScan, decode_message, encode_message
from vskill_platform.settings import PREFIX, Settings, load_settings
from vskill_platform.testing.builders import skill_document


def test_every_error_has_a_code_of_its_own() -> None:
    codes = [error.code for error in error_tree()]
    assert len(set(codes)) == len(codes)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]+", code) for code in codes)


def test_every_error_says_what_it_means() -> None:
    assert all(error.__doc__ for error in error_tree())


@pytest.mark.parametrize(
    "message",
    [
        ProcessSubmission(submission_id="sub_1", run=3),
        RunExternalScan(slug="a/b/c", provider="semgrep", requested_at="2026-02-21T10:00:00.000Z"),
    ],
)
def test_message_survives_the_queue(message: ProcessSubmission | RunExternalScan) -> None:
    assert decode_message(encode_message(message)) == message


@pytest.mark.parametrize(
    "body", [b"", b"junk", b"[]", b"{}", b'{"kind": 7}', b'{"kind": "process_submission"}', b"\xff"]
)
def test_body_that_no_version_can_read_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedMessage):
        decode_message(body)


@pytest.mark.parametrize("body", [b'{"kind": "teleport"}', b'{"kind": "process_submission", "v": 2}'])
def test_body_of_a_newer_version_is_of_an_unknown_kind(body: bytes) -> None:
    with pytest.raises(UnknownMessageKind):
        decode_message(body)


@pytest.mark.parametrize(
    ("facets", "sorts"),
    [
        ({"tier": ...}, {}),
        ({"tier": "\ud800"}, {}),
        ({"capability": "network"}, {}),
        ({"capability": ("secrets", "network")}, {}),
        ({"capability": ("network", "network")}, {}),
        ({"capability": ("\ud800",)}, {}),
        ({"tier": ("A",)}, {}),
        ({}, {"score": 2**70}),
        ({}, {"score": "high"}),
        ({}, {"name": 7}),
        ({}, {"weight": 7}),
    ],
)
def test_document_that_no_catalog_could_keep_is_refused(facets: dict[str, Any], sorts: dict[str, Any]) -> None:
    good = skill_document("a/b/c")
    with pytest.raises(InvalidInput):
        Document(SKILLS, "a/b/c", b"{}", {**good.facets, **facets}, {**good.sorts, **sorts})


def test_settings_come_from_the_environment() -> None:
    settings = load_settings({f"{PREFIX}PORT": "9000", f"{PREFIX}LEASE_S": "12.5", "HOME": "/elsewhere"})
    assert (settings.port, settings.lease_s, settings.host) == (9000, 12.5, "127.0.0.1")


@pytest.mark.parametrize("given", [{"PORT": "x"}, {"PORT": "-1"}, {"LEASE_S": "nan"}, {"DATA": ""}, {"COLOUR": "red"}])
def test_setting_that_means_nothing_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(InvalidSettings):
        load_settings({f"{PREFIX}{name}": value for name, value in given.items()})


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().port = 1  # type: ignore[misc]
    assert msgspec.structs.replace(Settings(), port=1).port == 1
