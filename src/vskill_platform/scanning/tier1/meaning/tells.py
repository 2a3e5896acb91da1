"""Prose that works against the user, told by what comes together in a passage rather than by its words.

One sign alone is ordinary: a style guide says what not to mention, an API guide says what to send where. An attack needs
several in one place, something that is done and something that keeps it from being noticed or refused. Each sign has a
weight; a passage whose signs weigh enough, one of them grave, is reported with the signs that were seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import FileKind
from vskill_platform.scanning.tier1.meaning.stances import is_about_security, speaks_of_attacks
from vskill_platform.scanning.tier1.meaning.statements import Text
from vskill_platform.scanning.tier1.patterns import Span
from vskill_platform.scanning.tier1.skill import Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.view import View

AGAINST_THE_USER = "against_the_user"
PERHAPS = "perhaps_against_the_user"
CHECKS = frozenset([AGAINST_THE_USER, PERHAPS])
REACH = 350
"""Bytes to each side of a grave sign that belong to its passage, within its section."""
ENOUGH = 5.0
ALMOST = 4.0
HIDDEN_MARGIN = 2.0
"""What need not be there in text that was hidden or encoded: that it was is a sign by itself."""
SECURITY_MARGIN = 1.5
"""What must weigh more in a skill that says of itself that it is about attacks: it has to speak of them."""
IDLE_MARGIN = 1.0
ASKED_MARGIN = 0.5
BESIDE = 2
"""Where paragraphs and items begin or end that ordinary signs may stand beyond: they lend weight to what is beside them."""
_BLOCK = re.compile(rb"\n(?=[ \t]*(?:\n|[-*+] |\d{1,3}[.)] |#|\|))")
_QUOTED = rb'"[^"\n]{1,80}"'
_EXAMPLES = re.compile(rb"\((?:e\.g\.,? |like |such as )?%b(?:,? (?:or |and )?%b){0,5}\)" % (_QUOTED, _QUOTED))
STEP = 60
"""Bytes that are passed over behind a grave sign whose passage did not weigh enough."""
GRAVE = {
    "conceal": 2.5,
    "deceive": 2.5,
    "persona": 2.5,
    "claims": 2.25,
    "untrusted-orders": 2.5,
    "obey-it": 1.5,
    "over-others": 1.5,
    "no-choice": 1.75,
    "secret-trigger": 1.0,
    "later": 1.5,
    "falsify": 2.0,
    "others-orders": 2.0,
}
"""Signs that a passage must have one of."""
ORDINARY = {
    "reviewer": 1.0,
    "send": 1.0,
    "outside": 1.0,
    "secret": 1.0,
    "conversation": 1.0,
    "unattended": 1.0,
    "memory": 1.0,
    "earlier-orders": 1.5,
    "inner-prompt": 1.5,
    "safeguard": 0.75,
    "destroy": 0.75,
    "rights": 1.0,
    "have-them": 1.0,
    "interest": 1.5,
    "in-their-name": 1.5,
    "their-money": 1.0,
    "clear-verdict": 1.5,
    "always": 0.5,
    "run": 0.5,
}
WEIGHTS = {**GRAVE, **ORDINARY}
_HIDDEN = frozenset([FileKind.HIDDEN, FileKind.DECODED])
_COVERS = frozenset(["conceal", "deceive"])
"""Signs that something is kept from the user."""
_ACTS = frozenset(
    ["send", "deceive", "claims", "persona", "no-choice", "untrusted-orders", "others-orders", "falsify", "later"]
)
"""Signs beside which a secret that is kept to oneself is no precaution."""
_SOMEBODY = re.compile(
    "(?i)user|person|people|client|customer|owner|reader|anyone|anybody|them|usuari|utilisateur|nutzer|utente|用户|使用者|"
    "客户|ユーザー|利用者|사용자|пользоват|المستخدم|उपयोगकर्ता".encode()
)
_READS_ONLY = re.compile(rb"(?i)\bread-?only\b|\bonly (?:reads?|looks?|lists?|shows?)\b|\bdry[- ]runs?\b")
_NAMED = re.compile(rb"`([^`\n]{1,60})`")
_READING = re.compile(
    rb"(?i)(?:(?:auth|kubectl|git|gh|docker|helm|terraform|aws|gcloud|az|npm|systemctl) )?(?:get|describe|logs?|events|explain|"
    rb"list|ls|status|diff|show|view|plan|top|version|api-resources|port-forward|can-i|search|find|grep|cat|head|tail|read|blame|history|whoami|info|inspect|ps|du|df|stat|wc)\b"
)
"""Commands that change nothing."""
_DONE = frozenset(
    ["send", "run", "destroy", "obey-it", "untrusted-orders", "falsify", "others-orders", "in-their-name"]
)
"""Signs that something is done, which do not count where it is negated."""
_OTHER_ACTS = ("switch-off", "promote", "leak")
"""What else is done where something is kept from the user; no signs by themselves."""


def against_the_user(text: Text, view: View, skill: SkillUnderScan) -> Iterator[Sighting]:
    """Passages of prose whose signs weigh enough, each once."""
    hidden = HIDDEN_MARGIN if view.kinds & _HIDDEN else 0.0
    guide = None if hidden else skill
    for weight, span, signs in islice(_passages(text, guide=guide, more=hidden), skill.limits.max_matches):
        check = AGAINST_THE_USER if weight >= ENOUGH else PERHAPS
        yield _sighting(check, view, span, signs)


def _passages(text: Text, *, guide: SkillUnderScan | None, more: float) -> Iterator[tuple[float, Span, list[str]]]:
    """Passages that weigh enough, each with its weight; if the skill is a guide about attacks, its lessons weigh less."""
    looked_at = -1
    for grave in text.places(GRAVE):
        if grave.start < looked_at:
            continue
        passage = _passage(text.data, grave)
        looked_at = grave.start + STEP
        stretch = {True: passage, False: _beside(text.data, grave, passage)}
        signs = [name for name in text.sayable(WEIGHTS) if _has(text, name, stretch[name in GRAVE])]
        weight = sum(WEIGHTS[name] for name in signs) + text.says_twice("conceal", passage) + more
        if weight >= ALMOST:
            weight -= _counted_twice({name: text.places_within(name, stretch[name in GRAVE]) for name in signs})
        weight -= _open_margin(text, passage, signs)
        if weight >= ALMOST:
            weight -= sum(
                WEIGHTS[name] for name in signs if name in ORDINARY and _is_example(text, name, stretch[False])
            )
        if weight >= ALMOST and _protects_secret(text, grave, signs):
            weight -= WEIGHTS["conceal"]
        if weight >= ALMOST and "claims" in signs and _only_reads_unasked(text, passage):
            weight -= WEIGHTS["claims"] + WEIGHTS["unattended"]
        if weight >= ALMOST and guide and is_about_security(guide) and _may_be_lesson(text, passage, signs):
            weight -= SECURITY_MARGIN
        if weight >= ALMOST and text.is_readable(passage):
            looked_at = passage.end
            yield weight, grave, signs


def _open_margin(text: Text, passage: Span, signs: Sequence[str]) -> float:
    """What the signs must weigh more where the user is asked, or where something is kept back but nothing is done."""
    is_idle = (
        signs[:1] == ["conceal"]
        and GRAVE.keys().isdisjoint(signs[1:])
        and _DONE.isdisjoint(signs)
        and not any(text.says_done(name, passage, nearby=True) for name in _OTHER_ACTS)
    )
    return (IDLE_MARGIN if is_idle else 0.0) + (ASKED_MARGIN if text.says("asked", passage) else 0.0)


def _counted_twice(places: Mapping[str, Iterable[Span]]) -> float:
    """The weight of signs that have no words of their own: "already approved" is one thing, whatever it is a sign of."""
    taken: list[Span] = []
    twice = 0.0
    for name in sorted(places, key=lambda name: -WEIGHTS[name]):
        own = next((place for place in places[name] if not any(_meet(place, other) for other in taken)), None)
        if own is None:
            twice += WEIGHTS[name]
        else:
            taken.append(own)
    return twice


def _is_example(text: Text, name: str, stretch: Span) -> bool:
    """Whether a sign stands nowhere but in quotations that are given in brackets, as examples of what was said."""
    examples = [Span(*found.span()) for found in _EXAMPLES.finditer(text.data, stretch.start, stretch.end)]
    places = list(text.places_within(name, stretch)) if examples else []
    return bool(places) and all(any(_meet(place, example) for example in examples) for place in places)


def _meet(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end


def _protects_secret(text: Text, grave: Span, signs: Iterable[str]) -> bool:
    """Whether a secret is what is hidden, and nobody it is hidden from is named: "never log them" keeps a key safe."""
    if not _ACTS.isdisjoint(signs) or _SOMEBODY.search(text.data[grave.start : grave.end]):
        return False
    sentence = text.sentence(grave.start)
    return text.says("conceal", grave) and text.says("secret", sentence)


def _only_reads_unasked(text: Text, passage: Span) -> bool:
    """Whether consent is done without only for what reads and changes nothing, said in that very sentence."""
    claimed = [span for span in text.places(["claims"]) if passage.start <= span.start < passage.end]
    sentences = [text.sentence(span.start) for span in claimed]
    return all(_speaks_of_reading(text.data[sentence.start : sentence.end]) for sentence in sentences)


def _speaks_of_reading(sentence: bytes) -> bool:
    """Whether a sentence is about what only reads: by its words, or because it lists no other commands."""
    named = _NAMED.findall(sentence)
    return _READS_ONLY.search(sentence) is not None or (len(named) > 1 and all(map(_READING.match, named)))


def _may_be_lesson(text: Text, passage: Span, signs: Iterable[str]) -> bool:
    """Whether a passage only tells of what it says: one that hides something from the user has to call it an attack."""
    return _COVERS.isdisjoint(signs) or speaks_of_attacks(text.data[passage.start : passage.end])


def _has(text: Text, name: str, passage: Span) -> bool:
    return text.says_done(name, passage, nearby=True) if name in _DONE else text.says(name, passage)


def _passage(data: bytes, around: Span) -> Span:
    """What is near, up to the headings before and after."""
    start, end = max(0, around.start - REACH), min(len(data), around.end + REACH)
    before = data.rfind(b"\n#", start, around.start)
    after = data.find(b"\n#", around.end, end)
    return Span(start if before < 0 else before, end if after < 0 else after)


def _beside(data: bytes, grave: Span, passage: Span) -> Span:
    """The part of a passage that is the paragraph or item of the grave sign itself, and the ones right beside it."""
    before = [found.start() for found in _BLOCK.finditer(data, passage.start, grave.start)][-BESIDE:]
    after = [found.start() for found in islice(_BLOCK.finditer(data, grave.end, passage.end), BESIDE)]
    start = before[0] if len(before) == BESIDE else passage.start
    return Span(start, after[-1] if len(after) == BESIDE else passage.end)


def _sighting(check: str, view: View, span: Span, signs: Iterable[str]) -> Sighting:
    place = view.locate(span.start)
    line = view.data[view.data.rfind(b"\n", 0, span.start) + 1 :][:2_000].partition(b"\n")[0].decode(errors="ignore")
    excerpt = make_excerpt(line, start=max(0, place.column - 1))
    return Sighting(check, view.file, place.line, place.column, excerpt, view.layer, ", ".join(signs))
