"""Names of a skill and of its files that look like others, hide something, or cannot be everywhere.

What a name may be at all is decided where a skill is taken in. Here it is about names that are possible and still deceive,
also inside archives, where nobody else looks at them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.tier1.configs.frontmatter import read_frontmatter
from vskill_platform.scanning.tier1.configs.word_lists import words
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.name_tricks import has_hidden_characters, imitates_latin, mixes_scripts
from vskill_platform.scanning.tier1.skill import YAML_SIGNS, FileUnderScan, Frontmatter, Sighting, SkillUnderScan

LAYER = "name"
CHECKS = words(
    "skill_name_deceives skill_name_is_device skill_name_has_hidden_characters skill_name_is_no_name "
    "skill_name_claims_authority file_name_deceives file_name_is_unsafe"
)
LONGEST_NAME = 300
MOST_NAMES = 1_000
_NAME = re.compile(r"""^["']?name["']?[ \t]*:[ \t]*(.*)$""", re.MULTILINE)
_DEVICE = re.compile(r"(?i)(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?")
_VENDOR = re.compile(
    r"(?i)(?:^|[-_ .])(?:anthropic|claude|openai|chatgpt|google|gemini|microsoft|github|copilot|apple|amazon|aws|meta|vercel|"
    r"cloudflare|stripe|cursor)(?:$|[-_ .])"
)
_SEAL = re.compile(r"(?i)(?:^|[-_ .])(?:official|verified|certified|trusted|approved|endorsed)(?:$|[-_ .])")
_NO_NAME = re.compile(r"\.\.|[/\\<>\x00-\x1f]")


def find_in_names(skill: SkillUnderScan) -> Iterator[Sighting]:
    """What is wrong with the name of the skill and with the names of its files."""
    yield from _find_in_skill_names(skill)
    for file in skill.files:
        if not file.path.isascii() or file.is_inner:
            yield from _find_in_path(file)


def _find_in_skill_names(skill: SkillUnderScan) -> Iterator[Sighting]:
    """All lines that give a name count: which of them an agent takes is not known."""
    head = skill.frontmatter
    if head is None or skill.skill_file is None:
        return
    for name, line in _names(skill, head):
        check = _skill_check(name[:LONGEST_NAME].rstrip("\n"))
        if check is not None:
            yield Sighting(check, skill.skill_file.path, line, 1, make_excerpt(name), LAYER)


def _names(skill: SkillUnderScan, head: Frontmatter) -> Iterator[tuple[str, int]]:
    """Every name with its line. What is not written plainly is read as YAML reads it."""
    for found in islice(_NAME.finditer(head.text), MOST_NAMES):
        given = found[1].strip()
        if not given or given.startswith(YAML_SIGNS):
            entries = read_frontmatter(skill).entries
            yield from ((entry.value, entry.line) for entry in entries[:MOST_NAMES] if entry.keys == ("name",))
        else:
            line = head.first_line + head.text.count("\n", 0, found.start())
            yield _unescaped(given.strip("\"'")), line


def _unescaped(name: str) -> str:
    r"""The name with `\u0430` and the like written out, as YAML does between double quotes."""
    if "\\" not in name:
        return name
    return re.sub(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))", lambda found: chr(int(found[1] or found[2], 16)), name)


def _skill_check(name: str) -> str | None:
    if not name.isascii():
        if has_hidden_characters(name):
            return "skill_name_has_hidden_characters"
        if mixes_scripts(name) or imitates_latin(name) or unicodedata.normalize("NFKC", name) != name:
            return "skill_name_deceives"
    if _DEVICE.fullmatch(name.strip(". ")):
        return "skill_name_is_device"
    if _NO_NAME.search(name):
        return "skill_name_is_no_name"
    return "skill_name_claims_authority" if _claims_authority(name) else None


def _claims_authority(name: str) -> bool:
    return _SEAL.search(name) is not None and _VENDOR.search(name) is not None


def _find_in_path(file: FileUnderScan) -> Iterator[Sighting]:
    path = file.path[-LONGEST_NAME:]
    if not path.isascii() and (has_hidden_characters(path) or mixes_scripts(path)):
        yield Sighting("file_name_deceives", file.path, excerpt=make_excerpt(path), layer=LAYER)
    parts = path.rpartition("!/")[2].split("/")
    if file.is_inner and any(_DEVICE.fullmatch(part) or part != part.rstrip(". ") for part in parts if part.strip(".")):
        yield Sighting("file_name_is_unsafe", file.path, excerpt=make_excerpt(path), layer=LAYER)
