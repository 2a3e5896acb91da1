"""How prose stands to what it says: a sentence, an item of a list, a block quote or a row of a table, and the words beside it."""

from __future__ import annotations

import re
from bisect import bisect_right

from vskill_platform.scanning.tier1.markdown.document import BlockKind
from vskill_platform.scanning.tier1.meaning.orders import is_procedure, leads_by_order
from vskill_platform.scanning.tier1.meaning.quotations import around, cell_at, quotation_at, without_quotations
from vskill_platform.scanning.tier1.meaning.stances import (
    ABOUT_ATTACKS,
    LEADS_TO_ATTACK,
    LONGEST_LINE,
    PROTECTS,
    Place,
    Stance,
    comment_behind,
    is_about_security,
    is_done_by_attacker,
    stance_under_heading,
)
from vskill_platform.scanning.tier1.meaning.warnings import (
    comment_warns,
    is_labelled,
    last_sentence,
    negates,
    negates_omission,
    praises,
)
from vskill_platform.scanning.tier1.patterns import Span

MOST_ITEMS = 200
"""Items of a list that are passed over in search of the paragraph that leads to it."""
_ABOUT_WORDS = re.compile(
    r"(?i)\b(?:detect\w*|phrases?|patterns?|such as|e\.g\.|block(?:s|ed)?|look(?:s|ing)? for|"
    r"search(?:es|ing)? for|bad|wrong|"
    r"payloads?|says?|said|contains?|examples?|like|words?|sentences?|strings?)\b|出现|例如|比如|写着|包含|之类"
)
"""Words beside a quotation of other words that say it is somebody else's."""
_SEVERITY = re.compile(
    r"(?i)\|[^\w|]{0,9}(?:critical|high|medium|severe|danger\w*|block|reject|malicious|fail)[^\w|]{0,9}(?:\||$)"
)
"""A cell of a table that weighs what its row is about."""
_ORDERS = re.compile(
    r"(?i)\b(?:run|execute|type|paste|install|start|use|enter|launch|call|try|first|then|now|please|copy|step|begin)\b"
    r"[^\"'`“‘«|]{0,60}[\"'`“‘«|*]{0,3}$"
)
_OBEYED_BEHIND = re.compile(
    r"(?i)\b(?:act on|obey|do so|comply|carry (?:it|them|this|that) out|execute (?:it|them|what)|run (?:it|them|this)|"
    r"follow (?:it|them|this|what)|apply to you|appl(?:y|ies) (?:from|here)|is binding|"
    r"is an order|does (?:that|it|this) once)\b"
)
_NEXT_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z])")
_HUNTED = re.compile(
    r"(?i)[\s\W\d]*(?:block|detect|flag|reject|refuse|deny|warn|look for|search for|find|catch|"
    r"report|spot|watch for|grep for)s?"
    r"\b(?!.*(?:\b(?:with|by|using|via|through|then|and)\b|:\s)).{0,80}$"
)
"""A sentence that has the reader look for what it quotes."""
_CATALOGUE_COLUMN = re.compile(
    r"(?i)\|[^|]*\b(?:patterns?|examples?|signs?|signatures?|strings?|techniques?|payloads?|specimens?|samples?|quotes?|phrases?|wordings?|means|meaning)\b"
)
_DESCRIBED_BEHIND = re.compile(r"(?i)[\s)*]+(?:is|are|gives?|means?|spells?|equals?|becomes?) [`\"“]")
_FOUND = re.compile(r"(?i)\b(?:found|seen|observed|typical|artefacts?|artifacts?|traces?)\b")
_SPEECH = re.compile(r"[\"“«「][^\w\s]*(?:[^\W\d]+(?:,? [^\W\d]+){2}|[^\x00-\u02ff])")
"""A quotation that begins as a sentence does, and not as a command."""
_WARNING_COLUMN = re.compile(
    r"(?i)\|[^|]*\b(?:bad|wrong|avoid|risks?|risky|problem|danger\w*|threats?|attack(?:er)?s?|"
    r"red flags?|indicators?|severity|don['’]t|"
    r"unsafe|insecure|vulnerab\w*|malicious|suspicious)\b"
)
_REMEDY_COLUMN = re.compile(
    r"(?i)\b(?:good|correct|right|better|safer?|secure|instead|fix(?:es)?|solution|remedy|resolution|"
    r"actions?|install|mitigation|"
    r"response|what to do|use|run|steps?|cure|answer)\b"
)
_NO_RISK = re.compile(r"(?i)\|[^\w|]{0,9}(?:none|low|no|safe|ok|harmless|n/a)[^\w|]{0,9}(?:\||$)")
_READER_ACTS = re.compile(
    r"(?i)\b(?:you|we|the agent|the assistant)\s+(?!(?:see|find|spot|notice|meet|encounter|detect|come|may|might|will see)\b)"
)
_LABELLED = re.compile(r"[\w ]{0,16}: ?[\"`“]")
_NAMED_WORDS = re.compile(
    r"(?i)[\s>*+\d.)-]{0,12}\*\*[^*]{1,80}\*\*:?\s+(?:an?|any|such|these|every) (?:sentence|phrase|line|text|instruction|"
    r"request|order|wording|page|comment|message|description)s? (?:that|which|like)\b"
)
"""A bold name of words that attackers write, and what it says of them."""


def stance_in_prose(place: Place) -> Stance:
    line, at = place.line, place.at
    quoted = _quotation(place)
    before, behind = line[: quoted.start if quoted else at], line[quoted.end if quoted else at :]
    if _is_warned_of(place, before, behind) or _is_marked_bad(line, at, quoted):
        return Stance.WARNED
    if any(is_done_by_attacker(last_sentence(text)) for text in (line[:at], before)):
        return Stance.QUOTED
    if place.block.kind is BlockKind.TABLE:
        return _stance_in_table(place, cell=cell_at(line, at))
    if _is_named(place):
        return Stance.QUOTED
    if _is_obeyed(behind):
        return Stance.STATED
    is_ordered = _ORDERS.search(last_sentence(before)) is not None
    if not is_ordered and (_is_led_to(place) or (quoted and _is_spoken_of(place, quoted))):
        return Stance.QUOTED
    return stance_under_heading(place, is_quoted=quoted is not None, is_ordered=is_ordered)


def _is_named(place: Place) -> bool:
    """Whether a guide about attacks gives words as the name of what it speaks of next."""
    found = _NAMED_WORDS.match(place.line)
    return found is not None and place.at < found.end() and place.is_of_words and is_about_security(place.skill)


def _is_warned_of(place: Place, before: str, behind: str) -> bool:
    """Whether the words in front of a place, or of the quotation that it is in, speak against it."""
    upto = place.line[: place.at]
    if place.line[place.at :].lower().startswith("without") and negates_omission(upto):
        return True
    return negates(before, behind) or negates(upto, behind) or is_labelled(upto)


def _quotation(place: Place) -> Span | None:
    if place.block.kind is BlockKind.TABLE:
        return cell_at(place.line, place.at)
    if _LABELLED.match(place.line[place.at :]):
        return Span(place.at, len(place.line))
    return quotation_at(place.line, place.at)


def _is_marked_bad(line: str, at: int, quoted: Span | None) -> bool:
    """Whether a comment behind the command, in the same code, says that it is bad."""
    is_code = quoted is not None or not line[:at].strip()
    return is_code and comment_warns(comment_behind(line[at : quoted.end if quoted else len(line)]))


def _is_obeyed(behind: str) -> bool:
    found = _OBEYED_BEHIND.search(behind)
    return found is not None and not negates(behind[: found.start()])


def _is_spoken_of(place: Place, quoted: Span) -> bool:
    """Whether the sentence around a quotation says that it is an attack, or somebody else's words."""
    is_row = place.block.kind is BlockKind.TABLE
    behind = place.line[quoted.end :]
    said = f"{last_sentence(place.line[: quoted.start])} {_NEXT_SENTENCE.split(behind, maxsplit=1)[0]}"
    if is_row:
        said = around(place.line, quoted)
        if _SEVERITY.search(said):
            return True
    elif is_about_security(place.skill) and _is_subject(place, quoted, said):
        return True
    if place.is_of_words:
        return ABOUT_ATTACKS.search(said) is not None or _ABOUT_WORDS.search(said) is not None
    lead = last_sentence(place.line[: quoted.start])
    if _HUNTED.match(lead):
        return True
    is_done = _READER_ACTS.search(lead) is not None or praises(lead) or PROTECTS.search(said) is not None
    return ABOUT_ATTACKS.search(said) is not None and not is_done


def _is_subject(place: Place, quoted: Span, said: str) -> bool:
    """Whether a guide about attacks says something of a quotation, or gives words of speech."""
    is_speech = _SPEECH.match(place.line, quoted.start) is not None
    is_described = _DESCRIBED_BEHIND.match(place.line[quoted.end :]) is not None
    return is_speech or is_described or _FOUND.search(said) is not None


def _is_led_to(place: Place) -> bool:
    """Whether the paragraph above a list or a block quote leads to it as to what attackers do."""
    if place.block.kind not in (BlockKind.ITEM, BlockKind.QUOTE):
        return False
    lead = last_sentence(_paragraph_above(place))
    if not lead.endswith(":") or leads_by_order(lead) or PROTECTS.search(lead):
        return False
    return bool(negates(lead) or is_labelled(lead) or is_done_by_attacker(lead) or LEADS_TO_ATTACK.search(lead))


def _paragraph_above(place: Place) -> str:
    """The last line of what stands above a list or a block quote."""
    blocks = place.file.document.blocks
    at = bisect_right(blocks, place.number, key=lambda block: block.first_line) - 2
    for block in reversed(blocks[max(0, at - MOST_ITEMS) : at + 1]):
        if block.kind is not BlockKind.ITEM:
            return block.text.strip().rpartition("\n")[2][-300:] if block.kind is BlockKind.PARAGRAPH else ""
    return ""


def _stance_in_table(place: Place, *, cell: Span) -> Stance:
    """A table is a catalogue where a column weighs its rows or the head says what is bad in them, and no list of steps."""
    inner = quotation_at(place.line, place.at) or Span(place.at, place.at)
    is_ordered = _ORDERS.search(place.line[cell.start : inner.start]) is not None
    head = place.block.text[:LONGEST_LINE].partition("\n")[0]
    if is_procedure(place.block) or (is_ordered and not place.is_in_prose):
        return Stance.STATED
    column = _head_of_column(head, place.line, cell)
    is_remedy = _REMEDY_COLUMN.search(column) is not None or _NO_RISK.search(place.line) is not None
    if _WARNING_COLUMN.search(head) and (place.is_in_prose or not is_remedy):
        return Stance.QUOTED
    is_catalogue = _CATALOGUE_COLUMN.search(head) is not None or _SPEECH.match(place.line, inner.start) is not None
    if _is_spoken_of(place, cell) or (is_catalogue and inner.end > inner.start and is_about_security(place.skill)):
        return Stance.QUOTED
    return stance_under_heading(place, is_quoted=True, is_ordered=is_ordered)


def _head_of_column(head: str, line: str, cell: Span) -> str:
    """The cell at the head of the column that a cell of a row is in."""
    bars = without_quotations(line[: cell.start]).count("|")
    cells = head.split("|")
    return cells[bars].strip() if bars < len(cells) else ""
