"""Reports what should not leave the machine, by the names that shell code has for it."""

from __future__ import annotations

from vskill_platform.scanning.tier1.code.sending import Channel, Leak, leaks
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call
from vskill_platform.scanning.tier1.code.shell.values import Value

__all__ = ["Channel", "notice_sent"]
_CHECKS = {
    Leak.SECRET: checks.SENDS_SECRET,
    Leak.ENVIRONMENT: checks.SENDS_ENVIRONMENT,
    Leak.COPY: checks.COPIES_SECRET,
    Leak.KEY: checks.SENDS_KEY,
    Leak.MACHINE: checks.SENDS_MACHINE,
    Leak.HOME: checks.SENDS_HOME,
    Leak.NAME: checks.LEAKS_BY_NAME,
}


def notice_sent(call: Call, sent: Value, host: str, channel: Channel) -> None:
    """Reports what should not leave for this host: nothing that comes from nowhere."""
    if not sent.origins:
        return
    for leak in leaks(sent.origins, host, channel):
        call.see(_CHECKS[leak])
