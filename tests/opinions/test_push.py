"""Remote scanners that are sent their work, and whose results come by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import msgspec
import pytest

from tests.notify.receiver import Receiver
from tests.opinions.desk import PASS, SECRETS, SLUG, Desk, open_desk
from tests.opinions.test_pull import everywhere, in_memory
from vskill_platform.domain.errors import SignatureRefused, StoreUnavailable
from vskill_platform.domain.external_scan import ExternalScanStatus as S
from vskill_platform.domain.messages import EXTERNAL_SCANS_QUEUE
from vskill_platform.domain.recovery import MessageStatus
from vskill_platform.notify.signing import ID_HEADER, sign, verify
from vskill_platform.pipeline.pushed_scans import accept_result
from vskill_platform.pipeline.reaping import reap_external_scans
from vskill_platform.ports.commit import Commit, Operation
from vskill_platform.ports.engine import Engine
from vskill_platform.ports.queue import MessageBatch
from vskill_platform.stores.external_scans import ExternalScan
from vskill_platform.testing.clock import FakeClock
from vskill_platform.testing.git_server import serve_application
from vskill_platform.worker.external import handle_external_queue


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
async def desk(timed_engine: Engine, clock: FakeClock, tmp_path: Any, receiver: Receiver) -> AsyncIterator[Desk]:
    async with serve_application(receiver) as address:
        push = f"posted={address}/scan,mailed={address}/mail"
        async with open_desk(timed_engine, clock, tmp_path, external_push=push) as opened:
            yield opened


async def send(desk: Desk) -> int:
    """Send what waits to be sent. Says how many messages that were."""
    messages = await desk.env.queue.receive(EXTERNAL_SCANS_QUEUE, max_messages=10, lease_s=60)
    batch = MessageBatch(EXTERNAL_SCANS_QUEUE, messages)
    await handle_external_queue(batch, desk.env)
    batch.close()
    commits = [[one.settlement] for one in messages if not one.is_settled and one.settlement is not None]
    await desk.env.queue.exchange(EXTERNAL_SCANS_QUEUE, commits, max_messages=0, lease_s=1)
    return len(messages)


def result_for(scan: ExternalScan, **changes: Any) -> bytes:
    """What a good scanner says of a scan."""
    said = {"id": scan.id, "provider": scan.provider, "contentDigest": scan.content_digest, "result": PASS}
    return msgspec.json.encode({**said, **changes})


def signed(
    desk: Desk, body: bytes, *, id: str = "res_1", secret: str = SECRETS["posted"], late_s: int = 0
) -> dict[str, str]:
    return sign(body, id=id, at_s=desk.clock.now_ms() // 1000 - late_s, secrets=[secret])


async def deliver(desk: Desk, body: bytes, headers: dict[str, str]) -> httpx.Response:
    """Bring a message to the registry's door, without a token."""
    return await desk.client.post(
        "/api/v1/webhooks/scan-results", content=body, headers={**headers, "Authorization": ""}
    )


@everywhere
async def test_scan_is_sent_with_a_signature__and_its_result_is_taken_once(desk: Desk, receiver: Receiver) -> None:
    scan = await desk.ask(provider="posted")
    assert await send(desk) == 1
    (request,) = receiver.received
    assert (
        verify(request.body, request.headers, secrets=[SECRETS["posted"]], now_s=desk.clock.now_ms() / 1000) == scan.id
    )
    told = msgspec.json.decode(request.body)
    assert (told["contentDigest"], told["resultsUrl"]) == (
        scan.content_digest,
        "https://registry.example/api/v1/webhooks/scan-results",
    )
    archive = await desk.client.get(told["archiveUrl"], headers={"x-scan-claim": told["claim"], "Authorization": ""})
    assert archive.status_code == 200
    running = await desk.read(provider="posted")
    assert (running.status, running.worker) == (S.RUNNING, "posted")
    assert (await desk.env.queue.stats(EXTERNAL_SCANS_QUEUE))[:4] == (0, 0, 0, 0)
    assert (await desk.inside(reap_external_scans))["left"] == 1
    body = result_for(scan)
    headers = signed(desk, body)
    first = await deliver(desk, body, headers)
    assert (first.status_code, first.json()["status"]) == (200, "PASS")
    again = await deliver(desk, body, headers)
    assert (again.status_code, again.json()["code"]) == (403, "signature_refused")
    assert (await desk.read(provider="posted")).status is S.PASS


@in_memory
async def test_scan_that_is_not_taken_is_sent_again__and_given_up_in_the_end(desk: Desk, receiver: Receiver) -> None:
    receiver.statuses = [500]
    await desk.ask(provider="posted")
    for attempt in range(1, 4):
        assert await send(desk) == 1
        waiting = await desk.read(provider="posted")
        assert (waiting.status, waiting.lease_until_ms) == (S.PENDING, None)
        page = await desk.env.queue.peek(EXTERNAL_SCANS_QUEUE, status=MessageStatus.DELAYED)
        assert [message.attempts for message in page.messages] == [attempt]
        desk.clock.shift(1000)
    assert await send(desk) == 1
    ended = await desk.read(provider="posted")
    assert (ended.status, ended.summary) == (S.ERROR, "posted did not take the scan: it answered 500")
    assert len(receiver.received) == 4
    assert len({request.id for request in receiver.received}) == 1


@in_memory
async def test_result_that_never_comes_times_out__and_one_that_comes_then_is_refused(desk: Desk) -> None:
    scan = await desk.ask(provider="posted")
    await send(desk)
    desk.clock.shift(1800)
    body = result_for(scan)
    late = await deliver(desk, body, signed(desk, body))
    assert (late.status_code, late.json()["code"]) == (409, "external_scan_over")
    assert (await desk.inside(reap_external_scans))["ended"] == 1
    assert (await desk.read(provider="posted")).status is S.TIMED_OUT
    assert (await deliver(desk, body, signed(desk, body, id="res_2"))).status_code == 409


class FailingOnce:
    """Writes that fail once, before anything was written."""

    def __init__(self, inner: Commit) -> None:
        self._inner, self.fails = inner, True

    async def commit(self, operations: list[Operation], **options: Any) -> Any:
        if self.fails:
            self.fails = False
            raise StoreUnavailable("The disk is away.")
        return await self._inner.commit(operations, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def test_result_is_not_lost__when_the_store_fails_in_the_middle(timed_engine: Engine, desk: Desk) -> None:
    from dataclasses import replace

    scan = await desk.ask(provider="posted")
    await send(desk)
    body = result_for(scan)
    headers = signed(desk, body)
    broken = replace(desk.env, writes=FailingOnce(desk.env.writes))  # type: ignore[arg-type]
    failing = replace(desk, env=broken)
    with pytest.raises(StoreUnavailable):
        await failing.inside(lambda: accept_result(body, headers))
    assert (await desk.inside(lambda: accept_result(body, headers))).status is S.PASS
    with pytest.raises(SignatureRefused, match="has come before"):
        await desk.inside(lambda: accept_result(body, headers))


@in_memory
async def test_one_scanner_cannot_speak_for_another(desk: Desk) -> None:
    scan = await desk.ask(provider="posted")
    await send(desk)
    body = result_for(scan)
    answer = await deliver(desk, body, signed(desk, body, secret=SECRETS["mailed"]))
    assert (answer.status_code, answer.json()["code"]) == (403, "signature_refused")
    body = result_for(scan, provider="mailed")
    answer = await deliver(desk, body, signed(desk, body, secret=SECRETS["mailed"]))
    assert answer.status_code == 409
    assert (await desk.read(provider="posted")).status is S.RUNNING


@in_memory
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"contentDigest": "sha256:" + "0" * 64}, 400),
        ({"id": "000000000000000-00"}, 409),
        ({"id": ""}, 409),
        ({"id": "x" * 400}, 409),
        ({"result": {"status": "PENDING"}}, 400),
        ({"result": {"status": "PASS", "findings": [{}]}}, 400),
        ({"result": None}, 400),
        ({"provider": 7}, 400),
    ],
)
async def test_signed_result_that_makes_no_sense_changes_nothing__and_does_not_use_up_its_id(
    desk: Desk, changes: dict[str, Any], status: int
) -> None:
    scan = await desk.ask(provider="posted")
    await send(desk)
    body = result_for(scan, **changes)
    assert (await deliver(desk, body, signed(desk, body))).status_code == status
    assert (await desk.read(provider="posted")).status is S.RUNNING
    body = result_for(scan)
    assert (await deliver(desk, body, signed(desk, body))).status_code == 200
    assert (await desk.read(slug=SLUG, provider="posted")).status is S.PASS


@in_memory
async def test_message_without_signature_is_refused(desk: Desk) -> None:
    scan = await desk.ask(provider="posted")
    await send(desk)
    body = result_for(scan)
    headers = signed(desk, body)
    for missing in headers:
        rest = {name: value for name, value in headers.items() if name != missing}
        assert (await deliver(desk, body, rest)).status_code == 403
    assert (await deliver(desk, body, {**headers, ID_HEADER: "another"})).status_code == 403
