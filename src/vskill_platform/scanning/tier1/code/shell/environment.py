"""Commands about the shell itself and the machine: variables, aliases, conditions, who and where and when."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.places import plain_path
from vskill_platform.scanning.tier1.code.prompts import asks_for_secret
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Source, Value, joined, unknown
from vskill_platform.scanning.tier1.skill import FactKind

_MACHINE = {
    "date": "date",
    "hostname": "host",
    "hostnamectl": "host",
    "scutil": "host",
    "whoami": "user",
    "logname": "user",
    "id": "user",
    "who": "user",
    "w": "user",
    "uname": "system",
    "sw_vers": "system",
    "system_profiler": "system",
    "lscpu": "system",
    "dmidecode": "system",
    "ioreg": "system",
    "lsb_release": "system",
    "ifconfig": "network",
    "ip": "network",
    "ipconfig": "network",
    "arp": "network",
    "netstat": "network",
    "ss": "network",
}
_NAME = re.compile(r"[A-Za-z_]\w{0,60}")
_LONG_DATE = re.compile(r"\b(?:1[5-9]\d{8}|2\d{9}|20[2-9]\d[01]\d[0-3]\d(?:\d{4,6})?|20[2-9]\d-\d\d-\d\d)\b")
_UNREMARKABLE = frozenset(["", "root", "0", "runner", "[", "]", "=", "==", "!=", "=~", "Darwin", "Linux"])


@handles(" ".join(_MACHINE))
def run_question(call: Call) -> Value:
    """Commands that ask the machine who, where, when and what it is."""
    return unknown(call.name).having(Source.MACHINE, _MACHINE[call.name])


@handles("printenv set export declare typeset compgen local readonly")
def run_variables(call: Call) -> Value:
    """Commands that print all variables when they are given none, and else set them."""
    plain = [value for value in call.arguments if not value.text.startswith(("-", "+"))]
    if call.name == "printenv":
        if not plain:
            return unknown("env").having(Source.ENVIRONMENT, "printenv")
        for value in plain:
            call.know(FactKind.READS_ENVIRONMENT, value.text)
        return joined([call.machine.variables.get(value.text) for value in plain])
    if call.name == "compgen":
        return (
            unknown("env").having(Source.ENVIRONMENT, "compgen")
            if "-e" in call.texts or "-v" in call.texts
            else NOTHING
        )
    for value in plain:
        name, is_given, text = value.text.partition("=")
        if is_given and call.name != "set":
            call.machine.variables.set(name, Value(text, value.origins))
            _notice_history(call, name, text)
    if call.name == "set" and any(text in {"+o", "-o"} for text in call.texts) and "history" in call.texts:
        call.see(checks.WIPES_TRACES) if "+o" in call.texts else None
    return (
        NOTHING
        if plain or (call.name == "set" and call.arguments)
        else unknown("env").having(Source.ENVIRONMENT, call.name)
    )


def _notice_history(call: Call, name: str, text: str) -> None:
    if name in {"HISTFILE", "HISTSIZE", "HISTFILESIZE"} and text in {"", "0", "/dev/null"}:
        call.see(checks.WIPES_TRACES)


@handles("unset")
def run_unset(call: Call) -> Value:
    """unset; a shell without HISTFILE forgets."""
    if "HISTFILE" in call.texts:
        call.see(checks.WIPES_TRACES)
    return NOTHING


@handles("alias")
def run_alias(call: Call) -> Value:
    """alias."""
    for value in call.arguments:
        name, is_given, text = value.text.partition("=")
        if is_given and value.is_known and len(call.machine.aliases) < 200:
            call.machine.aliases[name] = text[:2_000]
    return NOTHING


@handles("read mapfile readarray")
def run_read(call: Call) -> Value:
    """read: variables take what flows in."""
    line = call.stdin.text.partition("\n")[0] if call.stdin.is_known else call.stdin.text
    given = list(call.options(with_value="adinNptu"))
    is_secret = any(name == "-p" and asks_for_secret(value.text) for name, value in given)
    for name in (value for option, value in given if not option):
        typed = unknown(name.text)
        typed = typed.having(Source.SECRET, "what was typed") if is_secret else typed
        call.machine.variables.set(name.text, Value(line, call.stdin.origins) if call.stdin is not NOTHING else typed)
    return NOTHING


@handles("[ [[ test ((")
def run_test(call: Call) -> Value:
    """A condition. One that asks for a fixed date or for one machine among all is worth remembering."""
    value = joined(call.arguments, by=" ") if call.arguments else NOTHING
    origins = set(value.origins)
    if call.name == "((":
        for name in _NAME.findall(value.text[:500]):
            origins |= call.machine.variables.get(name).origins
    asked = {origin.detail for origin in origins if origin.source is Source.MACHINE}
    if "date" in asked and _LONG_DATE.search(value.text):
        call.machine.tested.add("date")
    literals = [argument.text for argument in call.arguments if argument.is_known and not argument.text.startswith("-")]
    if asked & {"host", "user"} and any(text not in _UNREMARKABLE for text in literals):
        call.machine.tested.add("host")
    return NOTHING


@handles("mktemp")
def run_mktemp(call: Call) -> Value:
    """mktemp: a path that only the running shell knows."""
    return unknown("mktemp")


@handles("mkfifo mknod")
def run_mkfifo(call: Call) -> Value:
    """A pipe with a name, with which a shell can be fed from its own answer."""
    call.machine.pipes.update(map(plain_path, call.texts))
    return NOTHING


@handles(
    "cd pushd popd true false : sleep wait shift return exit break continue umask shopt ulimit set-option clear "
    "pwd basename dirname which type hash let"
)
def run_nothing(_call: Call) -> Value:
    """Commands that neither read nor write anything of interest."""
    return NOTHING


@handles("pbpaste xclip xsel wl-paste Get-Clipboard")
def run_clipboard(call: Call) -> Value:
    """The clipboard, in which passwords travel."""
    is_reading = call.name in {"pbpaste", "wl-paste", "Get-Clipboard"} or any(
        text in {"-o", "-out", "--output"} for text in call.texts
    )
    return unknown("clipboard").having(Source.SECRET, "clipboard") if is_reading else NOTHING


@handles("security dump-keychain")
def run_keychain(call: Call) -> Value:
    """A store of passwords. One entry is what tools ask for themselves; all of them is what thieves ask for."""
    if call.name == "dump-keychain" or any(text in {"dump-keychain", "export"} for text in call.texts):
        call.know(FactKind.READS_SECRET, "keychain")
        return unknown("keychain").having(Source.SECRET, "keychain")
    return NOTHING


@handles("screencapture scrot import grim gnome-screenshot")
def run_screenshot(call: Call) -> Value:
    """A picture of the screen, written to a file."""
    for path in call.plain(with_value="tRDlTw"):
        call.machine.files.write(path.text, unknown("screen").having(Source.SECRET, "screen"))
    return NOTHING


@handles("history fc")
def run_history(call: Call) -> Value:
    """What was typed; or its end."""
    if any(text.startswith("-") and ("c" in text or "w" in text) for text in call.texts) and call.name == "history":
        if any("c" in text for text in call.texts):
            call.see(checks.WIPES_TRACES)
        return NOTHING
    return unknown("history").having(Source.SECRET, "history")
