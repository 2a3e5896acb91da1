"""The e-mail address that somebody leaves with a submission. It is kept in a record of its own, so that it can be erased.

It is told to whoever left it and to the operator; it is no field of anything that others see.
"""

from __future__ import annotations

from vskill_platform.domain.records import Record

CONTACT_PREFIX = "contact:"


class Contact(Record, frozen=True, kw_only=True, rename="camel"):
    """An address, the account that left it (none for somebody who was not signed in), and when."""

    address: str
    account: str | None = None
    created_at: str

    def __repr__(self) -> str:
        """Without the address: what is shown of a record by accident must not tell it."""
        return f"Contact(account={self.account!r}, created_at={self.created_at!r})"


def contact_key(submission_id: str) -> str:
    """The key of the address that was left with a submission."""
    return f"{CONTACT_PREFIX}{submission_id}"


def same_address(first: str, second: str) -> bool:
    """Whether two addresses are one, however they are cased."""
    return first.strip().casefold() == second.strip().casefold()
