"""Whether the concepts of a rule belong together in a sentence: what is done with what, and where that goes.

"Go to the dashboard and ask for a key" has a place, a key and a verb, and gives nobody anything. Where grammar decides, it is
asked here; a language whose grammar we do not know gets the benefit of no doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vskill_platform.scanning.tier1.code.hosts import domain_of, owner_of
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.rules import Rule

if TYPE_CHECKING:
    from vskill_platform.scanning.tier1.meaning.statements import Text

_GOAL, _OBJECT, _ORDERS, _PROMPT = "outside", "secret", "earlier-orders", "inner-prompt"
_STILL = re.compile("(?i)(?: — | – |; )[^.!?]{0,80}\\b(?:still|also|anyway|remains?|stays?|keeps?|kept)\\b".encode())
"""How a sentence comes to what goes on as it was."""
_DOES = re.compile(
    rb"(?i)[\w' ]{1,60}? (?:must|should|may|can|will|shall|has to|needs to|does|ought to) (?:also |always |then )?\Z"
)
"""The prompt and what it does itself, up to the verb."""
_KEY_OF = re.compile(r"\b([A-Z][A-Z0-9]{2,30})_(?:[A-Z]{1,20}_){0,3}(?:TOKEN|KEY|SECRET|PAT)\b")
_HOST = re.compile(r"\b(?:[a-zA-Z0-9-]{1,63}\.){1,6}[a-zA-Z]{2,24}\b(?![(\[])")
_NEXT_ITEM = "、".encode()
_TAKEN = re.compile("把|将|將|を".encode())
"""Words in front of a list, or behind it, that say that something is done with all of it."""
TAKEN_REACH = 60
_PARTICIPLE = re.compile(rb"(?i)\b(?:\w+ed|sent|goes|go|travels?)\b")
_THEM = re.compile(rb"(?i)\b(?:it|them|this|that|these|those|all|both|everything|along)\b")
THEM_REACH = 8
_INSERTED = re.compile(rb"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]|, (?:if|when|while|because|unless)\b[^,]{0,60},")
_OTHER_BREATH = re.compile(
    rb"(?i)[;|\]()]|: |\b(?:if|when|which|while|because|unless|instead of)\b|"
    rb"\band (?:the|your|its|an?) \w+ (?:is|are|has|have|contains?|gets?)\b|"
    rb", (?:and )?(?:manag|administer|rotat|revok|configur|monitor)(?:e|es|s|ing)? "
)
"""Where a sentence comes to speak of something else."""
_THROUGH = re.compile(rb"(?i)\b(?:through|via)\s(?:an? |the |its |your )?\Z")
"""What makes of a variable the way by which something else is handed over."""
_LEFT_BEHIND = re.compile(rb"[/?#=\w.-]*[)\]>`_*]{1,4}, |, (?:which|who|where)\b")
"""How a sentence goes on behind a place that it only links to, in passing."""


def fits(text: Text, rule: Rule, action: Span, around: Span) -> bool:
    """Whether what is done has to do with the rest: a secret that is its object, a place that it may go to."""
    if _GOAL in rule.says and not _has_goal(text, action, around):
        return False
    if _ORDERS in rule.says and not _has_orders(text, action, around):
        return False
    if _PROMPT in rule.says and not _has_prompt(text, action, around):
        return False
    return _OBJECT not in rule.says or (_has_object(text, action, around) and not _is_own_key(text, around))


def _has_goal(text: Text, action: Span, around: Span) -> bool:
    """Whether a place outside may be where something goes: behind the action, or before it in the same thought."""
    places = text.places_within(_GOAL, around)
    return any(action.start <= place.start or not _LEFT_BEHIND.match(text.data, place.end) for place in places)


def _has_orders(text: Text, action: Span, around: Span) -> bool:
    """Whether the orders may be what is dropped: "override the model — the system prompt still applies" drops none."""
    places = list(text.places_within(_ORDERS, around))
    return not places or any(
        place.start < action.end or not _STILL.search(text.data, action.end, place.start) for place in places
    )


def _has_prompt(text: Text, action: Span, around: Span) -> bool:
    """Whether the prompt may be what is given away: "the system prompt must include examples" gives none."""
    places = list(text.places_within(_PROMPT, around))
    return not places or any(not _DOES.match(text.data, place.start, action.start) for place in places)


def _has_object(text: Text, action: Span, around: Span) -> bool:
    """Whether a secret may be what it is done with: behind it in one breath, or before it where it is done to that."""
    if text.language:
        return True
    if not text.data[action.start : action.end].isascii():
        return _is_in_one_item(text, action, around)
    words = text.words
    comes_back = _PARTICIPLE.search(words, *action) or _THEM.search(words, action.start, action.end + THEM_REACH)
    for place in text.places_within(_OBJECT, around):
        is_behind = place.start >= action.end
        between = words[action.end : place.start] if is_behind else words[place.end : action.start]
        if is_behind and _THROUGH.search(between):
            continue
        if (is_behind or comes_back) and not _OTHER_BREATH.search(_INSERTED.sub(b"", between)):
            return True
    return False


def _is_in_one_item(text: Text, action: Span, around: Span) -> bool:
    """Whether a secret stands in no item of a Chinese or Japanese list before the one in which something is done."""
    return any(
        place.start >= action.start
        or _NEXT_ITEM not in text.data[place.end : action.start]
        or _TAKEN.search(text.data, max(around.start, place.start - TAKEN_REACH), action.start)
        for place in text.places_within(_OBJECT, around)
    )


def _is_own_key(text: Text, around: Span) -> bool:
    """Whether the only secret that a sentence names is the key of the only service that it names."""
    sentence = text.data[around.start : around.end].decode(errors="ignore")
    owners = {found[1].lower() for found in _KEY_OF.finditer(sentence)}
    hosts = {owner_of(domain_of(found[0].lower())) for found in _HOST.finditer(sentence)}
    return len(owners) == 1 and owners == hosts and len(list(text.places_within(_OBJECT, around))) == 1
