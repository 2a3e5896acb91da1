"""Addresses that a skill speaks of once and never again, and what it has the agent do with them.

The service that a skill is for is named in its description, in its examples, in its scripts. An address that comes up in a
single sentence, belongs to nobody known, and is to be given something is what a planted line looks like, whatever its words
and its language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from vskill_platform.scanning.limits import MATCH_LIMIT
from vskill_platform.scanning.tier1.code.hosts import HostKind, domain_of, host_of, is_named, kind_of_host, owner_of
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import Shape
from vskill_platform.scanning.tier1.markdown.document import BlockKind
from vskill_platform.scanning.tier1.matching import line_around
from vskill_platform.scanning.tier1.meaning.statements import Text
from vskill_platform.scanning.tier1.patterns import Span, compile_pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, LimitHit, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import View, once_a_skill

GIVES = "gives_to_a_stranger"
MAY_GIVE = "may_give_to_a_stranger"
CHECKS = frozenset([GIVES, MAY_GIVE])
MOST_STRANGERS = 5_000
"""Addresses of strangers in a text that are looked at."""
_SHELLS = frozenset(["bash", "sh", "shell", "zsh", "console", ""])
OTHER_MENTIONS = 2
"""How often the domain may come up in the whole skill to be a stranger's."""
PLACEHOLDERS = frozenset(
    [
        "example.com",
        "example.org",
        "example.net",
        "your-domain.com",
        "yourdomain.com",
        "domain.com",
        "company.com",
        "mycompany.com",
        "yourcompany.com",
        "your-company.com",
        "acme.com",
        "corp.com",
    ]
)
_RECEIVE_NOTHING = frozenset(["users.noreply.github.com", "readthedocs.io", "readthedocs.org"])
"""Hosts of documents and of addresses that nobody reads."""
_ADDRESS = (
    r"(?i)(?:https?|ftps?|wss?|sftp|ssh|git|tcp|udp|nats|mqtts?|hxxps?)://[^\s)>\]\"'`|]+|"
    r"[a-z0-9._%+{}<>-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}"
    r"|\b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|sh|xyz|site|online|top|cc|me|co|ai|ru|cn|example|"
    r"test)/[^\s)>\]\"'`|]+"
    r"|\b(?:[a-z0-9-]+\.){2,}(?:com|net|org|io|dev|app|sh|xyz|site|online|top|cc|me|co|ai|ru|cn|example|test)\b"
)
_HANDED_ON = (
    rb"\s--(?:to|post|http-post|sink|send|send-to|upload|upload-to|ship|ship-to|report-to|notify|callback|beacon|forward|forward-to|"
    rb"export|mirror|collector|exfil)[ =][\"']?[a-z]{2,5}://"
)
"""What a program is told to take something to."""
_SENDING_COMMAND = re.compile(
    rb"\b(?i:curl)\b[^`\n|]{0,200}(?:\s-[a-zA-Z]{0,8}[dFT]\b|--data|--form|--upload-file|-X ?(?i:POST|PUT))|"
    rb"\b(?i:git)\b[^`\n]{0,80}\b(?:push|remote add)\b"
    rb"|(?<!\.)\b(?:scp|rsync|rclone|sftp|nc|ncat)\b(?!\.)|\b(?i:wget)\b[^`\n]{0,80}--post|\b(?i:ssh)\s[^`\n]{0,60}-[A-Za-z]*R\b|"
    + _HANDED_ON
)
_CARRIES = re.compile(
    rb"(?i)[?&/][\w.-]{0,30}=(?:<|\{|\$\{|%7B|\[|%s|\.\.\.)[^\n>}\]&]{0,60}?(?:(?P<personal>name|mail|dob|birth|phone|address|text|message|"
    rb"content|conversation|transcript|prompt|history|summary|diagnos|medic|reason|card|cvc|iban|account|password|token|secret|"
    rb"answer|question|sentence|notes?|document|body|patient|user|mood|salary|prompt)\w*)"
)
"""A query whose value is to be filled in with what somebody said, or who they are."""
MOST_CARRIED = 400
"""Bytes of an address in which it is looked for what it carries."""
_FILE_SENT = re.compile(
    rb"\b(?i:curl)\b(?:\\\n|[^\n|]){0,300}?(?:\s(?:-[a-zA-Z]{0,8}F|--form)[ =]?[\"']?[\w.\[\]-]{1,30}=[@<]|"
    rb"\s(?:-[a-zA-Z]{0,8}T|--upload-file)[ =]?[\w\"'./~$*-]|"
    rb"\s(?:-[a-zA-Z]{0,8}d|--data(?:-binary|-raw)?)[ =]?[\"']?@)(?:\\\n|[^\n]){0,300}"
)
"""A command that uploads a file."""
_ABOUT = "secret|conversation|valuables|inner-prompt|interest"
_OF_PEOPLE = "personal|in-their-name|inner-prompt"
_COVER = "conceal|unattended|always|deceive|claims|no-choice"


_LOGS_IN = re.compile(
    rb"(?i)(?:authorization|api-?key|token|\s-u\b|--user\b)[^\n$]{0,40}\$(?:\{|env:)?(?P<key>[a-z][a-z0-9_]{3,60})"
)
"""A command that says with a variable who it is."""
SHORTEST_OWNER = 4
_WRITE_TO_US = re.compile(
    rb"(?i)\bsend (?:me|us|them|the (?:authors?|maintainers?|team)) (?:an? )?(?:private )?"
    rb"(?:e-?mails?|mails?|messages?|notes?)\b|"
    rb"\b(?:send|report|submit|mail|e-?mail)s? (?:any |all |your |the )?(?:comments|bugs?(?: reports?)?|feedback|questions|"
    rb"suggestions|patches)\b"
)
"""An invitation to write, which gives nobody anything but what the reader wants to say."""
_RECEIVER = re.compile(rb"\s+(?:\w+\s+){0,3}?(?:to|into|on)\s+[`\[*]{0,3}[\w .-]{0,40}\]?\s*[(<`]{1,2}https?://")
"""How it goes on where something is given to somebody who is linked by name: `uploaded to [Somebody](https://..`."""
_OF_SOMETHING = re.compile(
    rb"\b(?:of|behind|underlying) (?:(?:the|our|an?|its|underlying|official) ){0,2}\[[^\]\n]{1,60}\]\($"
)
"""A link that only says what something is of: `the behaviour of the [client](https://..`."""


class Address(NamedTuple):
    """An address in a text, and the host it leads to; empty where there is none to be known."""

    span: Span
    host: str


class Mentions:
    """How often each domain comes up in the whole skill, and in which of its files there are strangers."""

    def __init__(self, skill: SkillUnderScan) -> None:
        self._described = skill.frontmatter.text if skill.frontmatter else ""
        self._hosts: dict[str, Counter[str]] = {}
        self._domains = Counter[str]()
        for file in skill.files:
            if file.shape is Shape.TEXT:
                self._count(file)
        self._strangers: dict[str, bool] = {}

    def is_stranger(self, host: str) -> bool:
        """Whether the skill speaks of this host, which belongs to nobody known, here and hardly anywhere else."""
        if host not in self._strangers:
            self._strangers[host] = self._is_stranger(host)
        return self._strangers[host]

    def may_be_in(self, view: View) -> bool:
        """Whether a view can have an address of a stranger. No address goes over the end of a line."""
        hosts = self._hosts.get(view.file)
        if hosts is None or not view.has_lines_of_file:
            return True
        return any(map(self.is_stranger, hosts))

    def _count(self, file: FileUnderScan) -> None:
        hosts = Counter(address.host for address in _addresses(file.encoded))
        self._hosts.setdefault(file.path, Counter()).update(hosts)
        for host, times in hosts.items():
            self._domains[domain_of(host)] += times

    def _is_stranger(self, host: str) -> bool:
        domain = domain_of(host)
        if domain in PLACEHOLDERS or not _RECEIVE_NOTHING.isdisjoint([domain, host]):
            return False
        if kind_of_host(host) not in (HostKind.NAMED, HostKind.THROWAWAY):
            return False
        return self._domains[domain] <= OTHER_MENTIONS and not is_named(domain, self._described)


mentions_of = once_a_skill(Mentions)


def strangers_in(text: Text, view: View, mentions: Mentions) -> Iterator[Sighting | LimitHit]:
    """Sentences that have something given to an address which the skill does not otherwise speak of."""
    addresses = _addresses(text.data) if mentions.may_be_in(view) else iter(())
    strangers = (
        address
        for address in addresses
        if mentions.is_stranger(address.host) and not _OWN_TOPIC.match(text.data, address.span.start)
    )
    for address in islice(strangers, MOST_STRANGERS):
        around = text.sentence(address.span.start)
        sentence = text.data[around.start : around.end]
        is_command = _SENDING_COMMAND.search(text.words, around.start, around.end) is not None
        is_command = is_command and not _has_account(sentence, address.host)
        if _carries_data(text.data, address):
            yield _sighting(GIVES, view, address)
        elif is_command or (text.says_done("send", around) and not _names_something_else(text, address, around)):
            is_letter = _WRITE_TO_US.search(sentence) is not None
            is_grave = is_command or text.says(_ABOUT, around) or (not is_letter and _is_covered(text, address))
            yield _sighting(GIVES if is_grave else MAY_GIVE, view, address)
    if next(strangers, None) is not None:
        yield LimitHit(MATCH_LIMIT)


def _is_covered(text: Text, address: Address) -> bool:
    """Whether the sentence or one beside it keeps what is given quiet, has no one asked, or speaks of people."""
    wide = text.sentence(address.span.start, sentences=2)
    return text.says(_COVER, wide) or text.says(_OF_PEOPLE, wide)


def _names_something_else(text: Text, address: Address, around: Span) -> bool:
    """Whether an address is where nothing goes: one that names what something is of, or before somebody else who is given it."""
    first = next(text.places_within("send", around), None)
    if first is None or first.start < address.span.end:
        return first is not None and _OF_SOMETHING.search(text.data[around.start : address.span.start]) is not None
    return _RECEIVER.match(text.data, first.end, around.end) is not None


def _carries_data(data: bytes, address: Address) -> bool:
    """Whether what somebody said is to be filled into an address: in that of a picture once, in another one twice."""
    here = data[address.span.start : address.span.start + MOST_CARRIED].partition(b"\n")[0]
    filled = {found["personal"].lower() for found in _CARRIES.finditer(here)}
    return len(filled) > 1 or (bool(filled) and data[max(0, address.span.start - 2) : address.span.start] == b"](")


def uploads_to_strangers(file: FileUnderScan, mentions: Mentions) -> Iterator[Sighting]:
    """Commands in fenced blocks that upload a file to an address which the skill does not otherwise speak of."""
    for block in file.document.set_apart:
        if block.kind is BlockKind.FENCE and block.language in _SHELLS and "curl" in block.text:
            data = block.text.encode()
            line, counted = block.first_line, 0
            for found in _FILE_SENT.finditer(data):
                line, counted = line + data.count(b"\n", counted, found.start()), found.start()
                for address in _addresses(found[0]):
                    if mentions.is_stranger(address.host) and not _has_account(found[0], address.host):
                        excerpt = make_excerpt(file.lines[line - 1])
                        yield Sighting(GIVES, file.path, line, 1, excerpt, "raw", f"{address.host} comes up only here")


def _has_account(command: bytes, host: str) -> bool:
    """Whether a command logs in with a key that is named after the owner of the host, as the key of a service is."""
    owner = owner_of(domain_of(host))
    keys = (found["key"].decode().lower().split("_") for found in _LOGS_IN.finditer(command))
    return len(owner) >= SHORTEST_OWNER and any(owner in words for words in keys)


_OWN_TOPIC = re.compile(rb"(?:https?://)?ntfy\.sh/(?:\$|<|\{|\[|(?i:your|my|topic|some))")
"""A notice to the user's own telephone, by a name that they choose."""


def _addresses(data: bytes) -> Iterator[Address]:
    for span in compile_pattern(_ADDRESS).spans(data):
        written = data[span.start : span.end].decode(errors="ignore")
        host = host_of(written.rpartition("@")[2] if "@" in written and "://" not in written else written)
        yield Address(span, host)


def _sighting(check: str, view: View, address: Address) -> Sighting:
    place = view.locate(address.span.start)
    start, end = line_around(view.data, address.span)
    before = view.data[start : address.span.start].decode(errors="ignore")
    line = before + view.data[address.span.start : end].decode(errors="ignore")
    excerpt = make_excerpt(line, start=len(before))
    return Sighting(
        check, view.file, place.line, place.column, excerpt, view.layer, f"{address.host} comes up only here"
    )
