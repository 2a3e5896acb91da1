"""Code that a guide about attacks shows and has nobody carry out.

Such a guide is full of other people's code, and no list of words has all the ways in which it is led to ("seen in real
removals", "a title such as"). What is to be done is told by fewer: it stands in a block that is marked as commands, under a
heading of what to set up, or behind an order. So all other code in such a guide is taken for what it shows.
"""

from __future__ import annotations

import re

from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.scanning.tier1.languages import MAY_BE_COMMANDS, language_of_fence
from vskill_platform.scanning.tier1.meaning.orders import leads_by_order
from vskill_platform.scanning.tier1.meaning.stances import (
    LONGEST_LINE,
    PROTECTS,
    Place,
    is_about_security,
    is_under_specimens,
)
from vskill_platform.scanning.tier1.meaning.warnings import heading_helps, last_sentence

INERT = frozenset(["", "text", "txt", "plaintext", "plain", "log", "logs", "http", "output", "csv", "diff"])
"""Languages of fenced blocks that nothing runs."""
WRITTEN = frozenset(
    [
        "json",
        "jsonc",
        "json5",
        "yaml",
        "yml",
        "toml",
        "xml",
        "html",
        "sql",
        "dockerfile",
        "docker",
        "hcl",
        "terraform",
    ]
)
"""Languages that no interpreter of ours reads, of what is written into files."""
HEADING, INDENT = "#", "    "
MOST_INDENTED = 40
"""Lines that are set in, above one of which the line that leads to them is looked for."""
FEWEST_WORDS = 3
_USED = re.compile(
    r"(?i)\b(?:prerequisites?|requirements?|usage|getting started|bootstrap\w*|onboarding|configur\w+|deploy\w*|prepar\w+|"
    r"dependenc(?:y|ies)|before you (?:start|begin)|run(?:ning)?|tool(?:s|ing|chain)?|updat\w+|collect\w*|procedure)\b"
)
"""Headings of what the reader is to do."""
_NEEDED = re.compile(
    r"(?i)\b(?:needs?|needed|requires?|required|necessary|mandatory|should|shall|"
    r"must (?:be |have )?(?:run|done|executed|installed|present|set|in place)|"
    r"you(?! (?:may |might |will |would |can |could )?(?:see|find|meet|quote|spot|encounter)\b)|your|we|our|us|agent|assistant|"
    r"please|helper|installer|one line|follow|obey|apply|applies|adopt|always|first|now)\b"
)
"""Words of a line that has what follows done."""
_SAMPLES = re.compile(
    r"(?i)\b(?:seeds?|samples?|specimens?|examples?|payloads?|probes?|(?:test )?(?:cases|inputs|prompts|strings)|attempts?|"
    r"injections?|ones|lures?|seen|quot(?:es?|ed|ations?)|descriptions?|titled|lines)\b"
)
"""What words are called that are shown."""
_VERB = (
    r"(?:add|append|apply|archive|ask|attach|authenticate|back|begin|bring|build|bundle|call|capture|change|check|clean|clear|"
    r"clone|close|collect|commit|compile|compress|configure|confirm|connect|contribute|convert|copy|create|declare|define|"
    r"deliver|deploy|deposit|disable|do|download|drop|edit|enable|encode|encrypt|ensure|enter|escalate|establish|execute|"
    r"expand|export|extend|extract|feed|fetch|file|fill|finish|fix|follow|forward|gather|generate|get|give|go|grab|grant|"
    r"hand|have|import|include|initiali[sz]e|inject|insert|inspect|install|invoke|join|keep|launch|leave|let|link|list|load|"
    r"log|lower|make|mark|merge|mirror|mount|move|name|note|notify|obtain|open|output|pack|package|park|pass|paste|patch|"
    r"perform|pipe|place|point|post|prepare|print|provide|publish|pull|push|put|query|raise|read|rebuild|record|redirect|"
    r"refresh|register|release|remove|rename|replace|report|request|reset|restart|restore|return|review|rotate|route|run|save|"
    r"scan|schedule|seal|search|secure|select|send|set|share|ship|show|sign|silence|split|stage|start|stop|store|stream|"
    r"submit|switch|sync|synchroni[sz]e|take|tell|test|tidy|track|transfer|transmit|trigger|trust|turn|type|unpack|unlock|"
    r"unset|unzip|update|upgrade|upload|use|validate|verify|visit|wait|warm|wipe|work|wrap|write|zip)"
)
_ORDER = re.compile(
    r"(?i)^[\W\d_]*(?:(?:then|now|first|next|finally|please|also|just|simply|lastly|afterwards|and|to|step \d+)\W+){0,3}"
    rf"{_VERB}\b(?!['’-])"
)
"""A sentence that begins with what to do."""
_ORDER_AT_END = re.compile(
    r"(?i)\b(?:open|run|call|visit|post|send|fetch|use|execute|type|enter|paste|install|download|upload|start|launch|load)"
    r"(?: (?:it|this|that|these|them|the following|exactly|once|with|to|by))*\W*$"
)
"""A sentence that comes to what to do right before it ends."""


def is_shown(place: Place, lead: str, *, language: str) -> bool:
    """Whether code is shown: `lead` is the line before it, `language` that of its block, if it says one."""
    if not is_about_security(place.skill) or _is_among_tasks(place):
        return False
    sentence = last_sentence(lead)
    if is_order(sentence) or PROTECTS.search(sentence):
        return False
    if language in INERT:
        return _names_something(sentence) and (not place.is_wording or _SAMPLES.search(sentence) is not None)
    return is_written(language) and ((bool(lead) and not lead.startswith(HEADING)) or is_under_specimens(place))


def is_written(language: str) -> bool:
    """Whether what is in this language is written into a file, and not typed in."""
    return language in WRITTEN or language_of_fence(language) not in MAY_BE_COMMANDS


def is_indented_and_shown(place: Place) -> bool:
    """The same of a line that stands among others that are set in, which makes a block of them."""
    if not place.line.startswith((INDENT, "\t")):
        return False
    for number in range(place.number - 1, max(0, place.number - MOST_INDENTED), -1):
        text = place.file.lines[number - 1][:LONGEST_LINE]
        if text.strip() and not text.startswith((INDENT, "\t")):
            return is_shown(place, text.strip(), language="")
    return False


def is_order(sentence: str) -> bool:
    """Whether a line that leads to code says to do something with it."""
    return leads_by_order(sentence) or any(order.search(sentence) for order in (_ORDER, _ORDER_AT_END))


def _names_something(sentence: str) -> bool:
    """Whether a line that leads to a block is no heading and no sentence, but names what comes, in some words."""
    is_open = not sentence.rstrip("*_` ").endswith((".", "!", "?", "。"))
    return (
        is_open
        and len(sentence.split()) >= FEWEST_WORDS
        and not sentence.startswith(HEADING)
        and not _NEEDED.search(sentence)
    )


def _is_among_tasks(place: Place) -> bool:
    """Whether the heading of the place's own section is that of something to do."""
    section = place.file.document.section_at(place.number)
    titles = section.titles[place.file.path in SKILL_FILE_NAMES :] if section else ()
    return bool(titles) and (heading_helps(titles[-1]) or _USED.search(titles[-1]) is not None)
