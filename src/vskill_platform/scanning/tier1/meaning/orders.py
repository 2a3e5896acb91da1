"""Orders that make an example an instruction: "run the block above", "carry out everything under Bad examples".

Nothing excuses a place that the text has the agent carry out, however it is called there. A reference back means the nearest
block that is fenced or quoted, one in the plural all that stands before it in its section, and a section's title all of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from weakref import WeakKeyDictionary

from vskill_platform.scanning.tier1.markdown.document import Block, BlockKind, Document, Section
from vskill_platform.scanning.tier1.meaning.warnings import ATTACKER_ACTS, last_sentence, negates

MOST_ORDERS = 200
LONGEST_BLOCK = 4_000
LONGEST_DOCUMENT = 400_000
SHORTEST_TITLE = 4
_NOT_PROSE = frozenset([BlockKind.FENCE, BlockKind.FRONTMATTER, BlockKind.HEADING])
_KNOWN: WeakKeyDictionary[Document, tuple[tuple[int, int], ...]] = WeakKeyDictionary()
_NAMED: WeakKeyDictionary[Document, dict[str, bool]] = WeakKeyDictionary()
"""What is carried out in the documents that were asked about and are still in use."""
_CARRY_OUT = (
    r"(?:run|execute|perform|carry out|work through|go through|follow|obey|act on|apply|paste|type|launch|complete|start|"
    r"do|use|adopt|implement|heed|enact)"
)
_IMPERATIVE = (
    r"(?:^|[.!?;:,)>*\"”-]\s+|\b(?:and|then|please|now|always|first|must|should|to|you|agent|assistant|will|so|simply|just|"
    r"can|may|instead|it|otherwise|them) )"
)
_THING = (
    r"(?:blocks?|lines?|commands?|snippets?|examples?|steps?|items?|list|scripts?|code|one-?liners?|quotations?|quotes?|"
    r"instructions?|section|entries|rows?|orders?)"
)
_REFERENCE = re.compile(
    rf"(?im){_IMPERATIVE}(?P<verb>{_CARRY_OUT})\s+(?P<what>"
    rf"(?:\w+\s+){{0,3}}(?:the |that |this |those |these |each |every |all |both )?(?:\w+\s+){{0,2}}{_THING}\s+(?:just )?"
    rf"(?:above|before|earlier|quoted|shown|listed|as (?:it|they)|as written|of this section|"
    rf"in this section|exactly|verbatim)|"
    rf"(?:the )?above(?: {_THING})?\b|each of (?:these|those|them)|(?:all|both|every one) of (?:these|those|them|it)|"
    rf"everything (?:above|in this section|listed|shown)|(?:them|those|these) (?:all|in order|"
    rf"one by one|as written|anyway|first|to the letter)|"
    rf"(?:it|this|that|the \w+) to the letter|what (?:it|they|the \w+ above) says?)"
)
_REFERENCE_BY_STATE = re.compile(
    rf"(?i)\b(?:(?:the|that|this) {_THING}(?: above)? (?:is|are) (?:mandatory|required|needed|"
    rf"necessary|not optional|to be \w+|part of)|"
    rf"(?:after|once|having|when|by) (?:running|executing|run|executed) (?:it|this|that|them|(?:the|"
    rf"that|this) (?:\w+ )?{_THING})\b|"
    rf"(?:the|that|this) {_THING}(?: above)? (?:has|have|was|were|had) (?:been )?(?:run|executed|carried out|completed))"
)
"""An order that is given by speaking of what stands above as done or as needed."""
_PLURAL = re.compile(
    r"(?i)\b(?:these|those|them|everything|all|both|each|every|section|list|\w*(?:blocks|lines|"
    r"commands|snippets|examples|steps|"
    r"items|scripts|entries|rows|orders))\b"
)
_TITLE_ORDER = re.compile(rf"(?i){_IMPERATIVE}(?:{_CARRY_OUT})\b[^.!?\n]{{0,60}}$")
_LEADS = re.compile(
    r"(?i)(?:^[\s>*+\d.)-]*(?:(?:download|get|fetch|copy|open|save|unpack|extract|go|log)\b[^.!?]* and )?|[.!?;:,]\s+|"
    r"\b(?:then|please|now|first|must|should|you|agent|will|so|just|by) |"
    r"\band (?=(?:run|execute|paste|type|launch|start)(?: (?:it|this|that|them))?:$))"
    r"(?:run(?:ning)?|execute|executing|paste|pasting|type|install(?:ing)?|launch(?:ing)?|start(?:ing)?|enter|begin|"
    r"set up|setup|prepare|fetch|load|deploy|activate|trigger|call|try|use|using|"
    r"carry out|do (?:this|it) (?:first|now|once)|follow)\b"
)
_ORDERED_TABLE = re.compile(
    r"(?i)\|[^|]*\b(?:steps?|do|does|run|action to take|to do|execute|type|command to run|procedure)\b[^|]*\|"
)


def leads_by_order(lead: str) -> bool:
    """Whether the words before a place tell whoever reads them to carry it out."""
    found = [*_LEADS.finditer(lead)]
    return bool(found) and not negates(lead[: found[-1].end()]) and ATTACKER_ACTS.search(lead) is None


def is_procedure(table: Block) -> bool:
    """Whether the head of a table says that its rows are steps."""
    return _ORDERED_TABLE.search(table.text[:LONGEST_BLOCK].partition("\n")[0]) is not None


def is_carried_out(document: Document, line: int) -> bool:
    """Whether the text elsewhere has the agent carry out what stands in a line; so it is taken where the text is too long."""
    section = document.section_at(line)
    return (
        any(first <= line <= last for first, last in _carried_out(document))
        or section is None
        or _is_named_in_order(document, section.title.lower())
    )


def _carried_out(document: Document) -> tuple[tuple[int, int], ...]:
    """The lines that the text refers to in its orders, as first and last."""
    if document not in _KNOWN:
        _KNOWN[document] = tuple(_find_carried_out(document))
    return _KNOWN[document]


def _find_carried_out(document: Document) -> Iterator[tuple[int, int]]:
    if sum(len(block.text) for block in document.blocks) > LONGEST_DOCUMENT:
        yield 0, document.blocks[-1].last_line
        return
    for number, section in enumerate(document.sections):
        before = document.sections[number - 1] if number else None
        for at, block in enumerate(section.blocks):
            for what in islice(_references(block), MOST_ORDERS):
                yield from _meant(what, section, at, before)


def _is_named_in_order(document: Document, title: str) -> bool:
    """Whether an order names a section by its title."""
    known = _NAMED.setdefault(document, {})
    if title not in known:
        known[title] = len(title) >= SHORTEST_TITLE and any(_orders_by(title, block) for block in document.blocks)
    return known[title]


def _orders_by(title: str, block: Block) -> bool:
    text = "" if block.kind in _NOT_PROSE else block.text[:LONGEST_BLOCK].lower()
    start = text.find(title)
    return start > 0 and _TITLE_ORDER.search(text[:start]) is not None and not negates(text[:start])


def _references(block: Block) -> Iterator[str]:
    """What a block of prose has the agent carry out that stands before it."""
    if block.kind in _NOT_PROSE:
        return
    text = block.text[:LONGEST_BLOCK].replace("\n", " ")
    for found in _REFERENCE.finditer(text):
        if not negates(text[: found.start("verb")]) and not _has_attacker(text[: found.end("verb")]):
            yield found["what"]
    for found in _REFERENCE_BY_STATE.finditer(text):
        if not negates(text[: found.start()]) and not _has_attacker(text[: found.end()]):
            yield found[0]


def _has_attacker(before: str) -> bool:
    """Whether an attacker is who acts in the sentence."""
    return ATTACKER_ACTS.search(last_sentence(before)) is not None


def _meant(what: str, section: Section, at: int, before: Section | None) -> Iterator[tuple[int, int]]:
    """The lines that a reference in a block of a section means."""
    earlier = section.blocks[:at]
    if _PLURAL.search(what) and earlier:
        yield earlier[0].first_line, earlier[-1].last_line
        return
    if earlier and earlier[-1].kind is BlockKind.PARAGRAPH:
        yield earlier[-1].first_line, earlier[-1].last_line
    for block in reversed([*(before.blocks if before else ()), *earlier]):
        if block.kind in (BlockKind.FENCE, BlockKind.QUOTE, BlockKind.TABLE) or "`" in block.text:
            yield block.first_line, block.last_line
            return
