"""Environment variables that hand a program's work or its traffic to somebody else."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vskill_platform.scanning.tier1.configs.hosts import (
    is_local,
    is_model_vendor,
    is_placeholder,
    is_private,
    is_registry,
)
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.configs.word_lists import words

_MODEL_ADDRESS = re.compile(
    r"(?:ANTHROPIC|OPENAI|CLAUDE|GEMINI|GOOGLE_GEMINI|GOOGLE_VERTEX|AZURE_OPENAI|CODEX|MISTRAL|OLLAMA)_\w*(?:BASE_URL|API_BASE|API_URL|ENDPOINT|HOST)"
    r"|OPENAI_API_BASE|ANTHROPIC_(?:BEDROCK|VERTEX)_BASE_URL"
)
_LISTS = frozenset(["env", "environment", "containerenv", "remoteenv", "envvars", "environmentvariables"])
_PROXY = re.compile(r"(?i)(?:https?|all|ftp|npm_config_https?)_proxy")
_INDEX = re.compile(
    r"(?i)(?:PIP|UV)_(?:EXTRA_|DEFAULT_)?INDEX(?:_URL)?|NPM_CONFIG_REGISTRY|YARN_(?:NPM_)?REGISTRY\w*|GOPROXY|CARGO_REGISTR\w*|BUNDLE_MIRROR\w*"
)
_LOADS_CODE = words(
    "LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH PYTHONSTARTUP PYTHONINSPECT BASH_ENV "
    "PROMPT_COMMAND PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS GIT_SSH_COMMAND GIT_SSH "
    "GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND GIT_EXEC_PATH GIT_TEMPLATE_DIR GCONV_PATH ZDOTDIR "
    "NODE_REPL_EXTERNAL_MODULE"
)
_NODE_LOADS = re.compile(r"(?:^|\s)(?:--require|-r|--import|--loader|--experimental-loader|--inspect\S*)\b")
_NO_CHECKS = {
    "NODE_TLS_REJECT_UNAUTHORIZED": ("0", "false"),
    "PYTHONHTTPSVERIFY": ("0",),
    "GIT_SSL_NO_VERIFY": ("1", "true"),
    "NPM_CONFIG_STRICT_SSL": ("false",),
    "CURL_SSL_BACKEND_NO_VERIFY": ("1",),
}
_OWN_AUTHORITY = words(
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS GIT_SSL_CAINFO"
)


_PROVIDERS = frozenset(["model_providers", "providers"])
_ADDRESSES = frozenset(["base_url", "baseurl"])
_REPORTS_TO = frozenset(["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT"])
_WITH_PROMPTS = "OTEL_LOG_USER_PROMPTS"


def reports_prompts(entries: Iterable[Entry]) -> Entry | None:
    """The address that settings have what the user types reported to, if it is on another machine."""
    variables = [(entry, *variable_of(entry)) for entry in entries if is_variable(entry)]
    if not any(name == _WITH_PROMPTS and value.lower() in ("1", "true") for _, name, value in variables):
        return None
    addresses = [(entry, value) for entry, name, value in variables if name in _REPORTS_TO]
    return next(
        (entry for entry, value in addresses if not (is_local(value) or is_placeholder(value) or is_private(value))),
        None,
    )


def check_for(name: str, value: str) -> str | None:
    """The check that a variable with this value falls under; None for an ordinary one."""
    if not value.strip():
        return None
    if _MODEL_ADDRESS.fullmatch(name):
        is_fine = is_local(value) or is_model_vendor(value) or is_placeholder(value) or is_private(value)
        return None if is_fine else "environment_redirects_model"
    if _PROXY.fullmatch(name):
        return None if is_local(value) or is_placeholder(value) or is_private(value) else "environment_sets_proxy"
    if _INDEX.fullmatch(name):
        return None if is_registry(value) or is_local(value) or is_placeholder(value) else "registry_redirect"
    if name in _LOADS_CODE or (name == "NODE_OPTIONS" and _NODE_LOADS.search(value)):
        return "environment_loads_code"
    if value.lower() in _NO_CHECKS.get(name, ()):
        return "environment_drops_checks"
    return "environment_own_authority" if name in _OWN_AUTHORITY else None


def check_for_provider(entry: Entry) -> str | None:
    """The check that the address of a provider of models falls under, where settings name one."""
    names = [name.lower() for name in entry.names]
    if entry.key.lower() not in _ADDRESSES or not _PROVIDERS.intersection(names[:-1]):
        return None
    return check_for("OPENAI_BASE_URL", entry.value)


def is_variable(entry: Entry) -> bool:
    """Whether a value of a configuration file is an environment variable of what it starts."""
    above = [name.lower() for name in entry.names[:-1]]
    is_listed = entry.keys[-1:] and entry.keys[-1].isdecimal() and entry.key.lower() in _LISTS and "=" in entry.value
    return bool(is_listed) or any(name in _LISTS or name.startswith("terminal.integrated.env") for name in above)


def variable_of(entry: Entry) -> tuple[str, str]:
    """The name and the value of a variable, which may stand in one text as `NAME=value`."""
    if entry.keys and entry.keys[-1].isdecimal():
        name, _, value = entry.value.partition("=")
        return name, value
    return entry.key, entry.value
