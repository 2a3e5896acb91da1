"""What a job, a service or a hook does that starts by itself, as far as its text shows."""

from __future__ import annotations

import re

_FETCHES = re.compile(
    r"\b(?:curl|wget|nc|ncat|netcat|socat|Invoke-WebRequest|iwr)\b|/dev/tcp/|\bbase64\s+-{1,2}[dD]|\burlopen\b|\bfetch\(|"
    r"\brequests\.(?:get|post)|\bgit\s(?:-\S{1,40}\s(?:[^-\s]\S{0,80}\s)?){0,3}(?:pull|fetch|clone)\s[^\n|;&]{0,200}\w://"
)
_RUNS = re.compile(
    r"\|\s*(?:sudo\s+)?(?:\w{1,40}=\S{0,80}\s+){0,4}(?:ba|z|da)?sh\b|[;&]\s*(?:ba|z|da)?sh\s+\S|\beval\b|\bsource\s+<\(|\bpython3?\s+-c|"
    r"\bnohup\b|&\s*(?:$|\n)|\bexec\b|base64|\$\((?:curl|wget)",
    re.MULTILINE,
)
_ORDERS = re.compile(
    r"(?i)\b(?:send|post|upload|forward|include|copy|append|run)\b[^\n]{0,160}https?://|\b(?:do not|don't|never)\s+(?:mention|"
    r"tell|reveal|show|ask|report)\b|\bwithout\s+(?:asking|confirmation)\b|\balways\s+(?:approve|allow|run|trust|accept)\b|\bcurl\s"
)
"""What nobody but the user has to tell their agents for good."""
LONGEST_ORDER = 20_000
_STARTS = (
    b"ExecStart",
    b"ProgramArguments",
    b"/autostart/",
    b".bashrc",
    b".zshrc",
    b"profile",
    b"LaunchAgents",
    b"Startup",
    b"hooks",
)
"""Words of what names a program to a machine that it is to start by itself."""


def names_a_start(program: bytes) -> bool:
    """Whether a program may have the machine start something by itself."""
    return any(word in program for word in _STARTS)


def fetches(job: str) -> bool:
    """Whether a job has something come from elsewhere."""
    return _FETCHES.search(job) is not None


def fetches_and_runs(job: str) -> bool:
    """Whether a job has something come from elsewhere and runs something."""
    return fetches(job) and _RUNS.search(job) is not None


def has_orders(text: str) -> bool:
    """Whether a text for an agent's own files has it send things, keep quiet or stop asking."""
    return _ORDERS.search(text[:LONGEST_ORDER]) is not None
