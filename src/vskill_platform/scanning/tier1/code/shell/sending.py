"""Reports what should not leave the machine, by the names that shell code has for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, kind_of_host
from vskill_platform.scanning.tier1.code.sending import Channel, Leak, has_field_of_key, leaks
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call
from vskill_platform.scanning.tier1.code.shell.values import Value

__all__ = ["Channel", "has_field_of_key", "notice_handed_over", "notice_sent"]
_ADDRESS = re.compile(r"[a-z][a-z0-9+]{1,9}://\S|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\Z|[\w-]+(?:\.[\w-]+)+:\d{2,5}\Z")
_TO_LOG_IN = re.compile(r"(?i)-.*(?:key|cert|ident|conf|cred|auth|token|netrc|pass|\bca|prof|env|secret|file|login)")
"""An option whose value is what a program logs in with, or is set up by."""
_NAMES = re.compile(r"(?i)-.*(?:audience|issuer|scope|origin|referer|namespace|schema)")
"""An option whose value is an address that nothing goes to."""
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


def notice_handed_over(call: Call) -> None:
    """Reports a program of which nothing is known that is handed what is secret, and an address to take it to."""
    given = list(_with_options(call.texts))
    hosts = [host_of(text) for option, text in given if _ADDRESS.match(text) and not _NAMES.match(option)]
    strangers = [host for host in hosts if kind_of_host(host) in {HostKind.NAMED, HostKind.THROWAWAY}]
    if not strangers:
        return
    notice_sent(call, call.stdin, strangers[0], Channel.BODY)
    for option, text in given:
        if text and not _ADDRESS.match(text) and not _TO_LOG_IN.match(option):
            notice_sent(call, call.machine.files.read(text), strangers[0], Channel.BODY)


def _with_options(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Each argument with the option that it may be a value of: the last one before it."""
    option = ""
    for text in texts:
        if text.startswith("-"):
            option, _, value = text.partition("=")
            yield option, value
        else:
            yield option, text
