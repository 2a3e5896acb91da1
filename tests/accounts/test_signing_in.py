"""Signing in: the same for who is unknown and who is wrong, counted, with a code where there is one."""

from __future__ import annotations

import msgspec
import pyotp
import pytest
import structlog

from vskill_platform import metrics
from vskill_platform.accounts.identity import caller_of_session
from vskill_platform.accounts.passwords import hash_password
from vskill_platform.accounts.signing_in import Browser, CodeWanted, sign_in, sign_in_with_code
from vskill_platform.accounts.totp import new_codes, new_recovery_codes, with_recovery_codes
from vskill_platform.domain.account import Account
from vskill_platform.domain.audit import AUDIT_PREFIX, AuditEntry
from vskill_platform.domain.errors import CodeRefused, RateLimited, SignInFailed, VskillError
from vskill_platform.ports.env import WorkerEnv
from vskill_platform.stores.accounts import change_account, get_account
from vskill_platform.stores.sessions import OpenedSession
from vskill_platform.testing.accounts import in_request, make_account, make_session
from vskill_platform.testing.builders import collect_keys
from vskill_platform.testing.clock import FakeClock

PASSWORD = "grey otters swim upstream"
HOME = Browser(address="192.0.2.7", user_agent="a test")


@pytest.fixture
async def rita(env: WorkerEnv) -> Account:
    return await make_account(env, "rita", password_hash=await hash_password(PASSWORD))


@pytest.fixture
async def app(env: WorkerEnv, rita: Account) -> pyotp.TOTP:
    """The second factor of the account, and what its owner has on a phone."""
    codes = msgspec.structs.replace(new_codes(), is_confirmed=True)
    await in_request(env, lambda: change_account(rita.id, lambda one: msgspec.structs.replace(one, totp=codes)))
    return pyotp.TOTP(codes.secret)


async def enter(env: WorkerEnv, name: str, password: str, browser: Browser = HOME) -> OpenedSession | CodeWanted:
    return await in_request(env, lambda: sign_in(name, password, browser=browser))


async def half_way(env: WorkerEnv) -> str:
    half = await enter(env, "rita", PASSWORD)
    assert isinstance(half, CodeWanted)
    return half.secret


async def show_code(env: WorkerEnv, half: str, code: str) -> OpenedSession:
    return await in_request(env, lambda: sign_in_with_code(half, code, browser=HOME))


async def acts(env: WorkerEnv) -> list[str]:
    entries = [await env.kv.get(key) for key in await collect_keys(env.kv, AUDIT_PREFIX)]
    return [msgspec.json.decode(entry.value, type=AuditEntry).act for entry in entries if entry is not None]


def checks(outcome: str) -> float:
    return metrics.REGISTRY.get_sample_value("vskill_password_checks_total", {"outcome": outcome}) or 0.0


async def test_sign_in_opens_a_session__with_the_right_password(env: WorkerEnv, rita: Account) -> None:
    opened = await enter(env, " RITA", PASSWORD)
    assert isinstance(opened, OpenedSession)
    caller = await in_request(env, lambda: caller_of_session(opened.secret))
    assert caller is not None
    assert caller.id == rita.id
    assert await acts(env) == ["account.sign_in"]


async def test_sign_in_does_the_same_work_and_says_the_same__for_unknown_and_wrong(
    env: WorkerEnv, rita: Account
) -> None:
    said, before = [], checks("wrong")
    with structlog.testing.capture_logs() as logs:
        for name, password in (("rita", "not her password"), ("nobody", PASSWORD), ("no name at all/", PASSWORD)):
            with pytest.raises(SignInFailed) as refused:
                await enter(env, name, password)
            said.append((type(refused.value), refused.value.message))
    assert len(set(said)) == 1
    assert checks("wrong") - before == 3, "a hash has to be verified for each"
    assert "not her password" not in str(logs)
    assert PASSWORD not in str(logs)


async def test_sign_in_refuses__an_account_that_is_disabled_or_has_no_password(env: WorkerEnv, rita: Account) -> None:
    await make_account(env, "provided")
    await in_request(env, lambda: change_account(rita.id, lambda one: msgspec.structs.replace(one, is_disabled=True)))
    for name in ("rita", "provided"):
        with pytest.raises(SignInFailed):
            await enter(env, name, PASSWORD)


async def test_sign_in_rotates_the_secret__and_ends_the_session_before(env: WorkerEnv, rita: Account) -> None:
    before = await make_session(env, rita)
    opened = await enter(env, "rita", PASSWORD, HOME._replace(previous=before))
    assert isinstance(opened, OpenedSession)
    assert opened.secret != before
    assert await in_request(env, lambda: caller_of_session(before)) is None


async def test_sign_in_counts_tries__by_address_and_by_account(env: WorkerEnv, rita: Account) -> None:
    limit = env.settings.sign_ins_per_quarter_hour
    for _ in range(limit):
        await in_request(env, lambda: env.limiter.take("sign-in-address:192.0.2.7", limit=limit, window_s=900))
    with pytest.raises(RateLimited):
        await enter(env, "rita", PASSWORD)
    elsewhere = Browser(address="192.0.2.8")
    assert isinstance(await enter(env, "rita", PASSWORD, elsewhere), OpenedSession)
    for _ in range(5 * limit - 1):
        await in_request(env, lambda: env.limiter.take(f"sign-in-account:{rita.id}", limit=5 * limit, window_s=900))
    with pytest.raises(RateLimited):
        await enter(env, "rita", PASSWORD, elsewhere)


async def test_password_alone_signs_nobody_in__where_there_is_a_second_factor(
    env: WorkerEnv, app: pyotp.TOTP, clock: FakeClock
) -> None:
    half = await half_way(env)
    assert await in_request(env, lambda: caller_of_session(half)) is None
    opened = await show_code(env, half, app.at(clock.now_ms() // 1000))
    assert await in_request(env, lambda: caller_of_session(opened.secret)) is not None


async def test_code_is_taken_once__also_in_another_sign_in(env: WorkerEnv, app: pyotp.TOTP, clock: FakeClock) -> None:
    code = app.at(clock.now_ms() // 1000)
    await show_code(env, await half_way(env), code)
    with pytest.raises(CodeRefused):
        await show_code(env, await half_way(env), code)
    assert "account.code_refused" in await acts(env)


async def test_code_is_taken__one_step_around_now_and_no_further(
    env: WorkerEnv, app: pyotp.TOTP, clock: FakeClock
) -> None:
    now = clock.now_ms() // 1000
    for away in (-2, 2):
        with pytest.raises(CodeRefused):
            await show_code(env, await half_way(env), app.at(now + away * 30))
    await show_code(env, await half_way(env), app.at(now - 30))
    await show_code(env, await half_way(env), app.at(now + 30))


async def test_half_session_is_over__after_five_minutes_and_after_it_was_used(
    env: WorkerEnv, app: pyotp.TOTP, clock: FakeClock
) -> None:
    late = await half_way(env)
    clock.shift(301)
    with pytest.raises(SignInFailed):
        await show_code(env, late, app.at(clock.now_ms() // 1000))
    used = await half_way(env)
    await show_code(env, used, app.at(clock.now_ms() // 1000))
    with pytest.raises(VskillError, match="from the start"):
        await show_code(env, used, app.at(clock.now_ms() // 1000 + 30))


async def test_codes_are_counted__so_that_nobody_tries_them_all(env: WorkerEnv, app: pyotp.TOTP) -> None:
    half = await half_way(env)
    for _ in range(10):
        with pytest.raises(CodeRefused):
            await show_code(env, half, "abcdef")
    with pytest.raises(RateLimited):
        await show_code(env, half, "abcdef")


async def test_recovery_code_is_taken_once__and_kept_by_its_hash(
    env: WorkerEnv, rita: Account, app: pyotp.TOTP
) -> None:
    given = new_recovery_codes()

    def with_given(one: Account) -> Account:
        assert one.totp is not None
        return msgspec.structs.replace(one, totp=with_recovery_codes(one.totp, given))

    await in_request(env, lambda: change_account(rita.id, with_given))
    await show_code(env, await half_way(env), given[3].upper().replace("-", " "))
    with pytest.raises(CodeRefused):
        await show_code(env, await half_way(env), given[3])
    kept = await in_request(env, lambda: get_account(rita.id))
    assert kept is not None
    assert kept.totp is not None
    assert len(kept.totp.recovery_hashes) == 9
    assert not [code for code in given if code.replace("-", "") in msgspec.json.encode(kept).decode()]
