"""What a text only looks for: patterns of detection rules, queries over logs, arguments of grep, and the tests of such rules.

A rule that finds an attack holds the attack's words, and nothing that reads the rule carries them out. What counts is where
the place stands in the rule or the command, so that the same words one line further on count as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from vskill_platform.scanning.tier1.meaning.handed_on import FAULTS
from vskill_platform.scanning.tier1.meaning.mentions import is_named_beside
from vskill_platform.scanning.tier1.meaning.stances import LONGEST_LINE
from vskill_platform.scanning.tier1.skill import FileUnderScan, SkillUnderScan

MOST_TEXT = 60_000
MOST_TO_LOOK_THROUGH = 400_000
MOST_BEFORE = 200
"""Characters before a place in which the operator of a query is looked for."""
SHORTEST_STEM = 4
RULE_SUFFIXES = (".yar", ".yara", ".rules", ".yml", ".yaml")
"""How the files of detection rules end."""
_FAULTS = (
    "python_tool_shell_argument python_exposed_query python_tool_path python_confined_path python_evaluates_data "
    "js_injects_tool_input other_evaluates_input other_shell_of_input other_query_of_input other_evaluates_data"
)
FAULTS_TO_TEST = frozenset([*FAULTS, *_FAULTS.split()])
"""What a rule may be tried on: faults that others could use, and nothing that does harm by itself."""
_KEY = r"(?m)^[ \t]*(?:- )?"
_YARA = (re.compile(r"(?m)^\s*(?:private |global )*rule\s+\w+"), re.compile(r"(?m)^\s*condition\s*:"))
_YARA_STRING = re.compile(r"\s*\$\w*\s*=\s*[\"/{]")
_SIGMA = tuple(re.compile(rf"{_KEY}{name}:") for name in ("logsource", "detection", r"(?:\s*)condition"))
_SIGMA_VALUE = re.compile(r"\s+(?:-\s|(?:- )?'?[\w.]+(?:\|[\w|]+)?'?:)")
_SEMGREP = tuple(
    re.compile(rf"{_KEY}{name}") for name in ("rules:", "id:", "languages:", r"(?:pattern|match|taint)[\w-]*:")
)
_SEMGREP_VALUE = re.compile(r"\s+(?:- )?(?:pattern[\w-]*|metavariable-[\w-]+|regex|message|not)\s*:")
_NIDS = re.compile(
    r"\s*(?:alert|drop|reject|log|pass)\s+(?:tcp|udp|ip|icmp|http|tls|dns|smtp|ssh|ftp)\s.*\b(?:content|pcre)\s*:.*\bsid\s*:"
)
_RULES = ((_YARA_STRING, _YARA), (_SIGMA_VALUE, _SIGMA), (_SEMGREP_VALUE, _SEMGREP))
_COMMAND_KEY = re.compile(rf"{_KEY}(?:run|command|script|exec|entrypoint|hooks?|steps|jobs)\s*:")
_QUERY_LANGUAGES = frozenset(["sql", "kql", "kusto", "spl", "splunk", "esql", "eql", "lucene", "logql", "osquery"])
_COMPARES = re.compile(
    r"(?i)\b(?:i?like|rlike|regexp\w*|match\w*|contains\w*|has\w*|startswith|endswith|search|regex|rex|where|in|like_any|"
    r"position|extract\w*|countif)\b[^;'\"]*(?P<mark>['\"])(?:(?!(?P=mark)).|(?P=mark)[^;'\"]*(?P=mark))*$"
)
"""An operator that compares, and behind it a string that is not closed where the place begins."""
_QUERY_RUNS = re.compile(
    r"(?i)\b(?:program|xp_cmdshell|sys_exec|sys_eval|load_file|outfile|dumpfile|execute|exec|externaldata)\b"
)
_GREP = re.compile(
    r"(?:^|[|;&(`]\s*|[$>#]\s+)(?:sudo\s+)?(?:z?[ef]?grep|rg|ag|ack|git grep|ausearch|findstr|Select-String|sls)\s"
    r"[^|;&'\"]*(?P<mark>['\"])(?P<inside>(?:(?!(?P=mark)).)*)$"
)
_RUNS_INSIDE = ("$(", "`")
_MARK = re.compile(r"(?:#|//|--|/\*|<!--)\s*(?:ruleid|ok|todoruleid|todook|deepruleid)\s*:\s*(?P<ids>[\w., -]+)")
_RUN_BEFORE = re.compile(
    r"(?i)(?:(?<!-l )(?<!lang )\b(?:python[\d.]*|node|bash|sh|ruby|php|perl|deno|bun|tsx|uv run|source|import|from|run|execute|"
    r"start|chmod)\b(?:\s+[-+]\S+)*|require\(|import\()\s*[`\"'(]*[\w./-]*$|(?:^|[\s`\"'])\./[\w./-]*$"
)
"""What stands before the name of a file that is started or imported."""


def is_searched_for(line: str, at: int, *, language: str) -> bool:
    """Whether a place of a line is in what a query or a grep looks for, which does no harm even where it is run."""
    if language in _QUERY_LANGUAGES:
        return _COMPARES.search(line[max(0, at - MOST_BEFORE) : at]) is not None and _QUERY_RUNS.search(line) is None
    return _is_grepped(line, at)


def is_in_rule(text: str, line: str) -> bool:
    """Whether a line holds a pattern of a detection rule, in a text that is one."""
    if _NIDS.match(line):
        return True
    return any(pattern.match(line) and _has_all(signs, text) for pattern, signs in _RULES)


def marks_test(comment: str) -> bool:
    """Whether a comment says which rule is tried on the line below it."""
    return _MARK.match(comment) is not None


@lru_cache(maxsize=16)
def _has_all(signs: tuple[re.Pattern[str], ...], text: str) -> bool:
    """Whether a text has all signs of a kind of rules, and no key whose value a program would run."""
    head = text[:MOST_TEXT]
    return all(sign.search(head) for sign in signs) and _COMMAND_KEY.search(text) is None


def _is_grepped(line: str, at: int) -> bool:
    found = _GREP.search(line[:at])
    if found is None:
        return False
    mark = found["mark"]
    argument = line[found.start("inside") :].partition(mark)[0]
    return mark == "'" or not any(sign in argument for sign in _RUNS_INSIDE)


def is_rule_test(skill: SkillUnderScan, file: FileUnderScan, number: int) -> bool:
    """Whether a line of code is a case of a rule that the skill brings, by the mark right above, and run by nobody."""
    lines = [line[:LONGEST_LINE] for line in file.lines[max(0, number - 2) : number]]
    found = next((mark for line in reversed(lines) if (mark := _MARK.search(line))), None)
    if found is None:
        return False
    names = [name.strip() for name in found["ids"].split(",")]
    rules = [other.text for other in skill.files if other.path.endswith((".yaml", ".yml"))]
    shown = [fence for other in skill.files if other.is_markdown for fence in other.document.fences]
    rules += [fence.text for fence in shown if fence.language in ("yaml", "yml")]
    is_ours = any(
        _has_all(_SEMGREP, text) and any(f"id: {name}\n" in text[:MOST_TEXT] for name in names) for text in rules
    )
    return is_ours and not _is_run(skill, file)


def _is_run(skill: SkillUnderScan, file: FileUnderScan) -> bool:
    """Whether anything in the skill may start a file or import it; so it is taken where there is too much to look through."""
    base = file.path.rpartition("/")[2]
    stem = base.partition(".")[0]
    if len(stem) < SHORTEST_STEM or file.executable:
        return True
    others = [other.text for other in skill.files if other is not file]
    if sum(map(len, others)) > MOST_TO_LOOK_THROUGH:
        return True
    return any(
        is_named_beside(text, name, before=_RUN_BEFORE) for text in others for name in (stem, stem.replace("-", "_"))
    )
