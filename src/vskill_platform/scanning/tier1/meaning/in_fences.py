"""How a text stands to a block of code in it: by the comments beside a line and by the words that lead to the block."""

from __future__ import annotations

import re
from bisect import bisect_right

from vskill_platform.domain.content import SKILL_FILE_NAMES
from vskill_platform.scanning.tier1.languages import MAY_BE_COMMANDS, language_of_fence
from vskill_platform.scanning.tier1.markdown.document import Block, BlockKind
from vskill_platform.scanning.tier1.meaning.cases import is_in_shown_case
from vskill_platform.scanning.tier1.meaning.detections import is_in_rule, marks_test
from vskill_platform.scanning.tier1.meaning.examples import asks
from vskill_platform.scanning.tier1.meaning.inert import is_inert
from vskill_platform.scanning.tier1.meaning.orders import leads_by_order
from vskill_platform.scanning.tier1.meaning.quotations import quotation_at
from vskill_platform.scanning.tier1.meaning.shown import INERT, is_order, is_shown, is_written
from vskill_platform.scanning.tier1.meaning.stances import (
    LABEL,
    LEAD_LINES,
    LEADS_TO_ATTACK,
    LEADS_TO_EXPLOIT,
    LEADS_TO_TRACES,
    LONGEST_LINE,
    ORDERS,
    PROTECTS,
    Place,
    Stance,
    comment_behind,
    is_about_security,
    is_done_by_attacker,
    is_label_of_attack,
    is_under_specimens,
    is_under_traces,
    stance_under_heading,
)
from vskill_platform.scanning.tier1.meaning.warnings import (
    comment_warns,
    heading_warns,
    is_labelled,
    is_praise,
    keeps,
    last_sentence,
    negates,
)
from vskill_platform.scanning.tier1.skill import FileUnderScan

_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
SHOWN = INERT | {"html", "md", "markdown"}
"""Languages of fenced blocks that nothing runs where an agent works."""
RECORDS = frozenset(["log", "logs", "http", "evtx"])
"""Languages of fenced blocks that hold what was seen."""
SETTINGS = frozenset(["json", "jsonc", "json5", "yaml", "yml"])
MOST_IN_A_ROW = 6
MOST_DENIED = 60
"""Lines above a string in which the key of its list is looked for."""
_STRING_OF_LIST = re.compile(r"\s*(?:- )?\s*([\"'])(?:(?!\1).)*\1\s*,?\s*$")
_KEY_OF_LIST = re.compile(r"\s*[\"']?(?P<name>[\w-]+)[\"']?\s*:\s*\[?\s*$")
_DENIES = re.compile(
    r"(?i)(?:den(?:y|ied)|disallow(?:ed)?|block(?:ed|list)?|forbid(?:den)?|reject(?:ed)?|banned|never)"
    r"(?:[_-]?(?:list|(?:command|pattern|tool|operation|call|word|phrase)s?))?$"
)
_ADDRESSED = re.compile(
    r"(?i)\b(?:you|your|we|our|us|appl(?:y|ies)|adopt|obey|heed|remember|read|respond|answer|reply|always|never|must|should|shall|"
    r"act|behave|comply|keep|note|please|important|first|then|now|do|perform|carry)\b"
)
"""Words of a line that speak to whoever reads it."""
_AVOIDED = re.compile(
    r"(?i)\b(?:avoid(?:ing|s)?|no|not|without|nothing|instead of|rather than)\s+"
    r"(?!(?:this|these|that|those|it|them|such)\b)((?:[\w-]+ ){0,3}[\w-]+)\.\s*$"
)
SHORTEST_NAME = 3
FIX_WITHIN = 3
_FIX = re.compile(
    r"(?i)\s*(?:#|//|--|/\*)\s*(?:fix(?:ed)?|good|better|safer?|instead|correct|right)\b[\w ,'-]{0,40}[:.]?\s*$"
)
_JUDGED = re.compile(
    r"(?i)\W*(?:(?:one|two|three|four|\d) findings?\b|findings?:|severity:|"
    r"(?:the )?first(?: one)?: \W*(?:fail|reject|critical|high)\b|"
    r"why (?:it is |this is )?(?:bad|wrong|dangerous|malicious)\b|"
    r"(?:this|that|it) is (?:a |an )?(?:\w+ )?(?:finding|vulnerability|fail)\b)"
)
"""How a line begins that says what is wrong with the block above it."""
_REJECTED = re.compile(
    r"(?i)\b(?:check|look|scan|watch|search|inspect|grep) (?:out )?for\b[^.!?]{0,60}\b(?:reject\w*|red[- ]flag|block\w*|refus\w+|"
    r"warning|danger\w*|deal[- ]?breaker)\W*(?:(?:patterns?|signs?|items?|flags?|indicators?|signals?)\W*)?$|"
    r"^\W*reject(?:ed)?\W+(?:immediately\W+|at once\W+)?(?:if|when)\b[^.!?]{0,60}\W*$"
)
"""How a line ends that leads to what is to be turned down wherever it is met."""
_EXPECTS_REFUSAL = re.compile(
    r"(?i)\b(?:test|sample|probe|attack|red[- ]team\w*) (?:strings?|inputs?|prompts?|messages?|payloads?|cases|texts?)\b"
    r"[^.!?]{0,60}\b(?:expect\w*|should|must|pass(?:es)? if)\b[^.!?]{0,40}"
    r"\b(?:refus\w+|ignor\w+|reject\w*|declin\w+|block\w*)\b[^.!?]{0,30}:\W*$"
)
"""How a line ends that leads to words which something under test must not obey."""
_BOLD = re.compile(r"\*\*[^*]{1,60}\*\*")
"""A line that is nothing but a bold name."""
MOST_OF_PAGE = 80
"""Lines above a place in which the beginning of a page is looked for."""
_OUTER_FENCE = ("```", "~~~")
_COMPONENT = re.compile(r"\s*<(?:CodeGroup|Steps?|Tabs?|Cards?|CardGroup|Accordion\w*|Frame|Note|Tip|Warning)\b")
"""A part of a documentation page that is written, and shown to its readers."""
_BUILDS_IN = re.compile(r"(?i)\b(?:add|put|insert|include|paste|write|use|place|append|change|replace|set|make)\b")
"""Words that have code built in which stands behind them."""
_COMMENT_SIGNS = ("#", "//", "--", "/*", "*", ";", "<!--")


def stance_in_fence(place: Place) -> Stance:
    own = [place.line] if place.line.lstrip().startswith(_COMMENT_SIGNS) else []
    beside = [*_comments_above(place), *own, comment_behind(place.line[place.at :])]
    if any(comment_warns(text.strip("#/-*;<!> ")) or is_done_by_attacker(text) for text in beside):
        return Stance.WARNED
    if is_about_security(place.skill):
        if _is_fixed_below(place):
            return Stance.WARNED
        if is_in_rule(place.block.text, place.line):
            return Stance.QUOTED
    lead = _lead_in(place.file, _first_of_row(place) if is_about_security(place.skill) else place.block)
    sentence = last_sentence(lead)
    if is_labelled(lead) or _is_warned_of(place, sentence) or is_done_by_attacker(sentence):
        return Stance.WARNED
    if place.is_of_words and is_in_shown_case(place.block.text, place.line, place.at):
        return Stance.QUOTED
    if _is_denied(place) or (is_about_security(place.skill) and asks(sentence)):
        return Stance.QUOTED
    if is_about_security(place.skill) and (_REJECTED.search(sentence) or _EXPECTS_REFUSAL.search(sentence)):
        return Stance.QUOTED
    is_ordered = leads_by_order(sentence)
    if not is_ordered and _leads_to_attack(place, sentence) and not PROTECTS.search(sentence):
        return Stance.WARNED
    if not is_ordered and _is_in_page(place):
        return Stance.QUOTED
    is_record = place.block.language in RECORDS or is_inert(place.line) or is_inert(_code_span(place))
    if not is_ordered and is_record and is_about_security(place.skill):
        return Stance.QUOTED
    if (not is_ordered and _is_specimen(place, lead)) or _is_judged(place, lead, is_ordered=is_ordered):
        return Stance.QUOTED
    if not is_ordered and place.block.language in INERT and is_under_traces(place):
        return Stance.QUOTED
    if is_shown(place, lead, language=place.block.language):
        return Stance.QUOTED
    return stance_under_heading(place, is_quoted=False, is_ordered=is_ordered)


def _is_in_page(place: Place) -> bool:
    """Whether a place is in a block that is a page of documentation to be written, be it in a block of code of that page."""
    before = place.file.lines[max(0, place.number - MOST_OF_PAGE) : place.number]
    outer = next((row for row in range(len(before) - 1, -1, -1) if before[row].startswith(_OUTER_FENCE)), None)
    return outer is not None and before[outer].strip() == "```mdx" and any(map(_COMPONENT.match, before[outer:]))


def is_bad_code(place: Place) -> bool:
    """Whether a file beside the SKILL.md is about bad code, as its title says, and shows some that is not run as it stands."""
    if place.file.path in SKILL_FILE_NAMES or place.block.kind is not BlockKind.FENCE or not place.block.language:
        return False
    section = place.file.document.section_at(place.number)
    is_titled = any(heading_warns(title) for title in (section.titles if section else ()))
    return (
        is_titled
        and is_written(place.block.language)
        and not leads_by_order(last_sentence(_lead_in(place.file, place.block)))
    )


def is_lesson(place: Place) -> bool:
    """Whether a skill about security shows code in a block, and nobody is told to take it over, or tries a rule on it."""
    if not is_about_security(place.skill):
        return False
    if place.block.kind is not BlockKind.FENCE:
        found = quotation_at(place.line, place.at)
        before = last_sentence(place.line[: found.start]) if found else ""
        return found is not None and not any(order.search(before) for order in (ORDERS, _BUILDS_IN))
    if any(map(marks_test, _comments_above(place))):
        return True
    return is_written(place.block.language) and not is_order(last_sentence(_lead_in(place.file, place.block)))


def _is_warned_of(place: Place, sentence: str) -> bool:
    """Whether the sentence before a block speaks against it: one that has ended with what to avoid means that, not the block."""
    if not negates(sentence) or keeps(sentence, place.block.text):
        return False
    other = _AVOIDED.search(sentence)
    return other is None or any(len(word) >= SHORTEST_NAME and word in place.block.text for word in other[1].split())


def _is_fixed_below(place: Place) -> bool:
    """Whether a comment a few lines further on gives the better way to write code: what stands before it is the way to avoid."""
    if language_of_fence(place.block.language) in MAY_BE_COMMANDS:
        return False
    last = min(place.number + FIX_WITHIN, place.block.last_line)
    return any(_FIX.match(line[:LONGEST_LINE]) for line in place.file.lines[place.number : last])


def _is_specimen(place: Place, lead: str) -> bool:
    """Whether a block that nothing runs is shown among specimens, by a line that names it and speaks to nobody."""
    if place.block.language not in SHOWN or not (lead.endswith((":", "：")) or _BOLD.fullmatch(lead)):
        return False
    return not _ADDRESSED.search(lead) and not PROTECTS.search(lead) and is_under_specimens(place)


def _is_judged(place: Place, lead: str, *, is_ordered: bool) -> bool:
    """Whether a guide about attacks labels a block as one, or says right behind it what the finding is."""
    if not is_about_security(place.skill) or (is_ordered and LABEL.fullmatch(lead) is None):
        return False
    behind = next((line for line in place.file.lines[place.block.last_line + 1 :][:LEAD_LINES] if line.strip()), "")
    return is_label_of_attack(lead) or _JUDGED.match(behind[:LONGEST_LINE]) is not None


def _code_span(place: Place) -> str:
    """The code between backticks that the place is in, in a text that is shown in a block."""
    quoted = quotation_at(place.line, place.at)
    return place.line[quoted.start : quoted.end].strip("`") if quoted else ""


def _leads_to_attack(place: Place, sentence: str) -> bool:
    if LEADS_TO_ATTACK.search(sentence):
        return True
    if not is_about_security(place.skill):
        return False
    return LEADS_TO_TRACES.search(sentence) is not None or (
        place.block.language in INERT and LEADS_TO_EXPLOIT.search(sentence) is not None
    )


def _is_denied(place: Place) -> bool:
    """Whether a line of settings is one of what they do not allow: a string in a list whose key says so."""
    if place.block.language not in SETTINGS or not _STRING_OF_LIST.match(place.line):
        return False
    for number in range(place.number - 1, max(place.block.first_line, place.number - MOST_DENIED) - 1, -1):
        text = place.file.lines[number - 1][:200]
        if not _STRING_OF_LIST.match(text):
            key = _KEY_OF_LIST.match(text)
            return key is not None and _DENIES.match(key["name"]) is not None
    return False


def _comments_above(place: Place) -> list[str]:
    """The comment nearest above a place in a fenced block; one that stands further up speaks of something else."""
    found: list[str] = []
    for number in range(place.number - 1, max(place.block.first_line, place.number - LEAD_LINES) - 1, -1):
        text = place.file.lines[number - 1].strip()[:200]
        if text.startswith(_COMMENT_SIGNS):
            found.append(text)
        elif found:
            break
    return [] if any(is_praise(text) for text in found) else found


def _first_of_row(place: Place) -> Block:
    """The first of the fenced blocks that follow each other with nothing between them: one line leads to all of them."""
    blocks = place.file.document.blocks
    at = bisect_right(blocks, place.block.first_line, key=lambda block: block.first_line) - 1
    first = place.block
    for block in reversed(blocks[max(0, at - MOST_IN_A_ROW) : at]):
        if (
            block.kind is not BlockKind.FENCE
            or "".join(place.file.lines[block.last_line + 1 : first.first_line - 2]).strip()
        ):
            break
        first = block
    return first


def _lead_in(file: FileUnderScan, block: Block) -> str:
    """The line that leads to a fenced block, if it stands right above."""
    fence = block.first_line - 1
    for number in range(fence - 1, max(0, fence - 1 - LEAD_LINES), -1):
        text = _HTML_COMMENT.sub("", file.lines[number - 1][-LONGEST_LINE:]).strip()
        if text:
            return text[-300:]
    return ""
