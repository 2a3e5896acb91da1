"""Questions to a person that nobody but the system or a wallet has reason to ask."""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"(?i)\b(?:sudo|root|admin\w*|system|log-?in|mac(?:os)?|computer|windows|linux|keychain|master)(?:'s)? "
    r"pass(?:word|code|phrase)\b|"
    r"\[sudo\]|\b(?:seed|recovery|secret recovery|mnemonic) (?:phrase|words?)\b|\bmnemonic\b|\bprivate key\b|"
    r"\bwallet (?:key|password|phrase)\b"
)
LONGEST_PROMPT = 500


def asks_for_secret(prompt: str) -> bool:
    """Whether a prompt asks for the password of the machine or for the key to a wallet."""
    return _ASKS.search(prompt[:LONGEST_PROMPT]) is not None
