"""Text of other people that is handed on untouched to a program which a quote or a semicolon in it can turn.

A program that writes its argument into a command or a query is a fault that its user may live with. Where the skill says that
the argument is what customers, senders or visitors wrote, and that it is to be passed on as it is, others can use the fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import Hit, Observation, Sighting, SkillUnderScan

HANDED_ON = "others_text_handed_on"
CHECKS = frozenset([HANDED_ON])
MOST_TEXT = 300_000
_FAULTS = (
    "python_shell_argument python_query_of_argument python_unpickles_input python_evaluates_argument other_shell_of_argument "
    "other_query_of_argument js_injects_command js_runs_input"
)
FAULTS = tuple(_FAULTS.split())
_OTHERS = (
    r"(?:customers?|clients?|senders?|suppliers?|vendors?|visitors?|attendees?|applicants?|candidates?|subscribers?|guests?|"
    r"strangers?|anyone|anybody|public form|tickets?|(?:e-?)?mails?|inbox|messages?|comments?|issues?|reviews?|form|webhook|"
    r"requester|reporters?|participants?|students?)"
)
_UNTOUCHED = (
    r"(?:\b(?:over|on|in|it|them|along|through|passed|given) raw\b|"
    r"verbatim|\bas[- ]is\b|exactly as|unchanged|unescaped|untouched|literally|"
    r"(?:without|no) (?:any )?(?:escaping|quoting|changes?|sanitis\w+|sanitiz\w+|validation|checks?)|"
    r"(?:do not|don't|never|need not) (?:escape|quote|sanitise|sanitize|shorten|validate|clean|filter|strip)|"
    r"keep (?:them|quotes|the quotes)|any (?:\w+ )?(?:expression|code|sql|command|ruby|python) is allowed)"
)
_HANDED = rf"(?is)\b{_OTHERS}\b.{{0,240}}{_UNTOUCHED}|{_UNTOUCHED}.{{0,240}}\b{_OTHERS}\b"


def find_handed_on(skill: SkillUnderScan, observations: Sequence[Observation]) -> Iterator[Sighting]:
    """Faults of programs that get what others wrote, once a fault."""
    by_check = skill.ruleset.rules_by_check
    rules = {rule for check in FAULTS for rule in by_check.get(check, ())}
    faults = [seen for seen in observations if isinstance(seen, Hit) and seen.rule_id in rules]
    if not faults:
        return
    said = next((file for file in skill.files if file.is_markdown and _says_so(file.encoded[:MOST_TEXT])), None)
    if said is not None:
        for hit in faults[:5]:
            detail = f"{said.path} has it given what others wrote, as it is"
            yield Sighting(HANDED_ON, hit.file, hit.line, hit.column, hit.excerpt, hit.layer, detail)


def _says_so(data: bytes) -> bool:
    return compile_pattern(_HANDED).is_in(data)
