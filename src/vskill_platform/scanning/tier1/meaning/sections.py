"""What stands in one section of a text, taken together: something to fetch, a reason why one must, and the step that runs it.

Campaigns spread the three over a list, a code block and a note, so that no line is remarkable. The section is what a person
or an agent works through, so it is read as one, under the headings that it stands below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, kind_of_address
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.markdown.document import BlockKind, Section
from vskill_platform.scanning.tier1.meaning.section_signs import HINT, IS_FETCHED, sign, signs_in
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.text_patterns import TextPattern
from vskill_platform.scanning.tier1.views.glance import signs_of

LOCKED_ARCHIVE = "locked_archive_to_run"
FOREIGN_PREREQUISITE = "foreign_prerequisite"
CHECKS = frozenset([LOCKED_ARCHIVE, FOREIGN_PREREQUISITE])
LONGEST_SECTION = 60_000
MOST_PLACES = 200
_DEMANDING_TITLE = TextPattern(
    r"(?i)prerequisit|require|must|mandatory|before|voraussetz|requisit|prérequis|необходим|установк|必须|必須|前提|필수"
)
"""What a heading above says that makes everything below it a must."""
_LONG_HEADING = re.compile(r"\n {0,3}#[^\n]{390}")
_ARCHIVE_LINK = re.compile(rb"(?i)(?:https?://|\]\()[^\s)>\"'`]{3,300}\.(?:zip|rar|7z|tar\.gz|tgz|iso|cab)\b")
_FORGE = re.compile(r"(?i)https?://(?:www\.)?github\.com/([\w.-]+)/[\w.-]+")
_SOURCE = re.compile(r"(?i)/archive/(?:refs/(?:heads|tags)/)?[\w.-]+\.(?:zip|tar\.gz)$")
_OWNERS = (
    "cli microsoft google hashicorp docker kubernetes nodejs python astral-sh denoland oven-sh rust-lang golang aws azure "
    "git-for-windows homebrew koalaman jqlang burntsushi imagemagick ffmpeg btbn jgm ub-mannheim sharkdp junegunn "
    "golangci aquasecurity anchore hadolint plantuml wkhtmltopdf yt-dlp ggml-org ggerganov ollama grafana prometheus "
    "obsproject upx sqlitebrowser tesseract-ocr pandoc typst gohugoio terraform-linters mikefarah goreleaser "
    "open-telemetry apache nginx helm argoproj fluxcd istio cilium containerd moby etcd-io elastic redis mongodb "
    "cockroachdb clickhouse duckdb facebook vercel mozilla llvm neovim tmux nushell alacritty apple intel nvidia oracle "
    "openjdk adoptium graalvm gradle jetbrains kotlin scala elixir-lang erlang julialang ziglang swiftlang dart-lang "
    "flutter electron tauri-apps puppeteer seleniumhq mitmproxy wireshark nmap openssl openssh sigstore getsops filosottile "
    "caddyserver traefik minio pulumi opentofu gruntwork-io k3s-io rancher tailscale cloudflare"
)
_WELL_KNOWN_OWNERS = frozenset(_OWNERS.split())
_TO_READ = re.compile(rb"(?i)\n[ \t]*(?://|\*)[^\n]{0,120}\b(?:learn|read) more:? \Z")
"""A comment in code, up to the page that it sends its reader to."""
_SCHOOLS_AND_STATES = (".edu", ".gov", ".mil", ".int")
_SECOND_LEVEL = re.compile(r"\.(?:ac|edu|gov|gob|gouv|go)\.[a-z]{2}$")


class _Known(NamedTuple):
    """What a skill says of itself: what it is for does not come from elsewhere."""

    described: str

    def is_publisher(self, address: str) -> bool:
        """Whether an address is where everybody gets what is there, or the project's own that the skill is for."""
        if address.startswith("git+"):
            return kind_of_address(address[4:]) in (HostKind.VENDOR, HostKind.LOCAL, HostKind.REPOSITORY)
        plain = address.removeprefix("](").rstrip(").,;\"'`> \n")
        if "://" not in plain:
            return True
        forge = _FORGE.match(plain)
        if forge is not None:
            owner = forge[1].lower()
            names = "|".join({re.escape(owner), re.escape(owner.replace("-", "")), re.escape(owner.replace("-", " "))})
            return owner in _WELL_KNOWN_OWNERS or re.search(rf"\b(?:{names})\b", self.described) is not None
        if kind_of_address(plain) in (HostKind.VENDOR, HostKind.LOCAL):
            return True
        host = host_of(plain)
        return host.endswith(_SCHOOLS_AND_STATES) or _SECOND_LEVEL.search(host) is not None


def find_in_sections(skill: SkillUnderScan) -> Iterator[Sighting]:
    """Sections that have one unpack a locked archive and run it, or fetch a foreign program because one must."""
    known = _Known(skill.frontmatter.text.lower() if skill.frontmatter else "")
    for file in skill.files:
        if file.is_markdown and _may_fetch(file):
            for section in file.document.sections:
                yield from _in_section(file, section, known)


def _may_fetch(file: FileUnderScan) -> bool:
    """Whether there is something to fetch in a section. Sections are made of the file's lines, and so are these signs.

    But a word may be cut in two where a section or a heading is too long to be read to its end.
    """
    signs = signs_of(file)
    if HINT not in signs or IS_FETCHED in signs:
        return HINT in signs
    return len(file.text) >= LONGEST_SECTION or _LONG_HEADING.search(f"\n{file.text}") is not None


def _in_section(file: FileUnderScan, section: Section, known: _Known) -> Iterator[Sighting]:
    blocks = [block for block in section.blocks if block.kind is not BlockKind.FRONTMATTER]
    above = [title for title in section.titles[:-1] if _DEMANDING_TITLE.is_in(title)]
    text = "\n".join([*(block.text for block in blocks), *above])[:LONGEST_SECTION].encode()
    seen = signs_in(text)
    is_locked = {"archive", "password", "run", "fetch"} <= seen and bool({"unpack", "must", "needs"} & seen)
    if is_locked and ("get" in seen or _ARCHIVE_LINK.search(text)) and not _is_source_only(text):
        yield _sighting(LOCKED_ARCHIVE, file, section, "archive", "archive, password, run")
    for place, detail in _demands(seen):
        if _is_from_elsewhere(place, text, known):
            yield _sighting(FOREIGN_PREREQUISITE, file, section, place, detail)
            return


def _demands(seen: set[str]) -> Iterator[tuple[str, str]]:
    """The ways in which a section can have one run a program: the sign that says where from, and what else was seen."""
    if not {"run", "fetch"} <= seen:
        return
    is_pressed = bool({"unguard", "by-hand"} & seen)
    if "program" in seen and ("must" in seen or is_pressed):
        yield "program", "a program from elsewhere, a must, run"
    if "drop" in seen and "must" in seen:
        yield "drop", "something from a place that nobody answers for, a must, run"
    if "archive" in seen and "unguard" in seen:
        yield "archive", "an archive from elsewhere, its quarantine, run"
    if "package" in seen and "must" in seen:
        yield "package", "a package from somebody's own repository, a must, run"
    if {"installer", "link", "get"} <= seen and is_pressed and {"must", "needs"} & seen:
        yield "link", "a program, a page from elsewhere, a step around the system's guards"


def _is_from_elsewhere(place: str, text: bytes, known: _Known) -> bool:
    """Whether something of that sign in the section comes from where not everybody gets it."""
    spans = (
        span for span in sign(place).spans(text) if not _TO_READ.search(text, max(0, span.start - 160), span.start)
    )
    found = (text[span.start : span.end].decode(errors="ignore") for span in spans)
    return any(not known.is_publisher(address) for address in islice(found, MOST_PLACES))


def _is_source_only(text: bytes) -> bool:
    """Whether all archives of a section are what a forge packs of a repository, for which there is never a password."""
    found = (text[span.start : span.end].decode(errors="ignore") for span in sign("archive").spans(text))
    return all(_FORGE.match(address) and _SOURCE.search(address) for address in islice(found, MOST_PLACES))


def _sighting(check: str, file: FileUnderScan, section: Section, place: str, detail: str) -> Sighting:
    for block in section.blocks:
        span = next(sign(place).spans(block.text.encode()), None)
        if span is not None:
            before = block.text.encode()[: span.start]
            line = block.first_line + before.count(b"\n")
            column = len(before[before.rfind(b"\n") + 1 :].decode(errors="ignore")) + 1
            excerpt = make_excerpt(file.lines[line - 1], start=column - 1)
            return Sighting(check, file.path, line, column, excerpt, "prose", detail)
    return Sighting(check, file.path, section.first_line, 1, make_excerpt(section.title), "prose", detail)
