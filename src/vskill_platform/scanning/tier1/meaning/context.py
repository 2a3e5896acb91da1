"""Instruction or quotation: whether the place of a hit tells the agent to do something, or speaks of it.

A guide that shows an attack as a bad example is not the attack. What excuses a place stands right beside it, on its line,
at the head of its fenced block or in its own heading, where whoever follows the text reads it too: so that no word added
elsewhere excuses anything. It must also be about the place, and nothing excuses what the text has the agent carry out.
Only text for readers can be excused; code, settings, descriptions and what had to be uncovered cannot.
"""

from __future__ import annotations

import re

from vskill_platform.domain.scan import Threat
from vskill_platform.scanning.tier1.markdown.document import BlockKind
from vskill_platform.scanning.tier1.meaning.cases import is_in_case
from vskill_platform.scanning.tier1.meaning.detections import (
    FAULTS_TO_TEST,
    RULE_SUFFIXES,
    is_in_rule,
    is_rule_test,
    is_searched_for,
)
from vskill_platform.scanning.tier1.meaning.examples import is_disowned_behind
from vskill_platform.scanning.tier1.meaning.guards import is_in_test_of_guard, is_turned_down
from vskill_platform.scanning.tier1.meaning.in_fences import is_bad_code, is_lesson, stance_in_fence
from vskill_platform.scanning.tier1.meaning.in_prose import stance_in_prose
from vskill_platform.scanning.tier1.meaning.literals import is_in_pattern
from vskill_platform.scanning.tier1.meaning.mentions import is_named_beside
from vskill_platform.scanning.tier1.meaning.orders import is_carried_out
from vskill_platform.scanning.tier1.meaning.stances import LONGEST_LINE, Place, Stance, is_about_security
from vskill_platform.scanning.tier1.rules import Rule
from vskill_platform.scanning.tier1.skill import FileUnderScan, Hit, SkillUnderScan

READ_AS_IT_STANDS = frozenset(
    [
        "raw",
        "prose",
        "plain",
        "normalised",
        "unquoted",
        "unescaped",
        "joined",
        "decoded",
        "shell",
        "python",
        "javascript",
        "others",
    ]
)
"""The layers whose hits stand in what a reader sees, if only in other letters. Comments and invisible text do not."""
WRITTEN_IN_CODE = frozenset(["unquoted", "unescaped", "joined", "decoded"])
"""The layers of what nobody quotes in other letters, except to teach how it is done."""
AS_WRITTEN = frozenset(["raw", "prose", "plain", "normalised"])
"""The layers whose hits have their place in the line as it is written."""
CODE_LAYERS = frozenset(["shell", "python", "javascript", "others"])
ABOUT_WORDS = frozenset(
    [
        Threat.PROMPT_INJECTION,
        Threat.CONCEALMENT,
        Threat.PROMPT_LEAK,
        Threat.TRIGGER_HIJACK,
        Threat.MEMORY_POISONING,
        Threat.SAFETY_DISABLEMENT,
        Threat.SOCIAL_ENGINEERING,
        Threat.REMOTE_INSTRUCTIONS,
    ]
)
"""Harm that is done by words to an agent, which a program that looks for such words must be able to name."""
_COMMAND = re.compile(
    r"(?:sudo\s+)?(?:gh|glab|git|npm|spctl|csrutil|xattr|ufw|iptables|nft|setenforce|systemctl|defaults|launchctl|docker|kubectl|"
    r"aws|gcloud|az|netsh|reg|sc|Set-MpPreference|Add-MpPreference|Set-ExecutionPolicy|chmod|export|unset|history)\s+[\w./~$*'\"-]"
)
"""A program and what it is told: whatever harm it is good for, it is not done by words."""
_LOOKS_FOR = re.compile(
    r"\\s|\\b|\\w|\(\?i\)|\br[\"']|re\.compile|(?i:(?:pattern|regex|signature|rule)s?[\"']?\s*[:=(\[])"
)
_SAMPLES = re.compile(
    r"(?i)(?:^|[/_.-])(?:tests?|fixtures?|samples?|cases|corpus|prompts?|evals?|examples?|payloads?|red-?team\w*|"
    r"promptfoo\w*|garak|attacks?|injections?|jailbreaks?|probes?|adversarial|specimens?)(?:[/_.-]|$)"
)
_HOSTILE_FIXTURE = re.compile(
    r"(?i)(?:^|/)(?:evals?|fixtures?|tests?)/(?:[^/]+/)*[^/]*(?:inject|attack|hostile|jailbreak|adversarial)[^/]*\.(?:txt|md|json|eml|html|ya?ml)$"
)
"""A text that something under test is given, by a name that says what it tries."""
RECORD_SUFFIXES = (".jsonl", ".ndjson", ".log", ".csv", ".tsv", ".eml", ".evtx")
"""How files end that hold what was seen, one thing after another, and that nothing runs or reads as settings."""
_FOLLOWED = re.compile(r"(?i)\b(?:follow|obey|apply|adopt|read|load|do what|as your|use)\b[^.\n]{0,40}$")
_TAKEN = re.compile(
    r"(?i)\b(?:follow|obey|apply|adopt|load|use|copy|take|paste|insert|run|execute|start|build|deploy)\b[^.\n]{0,40}$"
)
_FOLLOWED_BEHIND = re.compile(
    r"(?i)[^.\n]{0,40}\b(?:and|then|to) (?:follow|obey|apply|adopt|do (?:what|as)|act on|carry)\b"
)


def stance_of(skill: SkillUnderScan, file: FileUnderScan, hit: Hit, rule: Rule) -> Stance:
    """How the text stands to what the rule found at this place."""
    if hit.layer not in READ_AS_IT_STANDS or not 0 < hit.line <= len(file.lines):
        return Stance.STATED
    if hit.layer in WRITTEN_IN_CODE and not is_about_security(skill):
        return Stance.STATED
    if not file.is_markdown:
        return _stance_in_script(skill, file, hit, rule)
    block = file.document.block_at(hit.line)
    if block is None or block.kind in (BlockKind.COMMENT, BlockKind.HTML, BlockKind.FRONTMATTER):
        return Stance.STATED
    line = file.lines[hit.line - 1][:LONGEST_LINE]
    at = max(0, _in_line(hit, line).column - 1)
    is_of_words = rule.category in ABOUT_WORDS and not _COMMAND.match(line, at)
    place = Place(skill, file, block, hit.line, line, at, is_of_words, hit.layer == "prose")
    if hit.layer in AS_WRITTEN and is_searched_for(line, at, language=block.language):
        return Stance.QUOTED
    if is_of_words and is_disowned_behind(line, at):
        return Stance.QUOTED
    stance = stance_in_fence(place) if block.kind is BlockKind.FENCE else stance_in_prose(place)
    if stance is Stance.STATED and is_bad_code(place) and not _is_followed(skill, file, by=_TAKEN):
        stance = Stance.WARNED
    if stance is Stance.STATED and rule.taught and is_lesson(place):
        stance = Stance.QUOTED
    return Stance.STATED if stance and is_carried_out(file.document, hit.line) else stance


def _in_line(hit: Hit, line: str) -> Hit:
    """The hit with its place in the line: parsers count in the piece of code that they were given."""
    found = line.find(hit.excerpt[:40]) if hit.layer in CODE_LAYERS and hit.excerpt else -1
    return hit._replace(column=found + 1) if line[:found].strip() and found > 0 else hit


def _stance_in_script(skill: SkillUnderScan, file: FileUnderScan, hit: Hit, rule: Rule) -> Stance:
    """What looks for attacks has them in it, as patterns or as samples to try; most in a skill that says it looks for such."""
    line = file.lines[hit.line - 1][:LONGEST_LINE]
    if hit.layer in AS_WRITTEN and rule.pattern and _is_data(skill, file, hit, rule.pattern):
        return Stance.QUOTED
    if rule.category in ABOUT_WORDS and _HOSTILE_FIXTURE.search(file.path) and not _is_followed(skill, file):
        return Stance.QUOTED
    if not is_about_security(skill):
        return Stance.STATED
    if hit.layer in AS_WRITTEN and file.path.endswith(RULE_SUFFIXES) and is_in_rule(file.text, line):
        return Stance.STATED if _is_followed(skill, file) else Stance.QUOTED
    if (rule.taught or rule.check in FAULTS_TO_TEST) and is_rule_test(skill, file, hit.line):
        return Stance.QUOTED
    is_sample = _SAMPLES.search(file.path) is not None and not _is_followed(skill, file)
    if rule.category not in ABOUT_WORDS:
        return Stance.QUOTED if is_sample and file.path.endswith(RECORD_SUFFIXES) else Stance.STATED
    return Stance.QUOTED if is_sample or _LOOKS_FOR.search(line) else Stance.STATED


def _is_data(skill: SkillUnderScan, file: FileUnderScan, hit: Hit, pattern: str) -> bool:
    """Whether a place is in what a program looks for, or in what it gives to another agent."""
    line = file.lines[hit.line - 1][:LONGEST_LINE]
    at = hit.column - 1
    if is_in_pattern(file.path, line, at, rule=pattern) or is_turned_down(file, hit.line, at):
        return True
    if is_in_test_of_guard(skill, file, hit.line, at):
        return True
    return is_in_case(skill, file, hit.line, at) or (
        file.path.endswith(".json") and is_searched_for(line, at, language="")
    )


def _is_followed(skill: SkillUnderScan, file: FileUnderScan, *, by: re.Pattern[str] = _FOLLOWED) -> bool:
    """Whether the skill has the agent read a file and do what it says."""
    text = skill.skill_file.text if skill.skill_file else ""
    return is_named_beside(text, file.path, before=by, behind=_FOLLOWED_BEHIND)
