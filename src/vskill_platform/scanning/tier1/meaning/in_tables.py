"""How a table stands to what is in one of its rows: by the words in the cell, by the head of its column and by the other rows."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.meaning.orders import is_procedure
from vskill_platform.scanning.tier1.meaning.quotations import around, cell_at, quotation_at, without_quotations
from vskill_platform.scanning.tier1.meaning.stances import (
    ABOUT_ATTACKS,
    ABOUT_WORDS,
    LONGEST_LINE,
    ORDERS,
    PROTECTS,
    SPEECH,
    Place,
    Stance,
    is_about_security,
    stance_under_heading,
)
from vskill_platform.scanning.tier1.meaning.warnings import blocks, praises
from vskill_platform.scanning.tier1.patterns import Span

MOST_ROWS = 60
"""Rows of a table that are looked at for what its column holds."""
FEWEST_QUOTATIONS = 3
_SEVERITY = re.compile(
    r"(?i)\|[^\w|]{0,9}(?:critical|high|medium|severe|danger\w*|block|reject|malicious|fail)"
    r"(?:[^\w|]{0,9}(?:\||$)|: | (?:in|if|when) )"
)
"""A cell of a table that weighs what its row is about."""
_CATALOGUE_COLUMN = re.compile(
    r"(?i)\|[^|]*\b(?:patterns?|examples?|signs?|signatures?|strings?|techniques?|payloads?|means|meaning|specimens?|"
    r"samples?|quotes?|phrases?|wordings?|looks? (?:like|at|for)|tricks?|lures?|probes?|(?:you )?see|"
    r"seen|observed|muster|beispiele?|exemples?|motifs?|ejemplos?|patr[oó]n(?:es)?|padr(?:ão|ões)|шаблон\w*|пример\w*)\b|"
    r"\|[^|]*(?:模式|示例|样例|例子|特征|パターン|例|패턴|예시)"
)
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
_SAID_COLUMN = re.compile(
    r"(?i)\b(?:say|repl(?:y|ies)|tell|write|output|instructions?|rules?|behaviou?r|you|agent|then)\b"
)
"""Heads of columns whose quotations are what the agent is to say or to do."""
_BLOCKED_COLUMN = re.compile(
    r"(?i)\W*(?:blocks|blocked|den(?:ies|ied)|reject(?:s|ed)|refuse[sd]|forbidden|catches|disallowed)\b"
)
"""Heads of columns that hold what a guard does not let through."""
_OTHERS_COLUMN = re.compile(
    r"(?i)\W*(?:(?:if |when )?(?:they|he|she|users?|pupils?|students?|players?|customers?|callers?|clients?|people|somebody|"
    r"someone|patients?|candidates?|guests?)\s(?:says?|asks?|writes?|tr(?:y|ies)|push(?:es)?|claims?|argues?)|"
    r"what (?:they|people|users?) (?:say|ask|try))\b"
)
_ANSWERED = re.compile(
    r"(?i)\|\s*\W*(?:you (?:say|answer|reply|do)|your (?:answer|reply|response)|answer|reply|response|say)\b"
)
"""Heads of a table of what others say, and of what the agent says to it."""
_NO_RISK = re.compile(r"(?i)\|[^\w|]{0,9}(?:none|low|no|safe|ok|harmless|n/a)[^\w|]{0,9}(?:\||$)")
_ORIGINAL = re.compile(
    r"(?i)原文|источник|оригинал|\b(?:source(?: text| string)?|original|msgid|quelltext|ausgangstext)\b"
)
_TRANSLATION = re.compile(
    r"(?i)訳|译|перевод|\b(?:translations?|translated|target(?: text| string)?|msgstr|übersetzung|traduc\w+|zieltext)\b"
)
_WHOLE = re.compile(r"[\s*_]*(?:`.*`|\".*\"|“.*”|«.*»|「.*」)[\s*_.…]*$")
"""A cell that holds nothing but quotations."""


def stance_in_table(place: Place) -> Stance:
    """A table is a catalogue where a column weighs its rows or the head says what is in them, and no list of steps."""
    line, cell = place.line, cell_at(place.line, place.at)
    inner = _quotation_in(place)
    lead = line[cell.start : inner.start] if cell.start <= inner.start < cell.end else ""
    if inner.end > inner.start and blocks(lead):
        return Stance.QUOTED
    is_ordered = ORDERS.search(lead) is not None
    head = place.block.text[:LONGEST_LINE].partition("\n")[0]
    if place.is_of_words and _ORIGINAL.search(head) and _TRANSLATION.search(head):
        return Stance.QUOTED
    if is_procedure(place.block) or (is_ordered and not place.is_in_prose):
        return Stance.STATED
    column = _head_of_column(head, line, cell)
    if inner.end > inner.start and _BLOCKED_COLUMN.match(column):
        return Stance.QUOTED
    if place.is_of_words and inner.end > inner.start and _OTHERS_COLUMN.match(column) and _ANSWERED.search(head):
        return Stance.QUOTED
    is_remedy = _REMEDY_COLUMN.search(column) is not None or _NO_RISK.search(line) is not None
    if _WARNING_COLUMN.search(head) and (place.is_in_prose or not is_remedy):
        return Stance.QUOTED
    if _is_spoken_of(place, cell) or (is_about_security(place.skill) and _is_catalogued(place, inner, head)):
        return Stance.QUOTED
    return stance_under_heading(place, is_quoted=True, is_ordered=is_ordered)


def _quotation_in(place: Place) -> Span:
    """The quotation around a place; of a sentence that was read over cells, the first that it comes to."""
    found = quotation_at(place.line, place.at)
    if found is None and place.is_in_prose:
        opening = re.compile(r"[\"“«「`]").search(place.line, place.at)
        found = quotation_at(place.line, opening.start()) if opening else None
    return found or Span(place.at, place.at)


def _is_catalogued(place: Place, inner: Span, head: str) -> bool:
    """Whether a guide about attacks quotes something in a table of such things, or words of speech."""
    if inner.end == inner.start:
        return False
    if _CATALOGUE_COLUMN.search(head):
        return True
    column = _head_of_column(head, place.line, inner)
    if _SAID_COLUMN.search(column) or _REMEDY_COLUMN.search(column):
        return False
    is_words = place.is_wording
    return SPEECH.match(place.line, inner.start) is not None or (is_words and _is_column_of_quotations(place, inner))


def _is_column_of_quotations(place: Place, inner: Span) -> bool:
    """Whether most cells above and below a quotation are quotations too."""
    number = _number_of_column(place.line, inner)
    rows = [row[:LONGEST_LINE] for row in place.block.text.split("\n", MOST_ROWS + 2)[2 : MOST_ROWS + 2]]
    held = [_cell_of(row, number) for row in rows]
    whole = sum(_WHOLE.match(cell) is not None for cell in held)
    return whole >= FEWEST_QUOTATIONS and whole * 3 >= len(held) * 2


def _cell_of(row: str, number: int) -> str:
    cells = re.split(r"(?<!\\)\|", row)
    return cells[number] if number < len(cells) else ""


def _is_spoken_of(place: Place, cell: Span) -> bool:
    """Whether the other cells of a row say that it is an attack, or somebody else's words."""
    said = around(place.line, cell)
    if _SEVERITY.search(said):
        return True
    if place.is_of_words:
        return ABOUT_ATTACKS.search(said) is not None or ABOUT_WORDS.search(said) is not None
    is_done = praises(place.line[: cell.start]) or PROTECTS.search(said) is not None
    return is_about_security(place.skill) and ABOUT_ATTACKS.search(said) is not None and not is_done


def _number_of_column(line: str, cell: Span) -> int:
    return without_quotations(line[: cell.start]).count("|")


def _head_of_column(head: str, line: str, cell: Span) -> str:
    """The cell at the head of the column that a cell of a row is in."""
    number = _number_of_column(line, cell)
    cells = head.split("|")
    return cells[number].strip() if number < len(cells) else ""
