"""What a skill makes machines trust that is not the user's: keys that may log in, and authorities that may read along.

Both are ordinary where the user brings them. What counts is that the skill brings them itself: a public key in full, whose
other half somebody else has, or a certificate together with the proxy that all traffic is to go through.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vskill_platform.scanning.tier1.configs.hosts import is_in_documentation, is_local, is_placeholder, is_private
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape, suffix_of
from vskill_platform.scanning.tier1.languages import MAY_BE_COMMANDS, language_of_fence
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of

OWN_KEY = "trusts_own_login_key"
READS_ALONG = "trusts_own_proxy"
CHECKS = frozenset([OWN_KEY, READS_ALONG])
_KIND = r"(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-nistp\d{3}|sk-(?:ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com)"
_KEY = re.compile(rf"{_KIND}[ \t]{{1,4}}(AAAA[A-Za-z0-9+/]{{56,2000}})")
_NO_KEY = re.compile(r"(?i)example|your|replace|placeholder|dummy|x{4}|0{5}|A{6}|(?:abc|123)[a-z0-9]*(?:xyz|789)")
_WORD = re.compile(r"[\w.-]{5,100}")
"""What may be the name of a file, or its end."""
_RUN = re.compile(r"([A-Za-z0-9+/])\1{10}")
"""A run of one letter. Nobody finds the other half of a short key that has one; a long key can be made to have it."""
LONGEST_SHORT_KEY = 80
_HOST = re.compile(r"[\"'`]?(?:(?:[\w-]+\.)+[\w-]+(?:,\S+)?|\[[^\]\s]+\](?::\d+)?|\|1\|\S+)")
"""What stands before a key in a list of known hosts: the key is then the server's and lets nobody in."""
_LETS_IN = re.compile(
    r"(?i)TrustedUserCAKeys|authorized_keys2?\b|ssh[_-]authorized[_-]keys|\bauthorized_key\b|AuthorizedKeysFile|\bssh-import-id\b|"
    r"aws_key_pair|(?:digitalocean|hcloud|linode|vultr|scaleway)_ssh_?key|admin_ssh_key|\bssh[-_]keys\b|sshPublicKeys|sshKeys"
)
_MAKES_TRUSTED = re.compile(
    r"(?i)\bupdate-ca-certificates\b|\bupdate-ca-trust\b|\btrust\s+anchor\b|\badd-trusted-cert\b|\bNODE_EXTRA_CA_CERTS\b|"
    r"\bREQUESTS_CA_BUNDLE\b|\bCURL_CA_BUNDLE\b|\bSSL_CERT_FILE\b|\bGIT_SSL_CAINFO\b|\bPIP_CERT\b|\bhttp\.sslCAInfo\b|"
    r"\bkeytool\s[^\n]{0,120}-import|\bcertutil\s[^\n]{0,40}-(?:A|addstore)\b|\bImport-Certificate\b"
)
_PROXY = re.compile(
    r"(?i)(?:\b(?:https?|all)_proxy\b|\bhttps?\.proxy\b|\bglobal\.proxy\b|\bconfig\s+set\s+(?:https-)?proxy\b|"
    r"\bAcquire::https?::Proxy\b|--proxy-server)[\"']?[ \t]*[:=,]?[ \t]*[\"']?((?:https?|socks\w{0,2})://[^\s\"'\\,;]{1,300})"
)
_CERTIFICATE = "-----BEGIN CERTIFICATE-----"
_FETCHED_CERTIFICATE = re.compile(
    r"(?i)\b(?:curl|wget|ADD)\b[^\n]{0,200}https?://[^\s\"'$]{1,200}\.(?:crt|cer|pem|der)\b"
)
_CERTIFICATE_SUFFIXES = frozenset(["crt", "cer", "der"])
_KEY_SIGN = Sign(rf"{_KIND}[ \t]+AAAA[A-Za-z0-9+/]{{56}}")
_PROXY_SIGN = Sign(
    r"(?i)https?_proxy|all_proxy|https?\.proxy|global\.proxy|set\s+(?:https-)?proxy|::Proxy|proxy-server"
)


class Piece(NamedTuple):
    """What somebody sets a machine up with: a file, or a fenced block of a text."""

    file: FileUnderScan
    text: str
    first_line: int

    def sighting(self, check: str, at: int) -> Sighting:
        """What is reported at a place of it."""
        before = self.text[:at]
        start = before.rfind("\n") + 1
        line = self.text[start : start + 500].partition("\n")[0]
        number = self.first_line + before.count("\n")
        return Sighting(check, self.file.path, number, at - start + 1, make_excerpt(line), "trust")


def find_trust(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Keys and proxies of somebody else's that the skill has machines trust."""
    signs = frozenset[Sign]().union(*(signs_of(file) for file in skill.files if file.shape is Shape.TEXT))
    if _KEY_SIGN in signs or _PROXY_SIGN in signs:
        pieces = [piece for file in skill.files if file.shape is Shape.TEXT for piece in _pieces(file)]
        yield from _keys_let_in(pieces)
        yield from _proxies_trusted(skill, pieces)


def _pieces(file: FileUnderScan) -> Iterator[Piece]:
    """What sets machines up. Programs that write keys are followed by the readers of their languages."""
    if file.is_markdown:
        for block in file.document.fences:
            if language_of_fence(block.language) in MAY_BE_COMMANDS:
                yield Piece(file, block.text, block.first_line)
    elif file.language in MAY_BE_COMMANDS:
        yield Piece(file, file.text, 1)


def _keys_let_in(pieces: Sequence[Piece]) -> Iterator[Sighting]:
    """A key in full where it is let in: in the same piece, or in one that names the file that the key stands in."""
    named = {word for piece in pieces if _LETS_IN.search(piece.text) for word in _WORD.findall(piece.text)}
    for piece in pieces:
        at = _own_key_at(piece.text)
        name = piece.file.path.rpartition("/")[2]
        is_named = not piece.file.is_markdown and not named.isdisjoint(_WORD.findall(name)[-1:])
        if at is not None and (is_named or _LETS_IN.search(piece.text) or _LETS_IN.search(name)):
            yield piece.sighting(OWN_KEY, at)


def _own_key_at(text: str) -> int | None:
    """Where there is a whole key that is not the one of a known host and not shortened."""
    for found in _KEY.finditer(text):
        before = text[max(0, found.start() - 300) : found.start()].rpartition("\n")[2].split()
        is_host = bool(before) and _HOST.fullmatch(before[-1]) is not None
        if not is_host and not text.startswith(("...", "…"), found.end()) and is_key(found[1]):
            return found.start()
    return None


def is_key(blob: str) -> bool:
    """Whether it may be a key: one that a server can use, whatever it spells, or one that does not say that it is none."""
    if len(blob) <= LONGEST_SHORT_KEY and _RUN.search(blob):
        return False
    return _is_whole(blob) or _NO_KEY.search(blob[20:]) is None


def _is_whole(blob: str) -> bool:
    """Whether the fields of a key fill it up, each as long as it says."""
    try:
        data = b64decode(blob + "=" * (-len(blob) % 4))
    except Error:
        return False
    at = 0
    while at + 4 <= len(data):
        at += 4 + int.from_bytes(data[at : at + 4], "big")
    return at == len(data)


def _proxies_trusted(skill: SkillUnderScan, pieces: Sequence[Piece]) -> Iterator[Sighting]:
    """A fixed proxy outside, where the skill also makes a certificate trusted that it brings."""
    trusting = [piece for piece in pieces if _MAKES_TRUSTED.search(piece.text)]
    if not trusting or not (
        _ships_certificate(skill) or any(_FETCHED_CERTIFICATE.search(each.text) for each in trusting)
    ):
        return
    for piece in pieces:
        fixed = next((found for found in _PROXY.finditer(piece.text) if _is_outside(found[1])), None)
        if fixed is not None:
            yield piece.sighting(READS_ALONG, fixed.start())


def _is_outside(address: str) -> bool:
    return not (is_local(address) or is_placeholder(address) or is_private(address) or is_in_documentation(address))


def _ships_certificate(skill: SkillUnderScan) -> bool:
    return any(suffix_of(file.path) in _CERTIFICATE_SUFFIXES or _CERTIFICATE in file.text for file in skill.files)
