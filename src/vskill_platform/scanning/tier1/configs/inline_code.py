"""Code in another language inside a command line, judged by the words in it."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.configs.hosts import is_local

_ADDRESS = re.compile(r"(?i)\b(?:https?|wss?|ftp)://[^\s\"'`<>|;)]+")
_NETWORK = re.compile(
    r"(?i)\b(?:urllib|requests|httpx|aiohttp|http\.client|socket|fetch\s*\(|axios|net/http|open-uri|lwp|xmlhttprequest|"
    r"require\(\s*[\"'](?:node:)?(?:https?|net|dgram|tls)|file_get_contents\(\s*[\"']http|curl_exec|webclient|"
    r"invoke-webrequest|invoke-restmethod|iwr|irm)"
)
_RUNS = re.compile(
    r"(?i)\b(?:exec|eval|system|popen|execSync|spawn|subprocess|child_process|new\s+Function|iex|invoke-expression|"
    r"do\s+shell\s+script|__import__)\b"
)
_READS = re.compile(
    r"(?i)\bopen\(|read_text|readFileSync|readFile\(|File\.read|get-content|\bos\.environ\b|process\.env\b"
)
_DECODES = re.compile(
    r"(?i)b64decode|atob\s*\(|Buffer\.from\([^)]{0,400}base64|fromhex|frombase64string|unhexlify|base64_decode|decode64|"
    r"zlib\.decompress|marshal\.loads"
)


def uses_network(code: str) -> bool:
    """Whether the code talks to other machines."""
    return _NETWORK.search(code) is not None and not is_all_local(code)


def runs_what_it_gets(code: str) -> bool:
    """Whether the code runs something that it downloads or decodes."""
    return _RUNS.search(code) is not None and (uses_network(code) or _DECODES.search(code) is not None)


def sends_files(code: str) -> bool:
    """Whether the code reads files and talks to other machines."""
    return _READS.search(code) is not None and uses_network(code)


def is_all_local(text: str) -> bool:
    """Whether there are addresses in the text, and each of them leads to this machine."""
    addresses = _ADDRESS.findall(text)
    return bool(addresses) and all(is_local(address) for address in addresses)


def is_address(word: str) -> bool:
    """Whether a word is an address on the network."""
    return _ADDRESS.match(word) is not None
