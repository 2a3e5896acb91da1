"""Commands that run another command."""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.places import is_home, is_personal, is_system_root
from vskill_platform.scanning.tier1.code.shell import checks
from vskill_platform.scanning.tier1.code.shell.calls import Call, handles
from vskill_platform.scanning.tier1.code.shell.values import NOTHING, Source, Value, joined, unknown

_DURATION = re.compile(r"[\d.]+[smhd]?\Z")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_WITH_VALUE = {
    "sudo": "ugpCrtTUhD",
    "doas": "uC",
    "nice": "n",
    "ionice": "cnp",
    "timeout": "sk",
    "stdbuf": "ioe",
    "xargs": "IiLlnPsadE",
    "env": "uCS",
    "watch": "n",
    "strace": "eop",
    "exec": "a",
    "flock": "wE",
    "chroot": "",
    "runuser": "ug",
    "proxychains4": "f",
}
_DETACHING = frozenset(["nohup", "setsid", "disown", "start", "daemonize"])


@handles(
    "sudo doas nice ionice timeout gtimeout stdbuf exec command builtin nohup setsid time busybox toybox unbuffer "
    "strace ltrace proxychains proxychains4 torsocks torify "
    "flock caffeinate chronic runuser daemonize start-stop-daemon systemd-run winpty rtk"
)
def run_wrapped(call: Call) -> Value:
    """Runs the rest of its words."""
    words = _command_words(call)
    detached = call.is_detached or call.name in _DETACHING
    return call.machine.run_words(words, stdin=call.stdin, at=call.at, is_detached=detached) if words else NOTHING


def _command_words(call: Call) -> list[Value]:
    with_value = _WITH_VALUE.get(call.name, "")
    words = list(call.arguments)
    while words:
        text = words[0].text
        if text == "--":
            return words[1:]
        if call.name == "env" and text in {"-S", "--split-string"}:
            words = [Value(piece) for word in words[1:2] for piece in word.text.split()] + words[2:]
        elif text.startswith("-") and len(text) > 1:
            takes_value = len(text) == 2 and text[1] in with_value
            words = words[2:] if takes_value else words[1:]
        elif _ASSIGNMENT.match(text) and call.name in {"sudo", "env", "doas"}:
            name, _, value = text.partition("=")
            call.machine.variables.set(name, Value(value, words[0].origins))
            words = words[1:]
        elif call.name in {"timeout", "gtimeout"} and _DURATION.match(text):
            words = words[1:]
        else:
            return words
    return words


@handles("env")
def run_env(call: Call) -> Value:
    """env: a wrapper, or without a command the list of all variables."""
    words = _command_words(call)
    if words:
        return call.machine.run_words(words, stdin=call.stdin, at=call.at, is_detached=call.is_detached)
    return unknown("env").having(Source.ENVIRONMENT, "env")


@handles("xargs parallel")
def run_xargs(call: Call) -> Value:
    """xargs: what it reads becomes the last words of a command, or takes the place of `{}`."""
    words = _command_words(call) or [Value("echo")]
    place = (
        next((value.text for name, value in call.options(with_value="IiLlnPsadE") if name in {"-I", "-i"}), "{}")
        or "{}"
    )
    if any(place in word.text for word in words):
        filled = [
            joined([Value(word.text.replace(place, call.stdin.text)), Value("", call.stdin.origins)])
            if place in word.text
            else word
            for word in words
        ]
        return call.machine.run_words(filled, stdin=NOTHING, at=call.at)
    given = [Value(piece, call.stdin.origins) for piece in call.stdin.text.split()[:50]]
    return call.machine.run_words([*words, *given], stdin=NOTHING, at=call.at)


@handles("su script watch")
def run_with_text(call: Call) -> Value:
    """Commands that take a line of shell code behind `-c`, or as their argument."""
    code = next((value for name, value in call.options(with_value="cn") if name == "-c"), NOTHING)
    if not code.text and call.name == "watch":
        code = joined(call.plain(with_value="n") or [NOTHING], by=" ")
    return call.machine.run_inner(code.text, stdin=call.stdin, at=call.at) if code.text else NOTHING


def _encrypts(words: list[Value]) -> bool:
    texts = {word.text for word in words}
    is_cipher = bool(texts & {"openssl", "gpg", "gpg2", "age", "ccrypt"}) and not texts & {"-d", "--decrypt"}
    return is_cipher or any("openssl enc" in text or "gpg -c" in text for text in texts)


@handles("find")
def run_find(call: Call) -> Value:
    """find: prints names, or runs a command on what it finds."""
    texts = call.texts
    folders = [value for value in call.arguments[:4] if not value.text.startswith("-")]
    names = [texts[number + 1] for number, text in enumerate(texts[:-1]) if text in {"-name", "-iname", "-path"}]
    paths = [f"{folder.text.rstrip('/')}/{name}" for folder in folders for name in names] or [
        folder.text for folder in folders
    ]
    found = joined([Value(path) for path in paths[:3]], by=" ") if paths else NOTHING
    if "-delete" in texts and not names:
        call.machine.run_words([Value("rm"), Value("-rf"), *folders], stdin=NOTHING, at=call.at)
    for number, text in enumerate(texts):
        if text in {"-exec", "-execdir", "-ok"}:
            words = [word for word in call.arguments[number + 1 :] if word.text not in {";", "+"}]
            if _encrypts(words) and any(is_home(folder.text) or is_system_root(folder.text) for folder in folders):
                call.see(checks.ENCRYPTS_FILES)
            filled = [
                found if word.text == "{}" else word.with_text(word.text.replace("{}", found.text)) for word in words
            ]
            is_code = ".git" in names and any(word.text in {"rm", "shred"} for word in words[:2])
            if is_code and any(is_home(folder.text) or is_personal(folder.text) for folder in folders):
                call.see(checks.DELETES_PERSONAL)
            printed = call.machine.run_words(filled, stdin=NOTHING, at=call.at)
            return joined([found, printed], by="\n") if printed is not NOTHING else found
    return found.with_text(found.text + "\n") if found.text else unknown("find")
