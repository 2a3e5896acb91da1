"""Commands that an agent, an editor or a container starts by itself, wherever their configuration keeps them."""

from __future__ import annotations

from collections.abc import Iterator

from vskill_platform.scanning.tier1.configs.commands import Deed, Judgement, judge_command, judge_words
from vskill_platform.scanning.tier1.configs.reporting import Seen, Source, report_command
from vskill_platform.scanning.tier1.configs.structured import Entry
from vskill_platform.scanning.tier1.configs.word_lists import words

_HOOK_COMMANDS = words("command commands bash powershell cmd script run exec shell action")
_NO_COMMANDS = words("matcher type description name timeout if pattern id title event")
_HELPERS = words("apikeyhelper awsauthrefresh awscredentialexport otelheadershelper headershelper notify")
_CONTAINER_COMMANDS = words(
    "postcreatecommand poststartcommand postattachcommand oncreatecommand updatecontentcommand initializecommand"
)
_HOST_IN_CONTAINER = ("docker.sock", "/.ssh", "/.aws", "--privileged", "source=/,", "--pid=host", "--network=host")
_OPENS_FOLDER = "folderopen"


def find_hooks(source: Source) -> Iterator[Seen]:
    """Hooks of an agent, and other commands that its settings name."""
    lists: dict[tuple[str, ...], list[Entry]] = {}
    for entry in source.entries:
        if not entry.value.strip() or not _is_hook(entry):
            continue
        if entry.keys and entry.keys[-1].isdecimal():
            lists.setdefault(entry.keys[:-1], []).append(entry)
        else:
            yield from report_command(source, entry, judge_command(entry.value), kind="hook")
    for command in lists.values():
        yield from report_command(source, command[0], _judge_list(command), kind="hook")


def find_container_commands(source: Source) -> Iterator[Seen]:
    """What a development container runs, and how far it reaches into the machine."""
    for entry in source.entries:
        names = [name.lower() for name in entry.names]
        command = next((name for name in names if name in _CONTAINER_COMMANDS), None)
        if command is not None and entry.value:
            judgement = judge_command(entry.value)
            if command != "initializecommand":
                judgement.deeds &= {Deed.ATTACKS}
            yield from report_command(source, entry, judgement, kind="editor")
        elif names[:1] in (["mounts"], ["runargs"]) and any(mark in entry.value for mark in _HOST_IN_CONTAINER):
            yield source.sighting("container_reaches_host", entry)


def find_tasks(source: Source) -> Iterator[Seen]:
    """Tasks of an editor that start when a folder is opened, and tasks that attack."""
    for task in _groups(source.entries, "tasks"):
        command = next((entry for entry in task if entry.key.lower() == "command" and entry.value), None)
        if command is None:
            continue
        arguments = [entry.value for entry in task if entry.key.lower() == "args"]
        judgement = judge_command(" ".join([command.value, *arguments]))
        if not any(entry.key.lower() == "runon" and entry.value.lower() == _OPENS_FOLDER for entry in task):
            judgement.deeds &= {Deed.ATTACKS}
        yield from report_command(source, command, judgement, kind="editor")


def _groups(entries: tuple[Entry, ...], name: str) -> list[list[Entry]]:
    """The entries of each item of the lists of this name."""
    found: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        at = next(
            (n for n, key in enumerate(entry.keys[:-1]) if key.lower() == name and entry.keys[n + 1].isdecimal()), None
        )
        if at is not None:
            found.setdefault(entry.keys[: at + 2], []).append(entry)
    return list(found.values())


def _is_hook(entry: Entry) -> bool:
    names = [name.lower() for name in entry.names]
    key = names[-1] if names else ""
    if key in _HELPERS or names[-2:] == ["statusline", "command"]:
        return True
    if "hooks" not in names[:-1] or key in _NO_COMMANDS:
        return False
    return key in _HOOK_COMMANDS or " " in entry.value.strip() or entry.value.startswith(("./", "/", "$"))


def _judge_list(entries: list[Entry]) -> Judgement:
    """A command that is given word by word, or a list of commands."""
    values = [entry.value for entry in entries]
    return judge_words(values) if " " not in values[0].strip() else judge_command("\n".join(values))
