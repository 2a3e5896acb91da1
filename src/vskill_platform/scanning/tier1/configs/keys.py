"""Keys that something is handed, held against what the skill says it is for.

A weather service needs no key to the cloud. Which service a key opens is told by the name of its variable; whether the skill
is about that service is told by the words that it describes itself with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

FEWEST_FOREIGN = 2
"""Services that have nothing to do with the skill before it is more than a mere carelessness."""
_REFERENCE = re.compile(
    r"\$(?:\{?(?:env:)?|\{\{\s*(?:env|secrets)\.)([A-Z][A-Z0-9_]{2,60})|process\.env\.([A-Z][A-Z0-9_]{2,60})"
)
_IS_KEY = re.compile(
    r"(?:^|_)(?:KEY|API_?KEY|APIKEY|TOKEN|PAT|SECRET|PASSWORD|PASSWD|CREDENTIALS|DATABASE_URL|DSN|AUTH_SOCK|MNEMONIC|SEED|"
    r"ACCESS_KEY_ID|CONNECTION_STRING|WEBHOOK_URL)(?:_|$)"
)
_SERVICES = (
    (
        "models",
        r"ANTHROPIC|OPENAI|CLAUDE|GEMINI|GOOGLE_API|GROQ|MISTRAL|OPENROUTER|DEEPSEEK|XAI|COHERE|TOGETHER|AZURE_OPENAI|LLM|AI",
        r"models?|llms?|ai|gpt|claude|anthropic|openai|gemini|mistral|groq|embeddings?|chatbots?",
    ),
    ("aws", r"AWS|S3|BEDROCK", r"aws|amazon|s3|bedrock|lambda|dynamodb|ec2|eks|cloud"),
    ("google-cloud", r"GOOGLE_APPLICATION|GCP|GCLOUD", r"google|gcp|bigquery|vertex|firebase|cloud|gmail|drive|sheets"),
    ("azure", r"AZURE|ARM_CLIENT", r"azure|microsoft|entra|cloud"),
    (
        "forge",
        r"GITHUB|GH|GITLAB|BITBUCKET|GIT",
        r"github|gitlab|bitbucket|git|repos?|repositor(?:y|ies)|pull requests?|issues?|commits?|ci|releases?",
    ),
    (
        "packages",
        r"NPM|NODE_AUTH|PYPI|TWINE|UV_PUBLISH|CARGO|GEM",
        r"npm|pypi|publish\w*|packages?|registry|crates?|gems?|releases?",
    ),
    (
        "database",
        r"DATABASE|POSTGRES\w*|PG|MYSQL|MONGO\w*|REDIS|SUPABASE|DB",
        r"databases?|postgres\w*|mysql|mongo\w*|redis|sql|supabase|db|queries|schema",
    ),
    ("ssh", r"SSH", r"ssh|servers?|remote|deploy\w*|git"),
    (
        "wallet",
        r"WALLET|MNEMONIC|SEED|PRIVATE|SOLANA|ETH\w*|PHANTOM",
        r"wallets?|crypto\w*|solana|ethereum|blockchain|tokens?|trad\w+|web3",
    ),
)
"""Services: how the names of their keys begin, and what a text says that is about them."""
_KNOWN = tuple(
    (name, re.compile(rf"(?:{prefix})(?:_|$)"), re.compile(rf"(?i)\b(?:{about})\b"))
    for name, prefix, about in _SERVICES
)
_NO_SERVICE = frozenset(
    ["API", "MY", "YOUR", "APP", "MCP", "AUTH", "ACCESS", "SERVICE", "SERVER", "CLIENT", "BEARER", "SECRET"]
)


def referred_keys(text: str) -> list[str]:
    """The variables in a text whose names say that they hold a key."""
    names = (found[1] or found[2] for found in _REFERENCE.finditer(text))
    return [name for name in names if _IS_KEY.search(name)]


def is_key(name: str) -> bool:
    """Whether the name of a variable says that it holds a key."""
    return _IS_KEY.search(name) is not None


def foreign_services(names: Iterable[str], *, about: str) -> list[str]:
    """The services, in order, that these keys open and that a text about something has no word of."""
    found = dict.fromkeys(_service_of(name, about) for name in names)
    return [service for service in found if service]


def _service_of(name: str, about: str) -> str:
    """The service that a key opens; empty where it is one that the text is about, or none that is known."""
    for service, prefix, words in _KNOWN:
        if prefix.match(name):
            return "" if words.search(about) else service
    first = name.partition("_")[0]
    return "" if first in _NO_SERVICE or first.lower() in about.lower() else first.lower()
