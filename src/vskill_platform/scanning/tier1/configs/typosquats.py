"""Names of packages that are taken for a well-known one: a letter more, less, other or swapped, a digit for a letter.

A name counts as an imitation only if it is not itself one that many projects use (`known_packages.txt`), and only if what it
resembles is long enough that one letter makes no other word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from vskill_platform.scanning.tier1.configs.word_lists import words

SHORTEST_TARGET = 5
SHORTEST_WORD = 7
SHORTEST_PART = 6
"""Letters that a part of a compound name has at least before it is held against the well-known ones."""
LONGEST_NAME = 60
_LOOK_ALIKES = (("0", "o"), ("1", "l"), ("1", "i"), ("3", "e"), ("5", "s"), ("rn", "m"), ("vv", "w"), ("4", "a"))
_AFFIXES = re.compile(r"^(?:python|py|node|js)[-_.]|[-_.](?:python|py|py3|python3|js|node|npm|nodejs|official)$")
_SEPARATORS = re.compile(r"[-_.]+")
_DATA = Path(__file__).with_name("known_packages.txt")
WORDS = words(
    "extension extensions trading exchange wallet wallets converter generator validator formatter analyzer analyser "
    "scheduler optimizer optimiser authentication authorization security encryption monitoring monitor dashboard "
    "database databases connector connection interface integration automation assistant installer downloader uploader "
    "scraper crawler tracker notifier processor transformer visualizer calculator calendar document documents "
    "template templates transaction transactions payment payments currency portfolio sentiment prediction management "
    "manager library toolkit framework parser utilities helpers compiler debugger profiler renderer translator "
    "summarizer reader writer builder loader logger handler provider service services session sessions messages "
    "message notification notifications tracing openapi"
)
"""Words that names of packages are made of. A name with one of them misspelt is seldom an honest one."""
_WORDS_BY_ENDS = {
    ends: [word for word in sorted(WORDS) if (word[:2], word[-2:]) == ends and len(word) >= SHORTEST_WORD]
    for ends in {(word[:2], word[-2:]) for word in WORDS}
}
SCOPES = words(
    "types angular babel react-native nestjs nuxt aws-sdk aws-cdk google-cloud google azure microsoft modelcontextprotocol "
    "anthropic-ai openai langchain ai-sdk vercel playwright testing-library tanstack emotion radix-ui reduxjs apollo prisma "
    "solana octokit sentry stripe supabase cloudflare slack storybook typescript-eslint rollup vitejs ant-design fortawesome "
    "faker-js eslint ethersproject notionhq upstash hubspot shopify atlassian datadog github mermaid-js remotion huggingface "
    "mistralai pinecone-database chakra-ui mantine react-navigation expo capacitor ionic tauri-apps openzeppelin"
)


@dataclass(frozen=True, slots=True)
class Resemblance:
    """What a name is taken for. `is_close`: it differs by one letter or by how it is written, not by a word."""

    target: str
    is_close: bool


@dataclass(frozen=True, slots=True)
class _Names:
    """The well-known names of a registry. `near` leads from a name with one letter taken out to the names it came from."""

    known: frozenset[str]
    squeezed: dict[str, str]
    near: dict[str, tuple[str, ...]]


def is_known(registry: str, name: str) -> bool:
    """Whether many projects use a package of this name."""
    return normal_name(registry, name) in _names(registry).known


def normal_name(registry: str, name: str) -> str:
    """The name as the registry compares it."""
    lowered = name.lower()
    return lowered if registry == "npm" else _SEPARATORS.sub("-", lowered.rstrip("-_."))


@lru_cache(maxsize=4096)
def resemblance(registry: str, name: str) -> Resemblance | None:
    """The well-known package that a name is taken for; None for a well-known name, and for one that is like no other."""
    names = _names(registry)
    plain = normal_name(registry, name)
    if plain in names.known or len(plain) > LONGEST_NAME:
        return None
    if plain.startswith("@"):
        return _scope_resemblance(plain)
    close = _close_target(plain, names)
    if close is not None:
        return Resemblance(close, is_close=True)
    core = _AFFIXES.sub("", plain)
    if core != plain and len(core) >= SHORTEST_TARGET and core in names.squeezed.values():
        return Resemblance(core, is_close=False)
    parts = _long_parts(plain, names)
    misspelt = next(filter(None, map(_misspelt_word, parts)), None)
    if misspelt is not None:
        return Resemblance(misspelt, is_close=True)
    doubled = next(
        (part[:-1] for part in parts if part[-2:-1] == part[-1] and part[:-1] in names.squeezed.values()), None
    )
    if doubled is not None:
        return Resemblance(doubled, is_close=True)
    target = next(filter(None, (_slip_target(part, names) for part in parts)), None)
    is_plural = target is not None and target.rstrip("s") in plain
    return None if target is None or is_plural else Resemblance(target, is_close=False)


def _misspelt_word(part: str) -> str | None:
    """The word that a part is with a slip inside it. At its ends, a letter makes another form of the word; s and z are one."""
    if part in WORDS or len(part) < SHORTEST_WORD:
        return None
    for word in _WORDS_BY_ENDS.get((part[:2], part[-2:]), ()):
        if is_one_slip(part, word) and part.replace("z", "s") != word.replace("z", "s"):
            return word
    return None


def _long_parts(name: str, names: _Names) -> list[str]:
    """The parts of a compound name that are long enough to be held against the well-known names, and are none of them."""
    parts = _SEPARATORS.split(name)
    return [part for part in parts if len(part) >= SHORTEST_PART and part not in names.known] if len(parts) > 1 else []


def _scope_resemblance(name: str) -> Resemblance | None:
    scope = name[1:].partition("/")[0]
    if scope in SCOPES or len(scope) < SHORTEST_TARGET - 1:
        return None
    squeezed = scope.replace("-", "")
    for known in SCOPES:
        if len(known) >= SHORTEST_TARGET - 1 and (squeezed == known.replace("-", "") or is_one_slip(scope, known)):
            return Resemblance(f"@{known}", is_close=False)
    return None


def _close_target(name: str, names: _Names) -> str | None:
    squeezed = _SEPARATORS.sub("", name)
    if squeezed in names.squeezed and names.squeezed[squeezed] != name:
        return names.squeezed[squeezed]
    for look, meant in _LOOK_ALIKES:
        if look in name and (target := name.replace(look, meant)) in names.known and len(target) >= SHORTEST_TARGET:
            return target
    return _slip_target(name, names)


def _slip_target(name: str, names: _Names) -> str | None:
    return next(slips_of(name, names.near), None)


def is_one_slip(name: str, target: str) -> bool:
    """Whether the two differ by one letter that is added, left out or another one, or by two neighbours that are swapped.

    Nobody slips on the first letter, and a short word with another letter in it is mostly another word.
    """
    if name == target or abs(len(name) - len(target)) > 1:
        return False
    same = 0
    while same < min(len(name), len(target)) and name[same] == target[same]:
        same += 1
    rest, other = name[same:], target[same:]
    is_swap = len(rest) >= 2 and rest[:2] == other[1::-1] and rest[2:] == other[2:]
    is_other_letter = rest[1:] == other[1:] and len(target) > SHORTEST_TARGET and not rest[:1].isdigit()
    return is_swap or (same > 0 and (is_other_letter or rest[1:] == other or rest == other[1:]))


def names_near(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The way from a name, whole or with one letter taken out, to the names that this leaves: `slips_of` goes it."""
    near: dict[str, tuple[str, ...]] = {}
    for name in names:
        for shorter in (name, *_with_one_less(name)):
            near[shorter] = (*near.get(shorter, ()), name)
    return near


def slips_of(name: str, near: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """The names that this one is a slip of. Asks a few times, however many there are."""
    found = (target for shorter in (name, *_with_one_less(name)) for target in near.get(shorter, ()))
    return (target for target in found if is_one_slip(name, target))


def _with_one_less(name: str) -> dict[str, None]:
    return dict.fromkeys(name[:at] + name[at + 1 :] for at in range(len(name)))


@cache
def _names(registry: str) -> _Names:
    targets: set[str] = set()
    others: set[str] = set()
    into: set[str] | None = None
    for line in _DATA.read_text().splitlines():
        if line.startswith("["):
            of, kind = line.strip("[]").split()
            into = (targets if kind == "targets" else others) if of == registry else None
        elif into is not None and not line.startswith("#"):
            into.update(normal_name(registry, name) for name in line.split())
    long_enough = [name for name in sorted(targets) if len(name) >= SHORTEST_TARGET and not name.startswith("@")]
    return _Names(
        known=frozenset(targets | others),
        squeezed={_SEPARATORS.sub("", name): name for name in long_enough},
        near=names_near(long_enough),
    )
