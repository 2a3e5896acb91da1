"""Signatures of messages that are sent over the web, in the way of Standard Webhooks.

What is signed is the message's id, the time of sending and the body, with dots between. A receiver checks the signature over
the bytes as they came, that the time is not long ago and not to come, and that it has not had the id before. `verify` does the
first two, `accepting_once` the last; whoever takes messages in needs both.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets as randomness
from collections.abc import Mapping, Sequence

from vskill_platform.domain.errors import Conflict, SignatureRefused
from vskill_platform.domain.secrets import equal_secrets
from vskill_platform.ports.commit import ABSENT, Put
from vskill_platform.worker_context import current_env

ID_HEADER, TIME_HEADER, SIGNATURE_HEADER = "webhook-id", "webhook-timestamp", "webhook-signature"
TOLERANCE_S = 300
"""How far the time of a message may be from the receiver's."""
SECRET_START = "whsec_"
_VERSION = "v1"
_SECRET_BYTES = 32
_LONGEST_ID = 256
_MOST_SIGNATURES = 10


def new_secret() -> str:
    """A secret for signing, to be told once."""
    return SECRET_START + base64.b64encode(randomness.token_bytes(_SECRET_BYTES)).decode()


def sign(body: bytes, *, id: str, at_s: int, secrets: Sequence[str]) -> dict[str, str]:
    """The headers of a message: one signature for each secret that receivers may have."""
    signatures = [f"{_VERSION},{_signature(body, id=id, at=str(at_s), secret=secret)}" for secret in secrets]
    return {ID_HEADER: id, TIME_HEADER: str(at_s), SIGNATURE_HEADER: " ".join(signatures)}


def verify(
    body: bytes, headers: Mapping[str, str], *, secrets: Sequence[str], now_s: float, tolerance_s: float = TOLERANCE_S
) -> str:
    """The id of a message that one of these secrets has signed and whose time is now, give or take the tolerance.

    Raises SignatureRefused for any other: altered, signed by somebody else, late or early. Header names are in lower case.
    """
    id, at = headers.get(ID_HEADER, ""), headers.get(TIME_HEADER, "")
    given = headers.get(SIGNATURE_HEADER, "").split(" ")[:_MOST_SIGNATURES]
    if not 0 < len(id) <= _LONGEST_ID or not (at.isascii() and at.isdigit() and len(at) <= 12) or given == [""]:
        raise SignatureRefused(
            f"The message lacks {ID_HEADER}, {TIME_HEADER} or {SIGNATURE_HEADER}, or they make no sense."
        )
    expected = [f"{_VERSION},{_signature(body, id=id, at=at, secret=secret)}" for secret in secrets]
    # All are compared, so that the time does not tell which secret is the right one.
    matches = [equal_secrets(one.encode(), other.encode()) for one in given for other in expected]
    if not any(matches):
        raise SignatureRefused("The message is not signed by its secret, or was altered on the way.", id=id)
    if abs(now_s - int(at)) > tolerance_s:
        raise SignatureRefused(
            f"The message was signed more than {tolerance_s:g} s before or after now. Check both clocks.", id=id
        )
    return id


def accepting_once(id: str, *, receiver: str) -> Put:
    """The operation that notes that a message has come. Its commit is refused where it has come before.

    Whoever keeps what a message says puts this in the same commit: then no message is lost that was noted, and none counts twice.
    """
    return Put(_seen_key(id, receiver=receiver), b"{}", if_version=ABSENT, ttl_s=4 * TOLERANCE_S)


async def refuse_repeated(id: str, *, receiver: str) -> None:
    """Raise SignatureRefused where a message has come before, within the time it could be verified."""
    if await current_env("kv").kv.get(_seen_key(id, receiver=receiver)) is not None:
        raise SignatureRefused("A message with this id has come before.", id=id[:_LONGEST_ID])


async def accept_once(id: str, *, receiver: str) -> None:
    """Note that a message has come, by itself. Raises SignatureRefused where it has come before."""
    try:
        await current_env("writes").writes.commit([accepting_once(id, receiver=receiver)])
    except Conflict as error:
        raise SignatureRefused("A message with this id has come before.", id=id[:_LONGEST_ID]) from error


def _seen_key(id: str, *, receiver: str) -> str:
    return f"message-seen:{receiver}:{hashlib.sha256(id.encode()).hexdigest()}"


def _signature(body: bytes, *, id: str, at: str, secret: str) -> str:
    signed = b"%s.%s.%s" % (id.encode(), at.encode(), body)
    return base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()


def _key(secret: str) -> bytes:
    """The bytes of a secret. Raises ValueError, which does not repeat it, for what is none."""
    try:
        return base64.b64decode(secret.removeprefix(SECRET_START), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the secret is not base64") from None
