"""Passwords: what may be one, and their hashes."""

from __future__ import annotations

import asyncio

import pytest
from argon2 import PasswordHasher

from vskill_platform.accounts.passwords import (
    HASHER,
    HASHES_WAITING,
    check_password,
    hash_password,
    is_outdated,
    verify_password,
)
from vskill_platform.domain.errors import RegistryBusy, WeakPassword

IN_USE = HASHER
"""As it is imported, before a test makes hashes cheap."""


@pytest.mark.parametrize(
    "password",
    [
        "eleven char",
        "x" * 300,
        "password1234",
        "Password-2026!",
        "passwordpassword",
        "123456789012",
        "aaaaaaaaaaaabb",
        "Welcome Admin 99",
        "my-RITA-rocks-so-much",
        "ｐａｓｓｗｏｒｄ1234",
    ],
)
def test_check_password_refuses__what_is_guessed_first(password: str) -> None:
    with pytest.raises(WeakPassword):
        check_password(password, name="rita")


@pytest.mark.parametrize(
    "password", ["grey otters swim upstream", "k3#fPq9!zLw2", "пароль для реестра", "password of the otter"]
)
def test_check_password_takes__what_nobody_guesses(password: str) -> None:
    check_password(password, name="rita")


async def test_verify_password_knows_its_own__however_letters_are_composed() -> None:
    kept = await hash_password("caf\N{LATIN SMALL LETTER E WITH ACUTE} at the corner")
    assert await verify_password("cafe\N{COMBINING ACUTE ACCENT} at the corner", kept)
    assert not await verify_password("cafe at the corner", kept)
    assert not await verify_password("nobody", None), "the password of the hash for nobody opens nothing"
    assert not await verify_password("anything", "no hash at all")


async def test_hash_is_outdated__when_its_parameters_are_not_the_present_ones() -> None:
    assert not is_outdated(await hash_password("grey otters swim upstream"))
    assert is_outdated(PasswordHasher(time_cost=2, memory_cost=8192).hash("grey otters swim upstream"))


def test_hasher_has_the_parameters_that_the_library_recommends() -> None:
    recommended = PasswordHasher()
    assert (IN_USE.time_cost, IN_USE.memory_cost, IN_USE.parallelism, IN_USE.type) == (
        recommended.time_cost,
        recommended.memory_cost,
        recommended.parallelism,
        recommended.type,
    )
    assert IN_USE.memory_cost >= 64 * 1024


async def test_hashing_sends_people_away__when_too_many_wait() -> None:
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash("x")
    tries = [verify_password("x", quick) for _ in range(HASHES_WAITING + 5)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(isinstance(outcome, RegistryBusy) for outcome in outcomes) == 5
    assert outcomes.count(True) == HASHES_WAITING
