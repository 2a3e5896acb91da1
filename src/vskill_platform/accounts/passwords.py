"""Passwords: what may be one, and the slow hash that is kept of it.

Hashing takes memory and time by design. It happens in threads of its own, a few at once, and who comes when too many wait is sent
away for a moment: a flood of sign-ins cannot take the machine.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from vskill_platform import metrics
from vskill_platform.accounts.common_passwords import COMMON, COMMON_WORDS
from vskill_platform.domain.errors import RegistryBusy, WeakPassword

T = TypeVar("T")
MIN_CHARS, MAX_CHARS = 12, 256
MIN_DIFFERENT = 5
HASHES_AT_ONCE = 2
HASHES_WAITING = 50
HASHER = PasswordHasher()
"""Argon2id with the parameters that the library recommends; a hash made with others is made anew when it is used."""
_LETTERS = re.compile(r"[^a-z]+")


class _Hashing:
    """The threads that hash, and how many calls are in them or wait for them."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(HASHES_AT_ONCE, thread_name_prefix="password")
        self._calls = 0

    async def run(self, work: Callable[[], T]) -> T:
        """Do the work when it is its turn. Raises RegistryBusy where too much of it waits."""
        if self._calls >= HASHES_WAITING:
            raise RegistryBusy("Too many people sign in at this moment. Try again in a few seconds.", retry_after_s=5)
        self._calls += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._calls -= 1


_hashing = _Hashing()


def check_password(password: str, *, name: str) -> None:
    """Raise WeakPassword for one that is short, that everybody tries first, or that has the login name in it."""
    if not MIN_CHARS <= len(password) <= MAX_CHARS:
        raise WeakPassword(f"A password has {MIN_CHARS} to {MAX_CHARS} characters. A few words in a row do well.")
    plain = _normal(password).casefold()
    if name and name.casefold() in plain:
        raise WeakPassword("The password has the login name in it. Choose one that has not.")
    if plain in COMMON or len(set(plain)) < MIN_DIFFERENT or _is_common_words(plain):
        raise WeakPassword("This password is among those that are tried first. Choose one that nobody would guess.")


def _is_common_words(plain: str) -> bool:
    """Whether the letters are only words that everybody tries, with digits and signs among them."""
    words = [word for word in _LETTERS.split(plain) if word]
    return bool(words) and all(word in COMMON_WORDS or _is_repeated(word) for word in words)


def _is_repeated(word: str) -> bool:
    """Whether a word is a common one several times."""
    return any(len(word) % len(one) == 0 and word == one * (len(word) // len(one)) for one in COMMON_WORDS)


async def hash_password(password: str) -> str:
    """What is kept of a password. It says how it was made, so that it can be made better later."""
    return await _hashing.run(lambda: HASHER.hash(_normal(password)))


async def verify_password(password: str, password_hash: str | None) -> bool:
    """Whether a password is the one of a hash. Without a hash it takes as long, and the answer is no."""
    given = _normal(password[: MAX_CHARS + 1])
    is_right = await _hashing.run(lambda: _verify(given, password_hash or _nobodys_hash()))
    metrics.PASSWORD_CHECKS.labels("right" if is_right and password_hash else "wrong").inc()
    return is_right and password_hash is not None


def is_outdated(password_hash: str) -> bool:
    """Whether a hash was made with other parameters than are used now."""
    return HASHER.check_needs_rehash(password_hash)


def _verify(password: str, password_hash: str) -> bool:
    try:
        return HASHER.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def _nobodys_hash() -> str:
    """A hash that nobody has the password of, so that whoever names an account that is not there waits like everybody."""
    return _hash_of_nobody(HASHER)


@cache
def _hash_of_nobody(hasher: PasswordHasher) -> str:
    return hasher.hash("nobody")


def _normal(password: str) -> str:
    """One form for one password, however a keyboard composes its letters."""
    return unicodedata.normalize("NFKC", password)
