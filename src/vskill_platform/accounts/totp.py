"""One-time codes of an app (RFC 6238), and recovery codes for who has lost it. Each is taken once."""

from __future__ import annotations

import base64
import re
import secrets

import msgspec
import pyotp

from vskill_platform.domain.account import Account, OneTimeCodes
from vskill_platform.domain.errors import CodeRefused
from vskill_platform.domain.secrets import equal_secrets, hash_secret

STEP_S = 30
STEPS_AROUND = 1
"""How many steps a clock may be off, in either direction."""
RECOVERY_CODES = 10
_RECOVERY_BYTES = 10
_DIGITS = re.compile(r"[0-9]{6}")


def new_codes() -> OneTimeCodes:
    """A second factor that nobody has shown a code of yet."""
    return OneTimeCodes(secret=pyotp.random_base32())


def setup_address(account: Account, codes: OneTimeCodes, *, site: str) -> str:
    """What an app reads from the picture: `otpauth://…`."""
    return pyotp.TOTP(codes.secret).provisioning_uri(name=account.name, issuer_name=site)


def new_recovery_codes() -> list[str]:
    """Codes of 80 random bits, to be shown once and kept by their hashes."""
    return [_spell(secrets.token_bytes(_RECOVERY_BYTES)) for _ in range(RECOVERY_CODES)]


def _spell(random: bytes) -> str:
    text = base64.b32encode(random).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def with_recovery_codes(codes: OneTimeCodes, given: list[str]) -> OneTimeCodes:
    """The second factor with these recovery codes in place of those before."""
    return msgspec.structs.replace(codes, recovery_hashes=tuple(hash_secret(_bare(code)) for code in given))


def take_code(codes: OneTimeCodes, given: str, *, now_ms: int) -> OneTimeCodes:
    """The second factor after a code was taken: the same code is worth nothing any more. Raises CodeRefused."""
    bare = _bare(given)
    if _DIGITS.fullmatch(bare):
        return _take_step(codes, bare, now_ms=now_ms)
    digest = hash_secret(bare)
    left = tuple(one for one in codes.recovery_hashes if not equal_secrets(one, digest))
    if len(left) == len(codes.recovery_hashes):
        raise CodeRefused("That is no code of this account, or it was used already.")
    return msgspec.structs.replace(codes, recovery_hashes=left)


def _take_step(codes: OneTimeCodes, given: str, *, now_ms: int) -> OneTimeCodes:
    app, now = pyotp.TOTP(codes.secret, interval=STEP_S), now_ms // 1000 // STEP_S
    for step in range(now - STEPS_AROUND, now + STEPS_AROUND + 1):
        if step > codes.last_step and equal_secrets(app.at(step * STEP_S), given):
            return msgspec.structs.replace(codes, last_step=step)
    raise CodeRefused("The code is wrong, is over, or was used already. Wait for the next one in your app.")


def _bare(code: str) -> str:
    return "".join(letter for letter in code.lower() if letter.isalnum())[:64]
