"""What travels in the queue: small JSON documents that name a kind and a version, and never the data itself."""

from __future__ import annotations

import msgspec

from vskill_platform.domain.errors import MalformedMessage, UnknownMessageKind

SUBMISSIONS_QUEUE = "submissions"
EXTERNAL_SCANS_QUEUE = "external-scans"
MESSAGE_VERSION = 1


class ProcessSubmission(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="process_submission", tag_field="kind"
):
    """Take a submission through fetch, scan and decision, if it is still in this run."""

    submission_id: str
    run: int
    v: int = MESSAGE_VERSION


class RunExternalScan(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="run_external_scan", tag_field="kind"
):
    """Hand a skill to one external scanner."""

    slug: str
    provider: str
    requested_at: str
    v: int = MESSAGE_VERSION


QueueMessage = ProcessSubmission | RunExternalScan


class _Envelope(msgspec.Struct, frozen=True):
    kind: str
    v: int = MESSAGE_VERSION


_KINDS: dict[str, type[QueueMessage]] = {"process_submission": ProcessSubmission, "run_external_scan": RunExternalScan}


def encode_message(message: QueueMessage) -> bytes:
    """The message as the queue carries it."""
    return msgspec.json.encode(message)


def decode_message(body: bytes) -> QueueMessage:
    """The message in a body.

    Raises MalformedMessage for a body that no version can read, and UnknownMessageKind for one that a newer version
    may have sent.
    """
    try:
        envelope = msgspec.json.decode(body, type=_Envelope)
    except msgspec.MsgspecError as exc:
        raise MalformedMessage(f"The message is not a JSON object with a kind: {exc}") from exc
    kind = _KINDS.get(envelope.kind)
    if kind is None or envelope.v > MESSAGE_VERSION:
        raise UnknownMessageKind(
            f"The message is of kind '{envelope.kind}', version {envelope.v}, which this version does not know. "
            "Update the workers, then requeue it.",
            kind=envelope.kind,
            version=envelope.v,
        )
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.MsgspecError as exc:
        raise MalformedMessage(f"The message of kind '{envelope.kind}' has a wrong form: {exc}") from exc
