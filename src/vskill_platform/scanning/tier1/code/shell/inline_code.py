"""Code of other languages that stands inside a command, such as `python3 -c '...'`: looked at by its words.

It is short by nature. What is longer than a few pages is looked at as far as that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, kind_of_address
from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.sending import Channel
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call
from vskill_platform.scanning.tier1.code.shell.escapes import decode_escapes
from vskill_platform.scanning.tier1.code.shell.sending import notice_sent
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, NOWHERE, Origin, Source, Value, joined

LONGEST = 20_000
_FETCHES = re.compile(
    r"urlopen|urlretrieve|requests\.(?:get|post|put)|httpx\.|http\.client|LWP::|HTTP::Tiny|Net::HTTP|open-uri|"
    r"URI\.open|fetch\(|axios|https?(?:['\"]\s?\))?\.(?:get|request)\(|ftplib|smtplib|"
    r"file_get_contents\(\s*['\"]https?:|curl_exec|DownloadString|DownloadFile|DownloadData|Invoke-WebRequest|"
    r"Invoke-RestMethod|\b(?:iwr|irm)\b|WebClient|"
    r"socket\.(?:socket|create_connection)|IO::Socket|TCPSocket|fsockopen|net\.(?:connect|createConnection|Socket)|"
    r"Net\.Sockets|\b(?:curl|wget)\s",
    re.IGNORECASE,
)
_RUNS = re.compile(
    r"\bexec\s*\(|\beval\b|\bcompile\s*\(|\bos\.(?:system|popen|exec\w*|spawn\w*)|subprocess|__import__|pty\.spawn|"
    r"\bsystem\s*\(|\bsystem\b|new Function|child_process|"
    r"vm\.run|shell_exec|passthru|proc_open|popen|\biex\b|Invoke-Expression|Start-Process|instance_eval|do shell "
    r"script|(?<![.\w])load\s*\(|loadstring",
    re.IGNORECASE,
)
_DECODES = re.compile(
    r"b64decode|b32decode|b85decode|a85decode|fromhex|unhexlify|decodebytes|codecs\.decode|zlib\.decompress|"
    r"marshal\.loads|atob\(|Buffer\.from\([^)]{0,300}(?:base64|hex)|"
    r"decode64|unpack\(?['\"\s]*[umH]|MIME::Base64|decode_base64|base64_decode|gzinflate|str_rot13|"
    r"FromBase64String|pack\s*\(?\s*['\"]H",
    re.IGNORECASE,
)
_SOCKET = re.compile(
    r"socket\.socket|create_connection|IO::Socket|use Socket|TCPSocket|fsockopen|net\.(?:connect|createConnection|"
    r"Socket)|Net\.Sockets\.TCPClient|/inet/tcp|socket\.tcp",
    re.IGNORECASE,
)
_SHELL = re.compile(
    r"dup2|pty\.spawn|/bin/(?:ba|z|da)?sh|cmd(?:\.exe)?\b|subprocess|\bexec\b|GetStream|popen|proc_open|shell_exec|"
    r"spawn\(",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(
    r"dict\(\s*os\.environ|os\.environ\s*[),}]|os\.environ\.(?:items|copy)|process\.env\s*[),}\]]|\bENV\.to_|"
    r"%ENV\b|getenv\(\s*\)",
    re.IGNORECASE,
)
_LOOKS_UP = re.compile(r"\bgethostbyname|\bgetaddrinfo|\bdns\.(?:resolve|lookup)|\bResolve-DnsName", re.IGNORECASE)
_LOGS_IN = re.compile(r"authorization|bearer|\bauth\b|headers|api[-_]?key", re.IGNORECASE)
_QUOTED = re.compile(r"['\"]([^'\"\n]{0,200})['\"]")
_ADDRESS = re.compile(r"https?://[^\s'\"`)>]{3,300}", re.IGNORECASE)
_DIALOG = re.compile(r"display dialog[\s\S]{0,600}(?:hidden answer|password)", re.IGNORECASE)
_SHELL_SCRIPT = re.compile(r'do shell script\s+"((?>[^"\\]+|\\.){1,2000})"', re.IGNORECASE)
_NUMBER = re.compile(r"['\"]?((?:\d{1,3}\.){3}\d{1,3}|[\w-]+(?:\.[\w-]+)+)['\"]?\s*,\s*['\"]?\d{2,5}")


class _Said(NamedTuple):
    """`shell_at` is the address that a shell is handed to, empty where it is not told, and None where none is."""

    shell_at: str | None
    addresses: tuple[str, ...] = ()
    fetches: bool = False
    runs: bool = False
    decodes: bool = False
    leaks_by_name: bool = False


def notice_inline_code(call: Call, code: Value, language: str) -> frozenset[Origin]:
    """Reports what the words of the code say together, and gives the origins of what it may print."""
    text = code.text[:LONGEST]
    if language == "osascript":
        _notice_applescript(call, text)
    shell_at, addresses, fetches, runs, decodes, leaks_by_name = _said(text)
    if shell_at is not None:
        call.see(checks.reverse_shell(shell_at))
        return NOWHERE
    if fetches and runs and (check := checks.runs_download(addresses)):
        call.see(check)
    if decodes and runs:
        call.see(checks.RUNS_DECODED)
    if fetches and _has_foreign(addresses):
        _notice_secrets(call, text)
        _notice_given(call, text, addresses)
    if leaks_by_name:
        call.see(checks.LEAKS_BY_NAME)
    origins = {Origin(Source.NETWORK, address) for address in addresses if fetches}
    return frozenset(origins | ({Origin(Source.DECODED, language)} if decodes else set()))


@lru_cache(maxsize=64)
def _said(text: str) -> _Said:
    """What the words of a piece of code say. Functions are run again and again, and hand over the same piece each time."""
    if _SOCKET.search(text) and _SHELL.search(text):
        found = _NUMBER.search(text)
        return _Said(shell_at=found[1] if found else "")
    fetches, runs, decodes = (pattern.search(text) is not None for pattern in (_FETCHES, _RUNS, _DECODES))
    leaks_by_name = _LOOKS_UP.search(text) is not None and _names_secret(text)
    return _Said(None, tuple(_ADDRESS.findall(text)), fetches, runs, decodes, leaks_by_name)


def _notice_applescript(call: Call, text: str) -> None:
    if _DIALOG.search(text):
        call.see(checks.ASKS_PASSWORD)
    for found in _SHELL_SCRIPT.finditer(text):
        call.machine.run_inner(decode_escapes(found[1]), stdin=NOTHING, at=call.at)


def _has_foreign(addresses: Sequence[str]) -> bool:
    return any(kind_of_address(address) is not HostKind.LOCAL for address in addresses)


def _notice_secrets(call: Call, text: str) -> None:
    if _ENVIRONMENT.search(text):
        call.see(checks.SENDS_ENVIRONMENT)
    if _names_secret(text):
        call.see(checks.SENDS_SECRET)


def _notice_given(call: Call, text: str, addresses: Sequence[str]) -> None:
    """What the code is given as its input or its arguments: it sends that, or logs in with it."""
    channel = Channel.HEADER if _LOGS_IN.search(text) else Channel.BODY
    foreign = next(address for address in addresses if kind_of_address(address) is not HostKind.LOCAL)
    notice_sent(call, joined([call.stdin, *call.arguments], by=" "), host_of(foreign), channel)


def _names_secret(text: str) -> bool:
    return any(secret_at(quoted) for quoted in _QUOTED.findall(text))
