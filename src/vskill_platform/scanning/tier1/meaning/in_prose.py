"""How prose stands to what it says: a sentence, an item of a list, a block quote or a row of a table, and the words beside it."""

from __future__ import annotations

import re
from bisect import bisect_right

from vskill_platform.scanning.tier1.markdown.document import BlockKind
from vskill_platform.scanning.tier1.meaning.examples import is_example
from vskill_platform.scanning.tier1.meaning.in_tables import stance_in_table
from vskill_platform.scanning.tier1.meaning.orders import leads_by_order
from vskill_platform.scanning.tier1.meaning.quotations import cell_at, quotation_at, without_quotations
from vskill_platform.scanning.tier1.meaning.shown import is_indented_and_shown
from vskill_platform.scanning.tier1.meaning.stances import (
    ABOUT_ATTACKS,
    ABOUT_WORDS,
    LEADS_TO_ATTACK,
    LONGEST_LINE,
    ORDERS,
    PROTECTS,
    SPEECH,
    Place,
    Stance,
    comment_behind,
    is_about_security,
    is_done_by_attacker,
    is_label_of_attack,
    stance_under_heading,
)
from vskill_platform.scanning.tier1.meaning.warnings import (
    blocks,
    comment_warns,
    is_labelled,
    keeps,
    last_sentence,
    negates,
    negates_omission,
    praises,
)
from vskill_platform.scanning.tier1.patterns import Span

MOST_ITEMS = 200
"""Items of a list that are passed over in search of the paragraph that leads to it."""
_OBEYED_BEHIND = re.compile(
    r"(?i)\b(?:act on|obey|do so|comply|carry (?:it|them|this|that) out|execute (?:it|them|what)|run (?:it|them|this)|"
    r"follow (?:it|them|this|what)|apply to you|appl(?:y|ies) (?:from|here)|is binding|"
    r"is an order|does (?:that|it|this) once)\b"
)
_SAID_BY_OTHERS = re.compile(
    r"(?i)^[\W\d_]*(?:(?:some|many|most|your|their|the|real|curious|bored|hostile|other|end|sooner or later) ){0,3}"
    r"(?:users|customers|visitors|callers|players|pupils|students|guests|members|people|somebody|someone|"
    r"(?:a|the) (?:user|customer|visitor|caller|player|pupil|student|guest)) "
    r"(?:(?:will|may|might|can|could|would|often|sometimes|also|inevitably|eventually|sooner or later) ){0,2}"
    r"(?:types?|writes?|asks?|tr(?:y|ies)|pastes?|says?|sends?|enters?)(?: (?:things|something|messages|questions))?"
    r"(?: like| such as)?(?:[\s,:/]|\bor\b|\band\b)*$"
)
"""A sentence that, but for quotations, says no more than that other people will type what comes next."""
_ANSWERED = re.compile(r"[\"”]?\s*(?:→|->|=>|⇒)\s*\S")
"""Behind what somebody says at the beginning of a line: what is answered."""
_IF_SAID = re.compile(
    r"(?i)^[\W\d_]*(?:if|when|whenever) (?:(?:the|a|an|some|another|your) )?(?:\w+ ){1,3}?(?:in (?:the |a )?\w+ )?"
    r"(?:types?|writes?|asks?|pastes?|says?|sends?|reads)(?:[\s,/]|\bor\b|\band\b)*$"
)
_REFUSED_BEHIND = re.compile(
    r"(?i)[^.!?]{0,60}\b(?:not (?:a|an|your) (?:task|order|instruction|request|command)|"
    r"(?:is|are) (?:an? )?(?:attack|injection)\w*|to report\b|report it|ignore it|decline|refuse|do(?:es)? not (?:count|apply)|"
    r"(?:do not|don['’]t|never) (?:do|obey|follow|act))\b"
)
"""A condition that somebody says something, and what makes nothing of it."""
_GRANTED_BEHIND = re.compile(
    r"(?i)\b(?:do (?:it|that|this|what|as|exactly)|(?:you|the (?:agent|assistant|bot|model)) (?:must|should|shall|will|can|may)\b"
    r"(?! (?:not|never|refuse|decline))|(?:always|then|please|so) \w+ (?:it|them|that|this|what)|honou?r|grant|accept|fulfil\w*|"
    r"adopt|treat (?:it|this|that|them) as|is (?:right|correct|fine|policy|allowed))\b"
)
"""Words behind what other people type that have it done."""
_DONE_BEHIND = re.compile(
    r"(?i)(?<!not )(?<!n['’]t )(?<!never )\b(?:do exactly (?:that|this|so)|(?:honou?r|grant|fulfil) (?:it|that|this|them)|"
    r"you must (?:obey|honou?r|follow|comply|do))\b"
)
"""Words behind a quotation that nobody has who only speaks of it."""
_ASKS_FOR = re.compile(
    r"(?i)[\W\d_]*(?:is|are|does|do|has|have|was|were|which|who) (?!you\b|we\b|i\b|the (?:agent|assistant|user)\b)"
    r"[^?!.\"“`()]{3,200}\?[*_]*\s+\((?:e\.g\.,? |for example,? |such as |like )?(?:[\s,;/]|or\b|and\b)*$"
)
"""A question that is no polite order, and the bracket that opens behind it."""
_BRACKET_ENDS = re.compile(r"(?i)(?:[\s,;/…]|or\b|and\b|etc\.)*\)[\s*_]*$")
_DISMISSED = re.compile(
    r"(?i)(?:\b(?:not|nothing|neither|never|hardly)|n['’]t)\s(?:\w+ ){0,2}(?:suspicious|dangerous|malicious|unsafe|insecure|"
    r"wrong|hostile|an? attack|a threat|harmful)\b"
)
"""Words that make little of a danger."""
_NEXT_SENTENCE = re.compile(r"[.!?]\s+(?=[A-Z])")
_HUNTED = re.compile(
    r"(?i)[\s\W\d]*(?:also )?(?:block|detect|flag|reject|refuse|deny|warn|look for|search for|find|catch|"
    r"report|spot|watch for|grep for)s?"
    r"\b:?(?!.*(?:\b(?:with|by|using|via|through|then|and)\b|:\s)).{0,80}$"
)
"""A sentence that has the reader look for what it quotes."""
_IS_SENT = re.compile(
    r"(?i)\b(?:an?|any|the) (?:\w+ )?(?:comment|title|branch|tag|issue|page|document|string|request|parameter|file|input|message|"
    r"field|value|link|header) (?:whose (?:\w+ ){1,2}is|that (?:says|reads|contains)|named|called|titled) $"
)
"""What somebody else hands in, up to what it says."""
_NAMED_BY_OTHERS = re.compile(
    r"(?i)\b(?:untrusted|hostile|attackers?|malicious|injection)\b[^`]{0,160}\b"
    r"(?:may|might|can|could) be (?:called|named|titled) `?$"
)
"""What somebody else may call something, in a line that warns of it."""
_WHY_BAD = re.compile(
    r"(?i)[^`\n]{0,12}\bwhy (?:it is |it's |this is )?(?:bad|wrong|dangerous|harmful|malicious)\s*[:?]"
)
"""What is said right behind a specimen."""
_GOES_ON = re.compile(r"\b(?:contains?|with|says?|reads?|such as|like)$")
"""How a line ends that a block quote goes on from."""
_ANOTHER = ("or ", "and ")
_ASKED_ABOUT = re.compile(r"\s*(?:\d{1,2}[.)]|[-*+])\s+\*\*[^*]{3,80}\?\*\*\s")
"""An item that asks something of what is looked at."""
_DESCRIBED_BEHIND = re.compile(r"(?i)[\s)*]+(?:is|are|gives?|means?|spells?|equals?|becomes?) [`\"“]")
_FOUND = re.compile(r"(?i)\b(?:found|seen|observed|typical|artefacts?|artifacts?|traces?)\b")
_READER_ACTS = re.compile(
    r"(?i)\b(?:you|we|the agent|the assistant)\s+(?!(?:see|find|spot|notice|meet|encounter|detect|come|may|might|will see)\b)"
)
_LABELLED = re.compile(r"[\w ]{0,16}: ?[\"`“]")
_NAMED_WORDS = re.compile(
    r"(?i)[\s>*+\d.)-]{0,12}\*\*[^*]{1,80}\*\*:?\s+(?:an?|any|such|these|every) (?:sentence|phrase|line|text|instruction|"
    r"request|order|wording|page|comment|message|description)s? (?:that|which|like)\b"
)
"""A bold name of words that attackers write, and what it says of them."""


_CATALOGUED = re.compile(r"[\s>*+-]{0,6}\*\*[A-Z]{1,3}\d{1,3}\*\*[^`:]{0,60}:\s*`?$")
"""The number of an entry and its name, up to what it is about."""
_LEADS_TO_EXAMPLE = re.compile(
    r"(?i)\b(?:examples?|samples?|specimens?|shapes?|forms?|variants?|cases?|excerpts?|seen|observed|reported|comments?|"
    r"reports?|test (?:e-?mails?|messages?|inputs?|prompts?|documents?))\b[^.:]{0,50}:$"
)
_WOULD_BEHIND = re.compile(
    r"(?i)[\s\"”)]*would (?:then )?(?:run|execute|delete|read|send|download|leak|print|be (?:run|executed))\b"
)
"""What would happen behind a quotation, in a sentence that calls it an attack."""
_TURNED_DOWN = re.compile(
    r"(?i)[\s\"”)]*(?:is|are|gets?|ends? in|must be|should be|will be)(?: always)? [\"“]?(?:rejected|refused|blocked|denied|"
    r"forbidden|not allowed|disallowed)\b"
)
"""What becomes of a command that somebody tries."""
_WRITES = re.compile(r"`+\s*(?:sudo\s+)?(?:echo|printf|cat|tee|sed|jq|yq)\s")
"""A command that writes: what stands in it is what is written, and warns of nothing."""
_SHAPES = re.compile(
    r"(?i)\b(?:typical|common|known|frequent|usual) (?:shapes|forms|patterns|signs|signals|attempts|tricks|attacks|"
    r"indicators)\b[^!?]{0,120}?: "
)
_LISTED_ORDER = re.compile(
    r"(?i)[,;:] (?:instructions?|requests?|orders?|attempts?|commands?|demands?|prompts?) (?:to|that|which)\b"
)
"""An item of an enumeration that names an order by what it wants."""
_SAMPLE_LABEL = re.compile(
    r"(?i)[\s>*_+-]*(?:samples?|examples?|specimens?|payloads?|attacks?|injections?|test (?:input|prompt|message))"
    r"(?: \d+)?[*_]*\s?:[*_]*\s"
)
_AVOIDED = re.compile(r"(?i)\W*(?:\w+ly )?avoid (?:all of )?(?:these|the following)\b[^.;:!?]{0,80}[:：]$")
"""A sentence that leads to what is to be avoided, whatever it is called there."""
_DISOWNED = re.compile(
    r"(?i)\W*(?:(?:treat|handle|regard|take) "
    r"(?:it|this|that|them) (?:only |just )?as (?:an? )?(?:\w+ )?(?:data|texts?|strings?|content|input)\b|"
    r"(?:never|do not|don['’]t) (?:follow|obey|act on|execute|carry out|comply with) (?:it|this|that|them)\b|"
    r"you (?:do not|don['’]t|never) (?:skip|follow|obey|comply|answer)\b|"
    r"(?:it|this|that|such text) is (?:only |just )?(?:data|content|"
    r"not (?:an? )?(?:orders?|instructions?|commands?|requests?))\b)"
)
"""How a paragraph begins that makes nothing of the block quote above it."""
_WEIGHED = re.compile(r"(?i)[\s>*_\[+-]*(?:critical|high|medium|severe|blocker)\b")
"""A finding that begins with its weight."""


def stance_in_prose(place: Place) -> Stance:
    line, at = place.line, place.at
    quoted = _quotation(place)
    before, behind = line[: quoted.start if quoted else at], line[quoted.end if quoted else at :]
    if not place.is_of_words and _DISMISSED.search(
        f"{last_sentence(before)} {_NEXT_SENTENCE.split(behind, maxsplit=1)[0]}"
    ):
        return Stance.STATED
    if _is_warned_of(place, before, behind) or _is_marked_bad(line, at, quoted):
        return Stance.WARNED
    if any(is_done_by_attacker(last_sentence(text)) for text in (line[:at], before)):
        return Stance.QUOTED
    if place.block.kind is BlockKind.TABLE:
        return stance_in_table(place)
    if _is_named(place) or _is_sample(place) or _is_listed_shape(place) or (quoted and _NAMED_BY_OTHERS.search(before)):
        return Stance.QUOTED
    if is_about_security(place.skill) and (
        _ASKED_ABOUT.match(line) or (quoted and _WHY_BAD.match(behind)) or _WHY_BAD.search(before)
    ):
        return Stance.QUOTED
    if _is_obeyed(behind):
        return Stance.STATED
    if quoted and place.is_of_words and (_is_said_by_others(place, before, behind) or _is_asked_for(before, behind)):
        return Stance.QUOTED
    is_ordered = ORDERS.search(last_sentence(before)) is not None and not _CATALOGUED.match(before)
    if place.block.kind is BlockKind.QUOTE and place.is_of_words and (_is_led_to(place) or _is_disowned(place)):
        return Stance.QUOTED
    if not is_ordered and (_is_led_to(place) or (quoted and _is_spoken_of(place, quoted))):
        return Stance.QUOTED
    if is_indented_and_shown(place):
        return Stance.QUOTED
    is_quoted = quoted is not None or place.block.kind is BlockKind.QUOTE
    return stance_under_heading(place, is_quoted=is_quoted, is_ordered=is_ordered)


def _is_named(place: Place) -> bool:
    """Whether a guide about attacks gives words as the name of what it speaks of next."""
    found = _NAMED_WORDS.match(place.line)
    return found is not None and place.at < found.end() and place.is_of_words and is_about_security(place.skill)


def _is_listed_shape(place: Place) -> bool:
    """Whether a guide about attacks names, in an enumeration, the orders that attackers give."""
    if not place.is_wording or not is_about_security(place.skill):
        return False
    before = last_sentence(place.line[: place.at])
    listed = list(_LISTED_ORDER.finditer(before)) if _SHAPES.search(before) else []
    return bool(listed) and (place.is_in_prose or not before[listed[-1].end() :].strip())


def _is_sample(place: Place) -> bool:
    """Whether a guide about attacks labels the words of a line as a sample."""
    if not place.is_wording or not is_about_security(place.skill):
        return False
    return _SAMPLE_LABEL.match(place.line, 0, place.at) is not None


def _is_warned_of(place: Place, before: str, behind: str) -> bool:
    """Whether the words in front of a place, or of the quotation that it is in, speak against it."""
    upto = place.line[: place.at]
    if place.line[place.at :].lower().startswith("without") and negates_omission(upto):
        return True
    if keeps(before, place.line[len(before) : len(place.line) - len(behind)]):
        return False
    if _WRITES.match(upto, len(before)):
        return negates(before, behind)
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
    said = without_quotations(behind)
    found = _OBEYED_BEHIND.search(said)
    return found is not None and not negates(said[: found.start()])


def _is_said_by_others(place: Place, before: str, behind: str) -> bool:
    """Whether a sentence says of its quotations that other people type them, and the paragraph has nobody do what they say."""
    said = without_quotations(last_sentence(before))
    is_refused = _IF_SAID.match(said) is not None and _REFUSED_BEHIND.match(behind.lstrip('"”')) is not None
    is_answered = not any(map(str.isalnum, before)) and _ANSWERED.match(behind) is not None
    if not is_refused and not is_answered and not _SAID_BY_OTHERS.match(said.rpartition(": ")[2]):
        return False
    return not _is_granted(place, behind)


def _is_granted(place: Place, behind: str, *, by: re.Pattern[str] = _GRANTED_BEHIND) -> bool:
    """Whether the rest of the paragraph has somebody do what a quotation says."""
    rest = " ".join([behind, *place.file.lines[place.number : place.block.last_line]])[:LONGEST_LINE]
    return by.search(without_quotations(rest)) is not None


def _is_asked_for(before: str, behind: str) -> bool:
    """Whether quotations are all that stands in brackets behind a question, as the examples of what it asks for."""
    is_question = _ASKS_FOR.match(without_quotations(before[-LONGEST_LINE:])) is not None
    return is_question and _BRACKET_ENDS.match(without_quotations(behind)) is not None


def _is_spoken_of(place: Place, quoted: Span) -> bool:
    """Whether the sentence around a quotation says that it is an attack, or somebody else's words."""
    behind = place.line[quoted.end :]
    said = f"{last_sentence(place.line[: quoted.start])} {_NEXT_SENTENCE.split(behind, maxsplit=1)[0]}"
    if is_about_security(place.skill) and (_is_subject(place, quoted, said) or _is_example(place, quoted)):
        return True
    if place.is_of_words:
        is_about = ABOUT_ATTACKS.search(said) is not None or ABOUT_WORDS.search(said) is not None
        return is_about and not _is_granted(place, behind, by=_DONE_BEHIND)
    lead = last_sentence(place.line[: quoted.start])
    if _WOULD_BEHIND.match(behind) and ABOUT_ATTACKS.search(place.line[: quoted.start].rpartition(". ")[2]):
        return PROTECTS.search(said) is None
    if _HUNTED.match(lead) or _TURNED_DOWN.match(behind):
        return True
    is_done = _READER_ACTS.search(lead) is not None or praises(lead) or PROTECTS.search(said) is not None
    return is_about_security(place.skill) and ABOUT_ATTACKS.search(said) is not None and not is_done


def _is_subject(place: Place, quoted: Span, said: str) -> bool:
    """Whether a guide about attacks says something of a quotation, or gives words of speech."""
    is_speech = SPEECH.match(place.line, quoted.start) is not None
    is_described = _DESCRIBED_BEHIND.match(place.line[quoted.end :]) is not None
    is_sent = _IS_SENT.search(place.line, 0, quoted.start) is not None
    return is_speech or is_described or is_sent or _FOUND.search(said) is not None


def _is_example(place: Place, quoted: Span) -> bool:
    line = place.line
    return is_example(last_sentence(line[: quoted.start]), line[quoted.start : quoted.end], line[quoted.end :])


def _is_led_to(place: Place) -> bool:
    """Whether the paragraph above a list or a block quote leads to it as to what attackers do."""
    if place.block.kind not in (BlockKind.ITEM, BlockKind.QUOTE):
        return False
    lead = last_sentence(_paragraph_above(place))
    if is_label_of_attack(lead) and place.block.kind is BlockKind.QUOTE and is_about_security(place.skill):
        return True
    if _AVOIDED.match(lead):
        return True
    is_open = lead.endswith((":", "：")) or (place.block.kind is BlockKind.QUOTE and _GOES_ON.search(lead) is not None)
    if not is_open or leads_by_order(lead) or PROTECTS.search(lead):
        return False
    if blocks(lead.rstrip(":： ")) or (is_about_security(place.skill) and _is_led_to_example(place, lead)):
        return True
    if _HUNTED.match(lead) and is_about_security(place.skill) and quotation_at(place.line, place.at):
        return True
    is_negated = negates(lead) and not keeps(lead, place.line)
    return bool(is_negated or is_labelled(lead) or is_done_by_attacker(lead) or LEADS_TO_ATTACK.search(lead))


def _is_disowned(place: Place) -> bool:
    """Whether the paragraph right below a block quote says that nobody is to follow it."""
    below = place.file.document.block_at(place.block.last_line + 1) or place.file.document.block_at(
        place.block.last_line + 2
    )
    if below is None or below.kind is not BlockKind.PARAGRAPH:
        return False
    return _DISOWNED.match(below.text) is not None and not _DONE_BEHIND.search(below.text[:LONGEST_LINE])


def _is_led_to_example(place: Place, lead: str) -> bool:
    """Whether a guide about attacks leads to words, or to a finding with its weight, as to an example."""
    if not _LEADS_TO_EXAMPLE.search(lead) or _READER_ACTS.search(lead):
        return False
    return place.is_wording or _WEIGHED.match(place.line) is not None


def _paragraph_above(place: Place) -> str:
    """The last line of what stands above a list or a block quote."""
    blocks = place.file.document.blocks
    at = bisect_right(blocks, place.number, key=lambda block: block.first_line) - 2
    for block in reversed(blocks[max(0, at - MOST_ITEMS) : at + 1]):
        lead = block.text.strip().rpartition("\n")[2][-300:] if block.kind is BlockKind.PARAGRAPH else ""
        is_another = place.block.kind is BlockKind.QUOTE and lead.startswith(_ANOTHER) and _GOES_ON.search(lead)
        if block.kind not in (BlockKind.ITEM, BlockKind.QUOTE) and not is_another:
            return lead
    return ""
