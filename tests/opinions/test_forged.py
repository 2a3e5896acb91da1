"""Results that nobody should believe: forged, altered, repeated, late, about other bytes or other runs. None is taken.

What is made up here is made of real requests and real signatures, each with one thing wrong, and the genuine results are taken
afterwards, so that nothing is refused merely because everything is.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import msgspec
import pytest

from tests.faults.figures import Tell
from tests.opinions.desk import PASS, SECRETS, Desk
from tests.opinions.test_pull import in_memory
from vskill_platform.domain.errors import ExternalScanOver, InvalidInput, SignatureRefused
from vskill_platform.domain.external_result import ReportedResult
from vskill_platform.domain.external_scan import ExternalScanStatus as S
from vskill_platform.notify.signing import SIGNATURE_HEADER, TIME_HEADER, TOLERANCE_S, sign
from vskill_platform.pipeline.pushed_scans import accept_result, claiming
from vskill_platform.pipeline.remote_scans import Claimed, claim_remotely, complete_remotely, extend_claim
from vskill_platform.pipeline.scan_claims import claim_scan
from vskill_platform.stores.external_scans import ExternalScan, find_open_scan

GOOD = msgspec.convert(PASS, ReportedResult)
POSTED, MAILED = SECRETS["posted"], SECRETS["mailed"]
Attempt = Callable[["Scene", random.Random], Awaitable[object]]


class Scene(NamedTuple):
    """A pushed scan that waits for its result, another of the same provider, and a pulled one with its holder."""

    desk: Desk
    pushed: ExternalScan
    other: ExternalScan
    pulled: Claimed
    spent: dict[str, str]
    """The headers of a genuine result of `other`, which was taken."""

    @property
    def now_s(self) -> int:
        return self.desk.clock.now_ms() // 1000

    def body(self, **changes: Any) -> bytes:
        said = {"id": self.pushed.id, "provider": "posted", "contentDigest": self.pushed.content_digest, "result": PASS}
        return msgspec.json.encode({**said, **changes})

    def said_of_other(self) -> bytes:
        return self.body(id=self.other.id, contentDigest=self.other.content_digest)


async def altered_body(scene: Scene, chance: random.Random) -> object:
    body = bytearray(scene.body())
    headers = sign(bytes(body), id=f"a{chance.random()}", at_s=scene.now_s, secrets=[POSTED])
    body[chance.randrange(len(body))] ^= 1 << chance.randrange(7)
    return await accept_result(bytes(body), headers)


async def altered_signature(scene: Scene, chance: random.Random) -> object:
    body = scene.body()
    headers = sign(body, id=f"b{chance.random()}", at_s=scene.now_s, secrets=[POSTED])
    text = headers[SIGNATURE_HEADER]
    place = chance.randrange(3, len(text) - 1)
    changed = text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]
    return await accept_result(body, {**headers, SIGNATURE_HEADER: changed})


async def wrong_secret(scene: Scene, chance: random.Random) -> object:
    secret = chance.choice([MAILED, f"whsec_{chance.randbytes(24).hex()}"])
    headers = sign(scene.body(), id=f"c{chance.random()}", at_s=scene.now_s, secrets=[secret])
    return await accept_result(scene.body(), headers)


async def wrong_time(scene: Scene, chance: random.Random) -> object:
    off_s = chance.choice([-1, 1]) * chance.randrange(TOLERANCE_S + 1, 10_000_000)
    headers = sign(scene.body(), id=f"d{chance.random()}", at_s=max(scene.now_s + off_s, 0), secrets=[POSTED])
    return await accept_result(scene.body(), headers)


async def time_set_anew(scene: Scene, chance: random.Random) -> object:
    old = sign(scene.body(), id=f"e{chance.random()}", at_s=scene.now_s - 1000, secrets=[POSTED])
    return await accept_result(scene.body(), {**old, TIME_HEADER: str(scene.now_s)})


async def repeated(scene: Scene, chance: random.Random) -> object:
    return await accept_result(scene.said_of_other(), scene.spent)


async def repeated_under_a_new_id(scene: Scene, chance: random.Random) -> object:
    body = scene.said_of_other()
    return await accept_result(body, sign(body, id=f"f{chance.random()}", at_s=scene.now_s, secrets=[POSTED]))


async def about_other_bytes(scene: Scene, chance: random.Random) -> object:
    digest = chance.choice([scene.other.content_digest, f"sha256:{chance.randbytes(32).hex()}", ""])
    body = scene.body(contentDigest=digest)
    return await accept_result(body, sign(body, id=f"g{chance.random()}", at_s=scene.now_s, secrets=[POSTED]))


async def about_an_unknown_request(scene: Scene, chance: random.Random) -> object:
    made_up = f"{scene.now_s * 1000:015d}-{chance.randbytes(16).hex()}"
    body = scene.body(id=chance.choice([made_up, scene.pulled.scan.id, scene.pushed.id[:-1], "../x", "*"]))
    return await accept_result(body, sign(body, id=f"h{chance.random()}", at_s=scene.now_s, secrets=[POSTED]))


async def in_anothers_name(scene: Scene, chance: random.Random) -> object:
    body = scene.body(provider=chance.choice(["mailed", "farm", "nobody"]))
    secret = chance.choice([POSTED, MAILED])
    return await accept_result(body, sign(body, id=f"i{chance.random()}", at_s=scene.now_s, secrets=[secret]))


async def of_a_wrong_form(scene: Scene, chance: random.Random) -> object:
    result = chance.choice(
        [None, [], "PASS", {"status": "OK"}, {"status": "RUNNING"}, {"status": "PASS", "score": 999}]
    )
    body = scene.body(result=result)
    return await accept_result(body, sign(body, id=f"j{chance.random()}", at_s=scene.now_s, secrets=[POSTED]))


async def without_its_claim(scene: Scene, chance: random.Random) -> object:
    scan, secret = scene.pulled
    guess = chance.choice(["", secret[:-1], secret.upper(), secret + "x", chance.randbytes(24).hex()])
    return await complete_remotely("farm", scan.id, claim=guess, content_digest=scan.content_digest, result=GOOD)


async def with_a_claim_on_other_bytes(scene: Scene, chance: random.Random) -> object:
    scan, secret = scene.pulled
    digest = chance.choice([scene.pushed.content_digest, f"sha256:{chance.randbytes(32).hex()}"])
    return await complete_remotely("farm", scan.id, claim=secret, content_digest=digest, result=GOOD)


async def with_a_claim_on_another_scan(scene: Scene, chance: random.Random) -> object:
    target = chance.choice([("posted", scene.pushed.id), ("farm", scene.pushed.id), ("posted", scene.pulled.scan.id)])
    digest = scene.pushed.content_digest
    return await complete_remotely(*target, claim=scene.pulled.secret, content_digest=digest, result=GOOD)


async def extended_by_a_stranger(scene: Scene, chance: random.Random) -> object:
    return await extend_claim("farm", scene.pulled.scan.id, claim=chance.randbytes(24).hex())


ATTEMPTS: list[Attempt] = [
    altered_body,
    altered_signature,
    wrong_secret,
    wrong_time,
    time_set_anew,
    repeated,
    repeated_under_a_new_id,
    about_other_bytes,
    about_an_unknown_request,
    in_anothers_name,
    of_a_wrong_form,
    without_its_claim,
    with_a_claim_on_other_bytes,
    with_a_claim_on_another_scan,
    extended_by_a_stranger,
]


async def set_scene(desk: Desk) -> Scene:
    """Requests that are under way, one of them answered already."""
    pushed = await desk.ask(slug="acme/skills/one", provider="posted", text="# One")
    other = await desk.ask(slug="acme/skills/two", provider="posted", text="# Two")
    pulled = await desk.ask(slug="acme/skills/three", provider="farm", text="# Three")

    async def begin() -> tuple[ExternalScan, Claimed]:
        for scan in (pushed, other):
            found = await find_open_scan("posted", scan.id)
            assert found is not None
            await claim_scan(found, worker="posted", more=[], **claiming("c" * 32))
        return pushed, await claim_remotely("farm", pulled.id, worker="one")

    _, claimed = await desk.inside(begin)
    scene = Scene(desk, pushed, other, claimed, {})
    headers = sign(scene.said_of_other(), id="genuine", at_s=scene.now_s, secrets=[POSTED])
    await desk.inside(lambda: accept_result(scene.said_of_other(), headers))
    scene.spent.update(headers)
    return scene


async def run_attempts(desk: Desk, count: int, *, seed: int) -> tuple[Counter[str], int]:
    """Make so many attempts. Says how many each refusal had, and how many were taken."""
    scene = await set_scene(desk)
    chance, refused, accepted = random.Random(seed), Counter[str](), 0
    for number in range(count):
        attempt = ATTEMPTS[number % len(ATTEMPTS)]
        try:
            await desk.inside(lambda attempt=attempt: attempt(scene, chance))
            accepted += 1
        except (SignatureRefused, ExternalScanOver, InvalidInput) as error:
            refused[error.code] += 1
        # Long enough that some attempts come when others' times have passed, and the leases hold.
        desk.clock.shift(0.01)
    await _genuine_ones_are_taken(scene)
    return refused, accepted


async def _genuine_ones_are_taken(scene: Scene) -> None:
    desk = scene.desk
    assert (await desk.read(slug="acme/skills/one", provider="posted")).status is S.RUNNING
    assert (await desk.read(slug="acme/skills/three", provider="farm")).status is S.RUNNING
    headers = sign(scene.body(), id="genuine too", at_s=scene.now_s, secrets=[POSTED])
    await desk.inside(lambda: accept_result(scene.body(), headers))
    scan, secret = scene.pulled
    digest = scan.content_digest
    ended = await desk.inside(
        lambda: complete_remotely("farm", scan.id, claim=secret, content_digest=digest, result=GOOD)
    )
    assert ended.status is S.PASS


@pytest.mark.parametrize(("place", "count"), [("memory", 1500), ("sqlite", 450)], indirect=["place"])
async def test_no_forged_repeated_or_late_result_is_taken(desk: Desk, count: int, place: str, tell: Tell) -> None:
    refused, accepted = await run_attempts(desk, count, seed=8)
    tell(f"forged, repeated and late results on {place}: {accepted} of {count} taken; refused {dict(refused)}")
    assert (accepted, refused.total()) == (0, count)


@in_memory
async def test_no_late_result_is_taken__however_good_it_is(desk: Desk) -> None:
    scene = await set_scene(desk)
    desk.clock.shift(1801)
    for number in range(200):
        body = scene.body()
        headers = sign(body, id=f"late {number}", at_s=scene.now_s, secrets=[POSTED])
        with pytest.raises(ExternalScanOver):
            await desk.inside(lambda body=body, headers=headers: accept_result(body, headers))
        with pytest.raises(ExternalScanOver):
            await desk.inside(
                lambda: complete_remotely(
                    "farm",
                    scene.pulled.scan.id,
                    claim=scene.pulled.secret,
                    content_digest=scene.pulled.scan.content_digest,
                    result=GOOD,
                )
            )
    assert (await desk.read(slug="acme/skills/one", provider="posted")).status is S.RUNNING
