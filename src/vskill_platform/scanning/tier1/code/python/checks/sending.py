"""What leaves the machine: secrets, the environment, the user's files, and keys that go where they do not belong."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, is_hidden_metadata, kind_of_host
from vskill_platform.scanning.tier1.code.places import secret_at
from vskill_platform.scanning.tier1.code.python import catalogue
from vskill_platform.scanning.tier1.code.python.checks.calls import ReadCall
from vskill_platform.scanning.tier1.code.python.commands import SENDERS, Command, secrets_in
from vskill_platform.scanning.tier1.code.python.model import Site
from vskill_platform.scanning.tier1.code.python.values import (
    ALTERNATIVE,
    ASSET,
    DECODED,
    ENVIRONMENT,
    FILE,
    IDENTITY,
    MEMBER,
    NAMED_KEY,
    OWN_SECRET,
    SECRET,
    SETTINGS,
    TABLE,
    UNKNOWN,
    USER_FILES,
    USER_PATHS,
    Constant,
    Value,
)
from vskill_platform.scanning.tier1.code.sending import goes_astray, has_field_of_key, is_field_of_key, owner_named
from vskill_platform.scanning.tier1.code.shell.checks import HIDDEN_METADATA
from vskill_platform.scanning.tier1.skill import FactKind

MOST_OWNERS = 3
"""Keys of so many services at once are a collection."""
_HEADS = frozenset(["headers", "auth", "cookies", "cert", "api_key", "token"])
"""Arguments that carry what a service asks its own users for."""
_SENDING = re.compile(
    r"(?:send|post|put|patch|upload|publish|push|write|request|fetch|query|resolve|connect|create_connection|open|url|stor|execute|insert|"
    r"login|auth|lpush|rpush|xadd|produce|emit|notify|chat_|files_|gethost|getaddr|basic_publish|add_file|[A-Z])|(?:get|head|delete|set|call|run|single|multiple)$"
)
"""How the last words of calls begin that hand something over."""
_HANDS_OVER = re.compile(r"(?:send|post|put|patch|upload|publish|push)")
_ADDRESSED = frozenset(["get", "post", "put", "patch", "delete", "head", "urlopen", "urlretrieve"])
"""Calls whose first argument is the address."""
_UPLOADS = re.compile(r"\s(?:-F|--form|-d|--data(?:-\w+)?)\s+[\"']?(?:[\w.-]+=)?@|\s(?:-T|--upload-file)\s")
"""How a command is told to send a file."""


def may_send(name: str) -> bool:
    """Whether a call of this name may hand something to the network."""
    is_loose = name.startswith(".") and catalogue.last_of(name) in catalogue.LOOSE_SENDERS
    return is_loose or catalogue.is_network(name) or name == "webbrowser.open" or name in catalogue.LOG_HANDLERS


def check_sending(call: ReadCall) -> None:
    """Look at a call that may hand something to the network."""
    if call.name in catalogue.LOG_HANDLERS:
        _check_logging(call)
    if catalogue.is_network(call.name) and any(map(is_hidden_metadata, call.argument(0, "url").texts)):
        call.sight(HIDDEN_METADATA)
    if not is_sender(call):
        return
    hosts = hosts_of(call)
    for host in hosts:
        call.fact(FactKind.REACHES, host)
    if _HANDS_OVER.match(call.last):
        call.fact(FactKind.SENDS, hosts[0] if hosts else "")
    sent, asked_for = _parts(call)
    body, heads = _together(sent), _together(asked_for)
    if _hides_address(call):
        call.sight("python_hides_address")
    if hosts and (any(_is_file(each.taint) for each in sent) or call.last in catalogue.UPLOADERS):
        call.fact(FactKind.SENDS_FILE, hosts[0])
    if body.taint or heads.taint or call.last in catalogue.UPLOADERS:
        _weigh(call, hosts, body, heads)


def _hides_address(call: ReadCall) -> bool:
    """Whether an address stands nowhere in the program, and is made of something that the skill brings along."""
    address = call.argument(0, "url")
    if call.last not in _ADDRESSED or not address.taint & DECODED:
        return False
    hosts = [host for text in address.texts if "://" in text[:12] and (host := _host(text))]
    if hosts:
        return not any(host in call.module.source.text for host in hosts)
    return bool(address.taint & ASSET) and not address.texts


def _is_file(taint: int) -> bool:
    """Whether a file goes along: what was read out of its settings is not the file."""
    return bool(taint & USER_FILES) or (bool(taint & FILE) and (not taint & MEMBER or bool(taint & TABLE)))


def _check_logging(call: ReadCall) -> None:
    """A log that goes over the network takes along whatever is written to it and laid down with its records."""
    given = [value for _, value, _ in call.module.stored]
    scopes = [scope for _, _, scope in call.module.stored]
    for value, scope in zip(given, scopes, strict=True):
        taint = call.evaluator.value(value, scope).taint
        if taint & (SECRET | ENVIRONMENT):
            call.sight("python_environment_sent" if taint & ENVIRONMENT else "python_secret_sent")


def is_sender(call: ReadCall) -> bool:
    """Whether the call hands something to the network, by its full name or, where that is not known, by its word."""
    if catalogue.is_network(call.name):
        return call.name not in catalogue.CARRIERS and bool(_SENDING.match(call.last))
    if call.name == "webbrowser.open":
        return True
    is_loose = call.name.startswith(".") and call.last in catalogue.LOOSE_SENDERS
    return is_loose and bool(call.site.node.args or call.site.node.keywords)


def hosts_of(call: ReadCall) -> list[str]:
    """The hosts that the call goes to, as far as they are known."""
    nodes = call.site.node
    values = [call.keyword("url", "host", "server", "uri", "hostname", "endpoint_url"), call.receiver]
    values += [call.evaluator.value(each, call.site.scope) for each in nodes.args[:2]]
    texts = [text for value in values for part in value.flat() for text in part.texts]
    found = [_host(text) for text in texts if "://" in text[:12] or _is_host(text)]
    return list(dict.fromkeys(host for host in found if host))


def _host(text: str) -> str:
    """The host of an address, also where all behind the host is unknown."""
    scheme, found, rest = text.partition("://")
    if not found:
        return host_of(text)
    authority = rest.partition("/")[0]
    known = authority.partition(UNKNOWN)[0] if not authority.startswith(UNKNOWN) else authority
    return host_of(f"{scheme}://{known}") if known.count(".") else host_of(text)


def _is_host(text: str) -> bool:
    return (
        3 < len(text) < 254
        and "." in text
        and " " not in text
        and "/" not in text
        and "\n" not in text
        and "@" not in text
    )


def _parts(call: ReadCall) -> tuple[list[Value], list[Value]]:
    """What is sent, and what is sent in the places where a service asks for its own keys."""
    given = [call.evaluator.value(each, call.site.scope) for each in call.site.node.args]
    sent = [each for each in given if not _asks_for_key(each)]
    heads = [each for each in given if _asks_for_key(each)]
    for keyword in call.site.node.keywords:
        value = call.evaluator.value(keyword.value, call.site.scope)
        if keyword.arg in _HEADS and not call.name.endswith("Request"):
            heads.append(value)
        elif isinstance(keyword.value, ast.Dict) and all(isinstance(key, ast.Constant) for key in keyword.value.keys):
            _split_body(value, sent, heads)
        else:
            sent.append(value)
    return sent, heads


def _asks_for_key(address: Value) -> bool:
    return bool(address.taint & OWN_SECRET and address.texts) and all(map(has_field_of_key, address.texts))


def _split_body(value: Value, sent: list[Value], heads: list[Value]) -> None:
    """A body in which a token stands under the name of one is how many services ask for it; files of variables are no token."""
    plain = [part for name, part in (value.keyed or {}).items() if not _is_key_name(name)]
    keys = [part for name, part in (value.keyed or {}).items() if _is_key_name(name)]
    sent += [*plain, *(Value(taint=part.taint & ~OWN_SECRET, variables=part.variables) for part in keys)]
    heads += keys


def _is_key_name(name: Constant) -> bool:
    return isinstance(name, str) and is_field_of_key(name)


def _together(values: list[Value]) -> Value:
    taint = 0
    variables: list[str] = []
    for each in values:
        taint |= each.taint
        variables += each.variables
    return Value(taint=taint, variables=tuple(variables))


def _weigh(call: ReadCall, hosts: list[str], body: Value, heads: Value) -> None:
    if hosts and all(kind_of_host(host) is HostKind.LOCAL for host in hosts):
        return
    taint = body.taint | heads.taint
    if call.last in catalogue.UPLOADERS:
        texts = [text for each in call.arguments() for text in each.texts]
        taint |= SECRET if any(secret_at(text) for text in texts if "://" not in text) else 0
        taint |= USER_FILES if body.taint & USER_PATHS else 0
    names = tuple(dict.fromkeys((*body.variables, *heads.variables)))
    if call.last in catalogue.LOGINS:
        taint, names = taint & ~(OWN_SECRET | SETTINGS | NAMED_KEY), ()
        if not hosts:  # to log in is what a password is for; whose server it is, only the object knows
            taint &= ~SECRET
    check = _check_for(taint, body.taint & taint, names, hosts, at_once=_most_at_once(call, names))
    if check:
        call.sight(check)
    if check and _is_unverified(call):
        call.sight("python_unverified_send")


def _check_for(taint: int, body: int, names: tuple[str, ...], hosts: list[str], *, at_once: tuple[str, ...]) -> str:
    if taint & SECRET:
        return "python_secret_sent"
    if taint & ENVIRONMENT or len(_owners(at_once)) >= MOST_OWNERS:
        return "python_environment_sent"
    if body & OWN_SECRET or taint & SETTINGS:
        return "python_secret_sent"
    if taint & USER_FILES:
        return "python_user_files_sent"
    if taint & NAMED_KEY and any(_goes_astray(name, hosts) for name in names):
        return "python_key_sent_elsewhere"
    if body & IDENTITY:
        return "python_identity_sent"
    return ""


def _owners(names: Iterable[str]) -> set[str]:
    return set(map(owner_named, names))


def _most_at_once(call: ReadCall, names: tuple[str, ...]) -> tuple[str, ...]:
    """The keys that go out in one call of the function around: a client of several services hands each its own, one at a time."""
    function = call.site.scope.function
    sites = call.evaluator.functions.sites_of(function) if function and len(_owners(names)) >= MOST_OWNERS else ()
    handed = [_names_handed(call, site) for site in sites]
    own = [name for name in names if not any(name in each for each in handed)]
    return max(((*own, *each) for each in handed), key=lambda each: len(_owners(each)), default=names)


def _names_handed(call: ReadCall, site: Site) -> tuple[str, ...]:
    given = [*site.node.args, *(keyword.value for keyword in site.node.keywords)]
    return tuple(name for each in given for name in call.evaluator.value(each, site.scope).variables)


def _goes_astray(name: str, hosts: list[str]) -> bool:
    """Whether a key that is known to belong to somebody goes to somebody else."""
    return bool(hosts) and any(all(goes_astray(one, host) for host in hosts) for one in name.split(ALTERNATIVE))


def _is_unverified(call: ReadCall) -> bool:
    """Whether the call says that it does not care who answers."""
    return any(
        each.arg in {"verify", "ssl", "verify_ssl"}
        and isinstance(each.value, ast.Constant)
        and each.value.value is False
        for each in call.site.node.keywords
    )


def check_command_sending(call: ReadCall, command: Command) -> None:
    """Look at a command that may hand something to the network."""
    senders = [text for text in command.texts if SENDERS.search(f"{text} ")]
    if not senders:
        return
    hosts = [host for text in senders for word in text.split() if "://" in word and (host := _host(word.strip("\"'")))]
    for host in hosts:
        call.fact(FactKind.REACHES, host)
    if hosts and all(kind_of_host(host) is HostKind.LOCAL for host in hosts):
        return
    if hosts and any(_UPLOADS.search(text) for text in senders):
        call.fact(FactKind.SENDS_FILE, hosts[0])
    taint, names = command.whole.taint | command.given.taint, command.whole.variables
    is_key_use = any(secrets_in(text) and _sends_file(text) for text in senders)
    body = command.given.taint | (command.whole.taint if _gives_more_than_keys(command) else 0)
    check = "python_secret_sent" if is_key_use else _check_for(taint, body, names, hosts, at_once=names)
    if check:
        call.sight(check)


def _gives_more_than_keys(command: Command) -> bool:
    """Whether a command hands over something else than a key of its own, where the service asks for it."""
    secret = [word for word in command.words or () if word.taint & OWN_SECRET]
    texts = [text for word in secret for text in word.texts]
    return not texts or not all(map(has_field_of_key, texts))


def _sends_file(text: str) -> bool:
    """Whether a command hands over files that it names, rather than using them to log in."""
    return (
        "@" in text
        or "<" in text
        or "|" in text
        or " -T " in text
        or text.lstrip().startswith(("scp", "rsync", "sftp"))
    )
