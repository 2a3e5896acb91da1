"""Signed messages: what was altered, replayed, late or early is refused."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.errors import SignatureRefused
from vskill_platform.notify.signing import TOLERANCE_S, accept_once, new_secret, sign, verify
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.testing.clock import FakeClock
from vskill_platform.worker_context import run_with_worker_env

BODY = b'{"id":"evt_1","type":"webhook.test"}'
NOW_S = 1_771_668_000
SECRET = new_secret()
HEADERS = sign(BODY, id="evt_1", at_s=NOW_S, secrets=[SECRET])
_BEGUN = HEADERS["webhook-signature"][3]
ALTERED = HEADERS["webhook-signature"].replace(f"v1,{_BEGUN}", "v1,B" if _BEGUN == "A" else "v1,A")


def test_signature_is_that_of_standard_webhooks__computed_by_hand() -> None:
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    signed = f"evt_1.{NOW_S}.".encode() + BODY
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(NOW_S),
        "webhook-signature": f"v1,{expected}",
    } == HEADERS
    assert len(key) == 32


def test_message_is_taken__from_the_edge_of_too_late_to_the_edge_of_too_early() -> None:
    for now_s in (NOW_S - TOLERANCE_S, NOW_S, NOW_S + TOLERANCE_S):
        assert verify(BODY, HEADERS, secrets=[SECRET], now_s=now_s) == "evt_1"


@pytest.mark.parametrize("now_s", [NOW_S - TOLERANCE_S - 1, NOW_S + TOLERANCE_S + 1], ids=["early", "late"])
def test_message_is_refused__early_and_late(now_s: int) -> None:
    with pytest.raises(SignatureRefused, match="before or after now"):
        verify(BODY, HEADERS, secrets=[SECRET], now_s=now_s)


@pytest.mark.parametrize(
    ("body", "changes"),
    [
        (BODY + b" ", {}),
        (BODY, {"webhook-id": "evt_2"}),
        (BODY, {"webhook-timestamp": str(NOW_S + 1)}),
        (BODY, {"webhook-signature": ALTERED}),
        (BODY, {"webhook-signature": HEADERS["webhook-signature"].replace("v1", "v2")}),
        (BODY, {"webhook-signature": ""}),
        (BODY, {"webhook-id": ""}),
        (BODY, {"webhook-timestamp": "soon"}),
        (BODY, {"webhook-timestamp": "-1"}),
        (BODY, {"webhook-timestamp": "1" * 13}),
    ],
)
def test_message_is_refused__altered_anywhere(body: bytes, changes: dict[str, str]) -> None:
    with pytest.raises(SignatureRefused):
        verify(body, {**HEADERS, **changes}, secrets=[SECRET], now_s=NOW_S)


def test_message_is_refused__signed_by_somebody_else() -> None:
    with pytest.raises(SignatureRefused, match="not signed by its secret"):
        verify(BODY, HEADERS, secrets=[new_secret()], now_s=NOW_S)
    with pytest.raises(SignatureRefused):
        verify(BODY, HEADERS, secrets=[], now_s=NOW_S)


def test_message_is_taken_by_either_secret__while_two_overlap() -> None:
    newer = new_secret()
    headers = sign(BODY, id="evt_1", at_s=NOW_S, secrets=[newer, SECRET])
    for known in ([newer], [SECRET], [new_secret(), SECRET]):
        assert verify(BODY, headers, secrets=known, now_s=NOW_S) == "evt_1"


@given(position=st.integers(0, len(BODY) - 1), bit=st.integers(0, 7))
def test_message_is_refused__with_any_single_bit_turned(position: int, bit: int) -> None:
    altered = bytearray(BODY)
    altered[position] ^= 1 << bit
    with pytest.raises(SignatureRefused):
        verify(bytes(altered), HEADERS, secrets=[SECRET], now_s=NOW_S)


async def test_message_is_taken_once__for_as_long_as_it_could_be_verified(env: WorkerEnv, clock: FakeClock) -> None:
    async def take(receiver: str = "scanner") -> None:
        await run_with_worker_env(env, lambda: accept_once("evt_1", receiver=receiver))

    await take()
    for _ in range(2):
        with pytest.raises(SignatureRefused, match="has come before"):
            await take()
        clock.shift(TOLERANCE_S)
    await take("another")
