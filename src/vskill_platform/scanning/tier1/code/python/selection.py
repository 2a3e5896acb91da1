"""Which Python is worth reading: what names something that can do harm, what hides its words, and what belongs to such.

The words are those that nobody can do without. A module can only be had by its name or by a lookup, and a lookup has a name.
"""

from __future__ import annotations

import re

from vskill_platform.scanning.tier1.code.python.catalogue import NETWORK_ROOTS
from vskill_platform.scanning.tier1.code.python.sources import PythonSource, folded
from vskill_platform.scanning.tier1.patterns import Pattern

_DANGEROUS_MODULES = (
    "urllib\\.request http\\.client ctypes cffi pty runpy imp marshal pickle cPickle dill cloudpickle shelve joblib jsonpickle "
    "torch winreg _winreg pexpect pynput keyboard browser_cookie3 webbrowser zipimport pip builtins importlib code timeit "
    "operator posix nt"
)
_TALKING = "|".join(sorted(NETWORK_ROOTS - {"http", "urllib"}))
"""Modules that speak to the network in all their parts."""
_MODULES = rf"urllib|(?:{_TALKING})(?:\.[\w.]+)?|{'|'.join(_DANGEROUS_MODULES.split())}"
_ALWAYS = Pattern(
    rf"(?m)(?:^|[;:])[ \t]*(?:import|from)[ \t\\]+(?:[\w., \t]*[ ,\t.])?(?:{_MODULES})"
    r"(?:[ \t]+(?:as|import)\b|[ \t]*(?:[,;#\\]|$))"
    r"|\b(?:exec|eval)[ \t]*\(|[=(,\[{:@][ \t]*(?:exec|eval)\b|\b(?:return|yield)[ \t]+(?:exec|eval)\b"
    r"|\b(?:execfile|__import__|import_module|getattr|attrgetter|methodcaller|__builtins__|__dict__|__getattribute__|__subclasses__|"
    r"startfile|posix_spawnp?|spawn[lv]p?e?|exec[lv]p?e?|forkpty|dup2|rmtree|get_ipython|create_subprocess_shell|open_connection|urlopen|"
    r"urlretrieve|HTTPHandler|SocketHandler|DatagramHandler|SMTPHandler|b64decode|fromhex|unhexlify|a85decode|b85decode|b32decode|popen[234]?)\b"
    r"|\.system\b|\bsystem[ \t]*[(,]|\bsystem[ \t]+as\b|\.modules\b|\.fork\b|\bfork[ \t]*\("
    r"|[=(,][ \t]*(?:globals|vars|locals)\b|\b(?:globals|vars|locals)[ \t]*\("
    r"|\brequests\.\w|\bsocket\.\w|\bhttpx\.\w|\bpickle\.\w|\byaml\.(?:load|unsafe_load|full_load)\b"
    r"|(?:^|[^.\w])compile[ \t]*\("
    r"|\.encrypt\w*[ \t]*\(|\.decrypt[ \t]*\("
    r"|\.bash|\.zsh|\.profile\b|\bcron|systemd|Launch(?:Agents|Daemons)|autostart|\.git/hooks|authorized_keys|sudoers|sitecustomize|\.pth\b|Startup"
)
"""Words that are enough by themselves."""
_COMMANDS = Pattern(
    r"\bsubprocess\b|\bPopen\b|\bcreate_subprocess_exec\b|\bpsutil\b|\bgetoutput\b|\bgetstatusoutput\b|\brun_process\b"
)
_WITH_COMMANDS = Pattern(
    r"\bshell[ \t]*=|[\"'/](?:ba|z|da|k)?sh\b|[\"']-l?c[\"']|\bpip[\d.]*[\"' ,]+install|\bcurl\b|\bwget\b|\bn(?:c|cat)\b|"
    r"powershell|osascript|schtasks|getoutput|getstatusoutput|\benviron\b|/dev/tcp"
)
"""Words without which a command that is started from a list of words does nothing that is looked for here."""
_PLACES = Pattern(
    r"\bexpanduser\b|\.home[ \t]*\(|\bHOME\b|USERPROFILE|APPDATA|[\"']~|[\"'](?:/|[A-Za-z]:[\\/]*)[\"']|/etc/|/home/|/root\b|"
    r"/Users/|\.claude|\.codex|\.cursor|\.openclaw|CLAUDE|AGENTS|MEMORY|SOUL|GEMINI|settings\.json|\.ssh|\.aws|mcp\.json|\.mcp"
)
_CHANGES = Pattern(
    r"\bwrite|[\"'][waxr]b?\+?[\"']|\bcopy|\bmove\b|\brename\b|\breplace\b|\bsymlink\b|\bunlink\b|\bremove\b|\bdump\b|\btouch\b"
)
_HIDES = Pattern(
    r"\bchr[ \t]*\(|\[[ \t]*:[ \t]*:[ \t]*-[ \t]*1[ \t]*\]|\brot_?13\b|"
    r"[\"'][\w./~-]{1,16}[\"'][ \t]*\+[ \t]*[\"'][\w./~-]{1,16}[\"']|"
    r"[\"'][\"']\.join[ \t]*\([ \t]*[\[(][ \t]*[\"'][\w./~-]{1,8}[\"'][ \t]*,|\.translate[ \t]*\(|\bbytes[ \t]*\([ \t]*[\[(]|"
    r"[\"'][\w./~-]{0,16}(?:%s|\{\d?\})[\w./~-]{0,16}[\"'](?:[ \t]*%|\.format)"
)
"""Ways to write a word so that it does not stand there."""
_EXPOSED = Pattern(
    r"\.execute(?:many|script)?[ \t]*\(|@[\w.]*\b(?:tool|function_tool|mcp_tool|route|call_tool|get|post)\b|"
    r"(?m)^[ \t]*while[ \t]*(?:True\b|[(\d\"'\[]|not\b)[^\n]*:|"
    r"[\"'](?:/home|/etc|/var|/usr|/srv|/opt|/root|/data)/|\*[ \t]*(?:\d{7}|\d+_000_000|10[ \t]*\*\*)"
)
"""What is looked at in files alone: faults that others can use."""
_DANGER = Pattern(
    r"\.system\b|\bsystem[ \t]*\(|\bimport[ \t(][\w, ]*\bsystem\b"
    r"|\b(?:exec|eval|__import__|popen|Popen|subprocess|socket|urlopen|urlretrieve|requests|httpx|aiohttp|b64decode|marshal|ctypes|rmtree)\b"
)
_REACHES = Pattern(
    rf"\b(?:{_TALKING}|urllib|http\.client|curl|wget|gdown|open_connection|scp|rsync|ftp|post|upload\w*|"
    r"__import__|import_module|exec|eval|getattr|webbrowser|get_ipython|(?:read|scan)_(?:csv|json|html|table|excel|parquet|xml|fwf|ndjson))\b"
)
_SECRETS = Pattern(
    r"(?m)\.ssh|\.aws|\.gnupg|netrc|npmrc|pypirc|git-credentials|\.docker|\.kube|gcloud|\.azure|wallet|[Cc]ookies|"
    r"Login Data|[Kk]eychain|[Kk]eyring|"
    r"_history|\.env\b|\bexpanduser\b|\.home[ \t]*\(|[\"']~(?:/|[\"'])|\bHOME\b|USERPROFILE|APPDATA|"
    r"/etc/(?:passwd|shadow|sudoers|ssh)|/root|/home|/Users|"
    r"\bImageGrab\b|\.paste\b|pynput|"
    r"\.codex|\.claude|\benvironb?(?:[ \t]*(?:[),}\]:;]|$)|[ \t]+(?:as|if|for)\b|\.(?:copy|items|values|keys))|"
    r"\bwalk\b|\brglob\b|keyboard"
)
_IMPORT = re.compile(r"[ \t]*(?:from[ \t]+\.*([\w.]*)[ \t]+import[ \t]+([\w, \t(]*)|import[ \t]+([\w., \t]+))")
"""The beginning of a line that imports something."""


def select_sources(sources: list[PythonSource]) -> list[PythonSource]:
    """Those that are worth reading, with the modules of the skill that they import or are imported by."""
    worth = {number for number, source in enumerate(sources) if is_worth_reading(source)}
    files = {number: source for number, source in enumerate(sources) if _is_module(source)}
    if len(files) > 1 and any(_ALWAYS.is_in(sources[number].folded) for number in worth & files.keys()):
        worth |= _related(files, worth)
    return [source for number, source in enumerate(sources) if number in worth]


def _is_module(source: PythonSource) -> bool:
    return not source.is_fenced and source.file.endswith(".py")


def is_worth_reading(source: PythonSource) -> bool:
    """Whether a text has words in it that harm needs; letters that Python takes for others are read as it does."""
    data = source.folded
    if _ALWAYS.is_in(data):
        return True
    hides = _HIDES.is_in(data)
    if _COMMANDS.is_in(data) and (hides or _WITH_COMMANDS.is_in(data)):
        return True
    if (hides or _PLACES.is_in(data)) and _CHANGES.is_in(data):
        return True
    return not source.is_fenced and _EXPOSED.is_in(data)


def names_danger(text: str) -> bool:
    """Whether a text names something that runs code or reaches the network."""
    return _DANGER.is_in(folded(text))


def reaches_out(data: bytes) -> bool:
    """Whether a text names anything that may bring something from the network or send something there."""
    return _REACHES.is_in(data)


def names_secrets(data: bytes) -> bool:
    """Whether a text names, or may hide, a place where something of the user's is kept."""
    return _SECRETS.is_in(data) or _HIDES.is_in(data)


def _related(files: dict[int, PythonSource], worth: set[int]) -> set[int]:
    """The files that are joined to those by imports, in either direction, over any number of steps."""
    by_stem: dict[str, list[int]] = {}
    for number, source in files.items():
        by_stem.setdefault(source.file.rpartition("/")[2].removesuffix(".py"), []).append(number)
    links: dict[int, set[int]] = {number: set() for number in files}
    for number, source in files.items():
        for other in {each for word in _imported(source.text) for each in by_stem.get(word, ())}:
            links[number].add(other)
            links[other].add(number)
    waiting, found = [number for number in worth if number in files], set[int]()
    while waiting:
        for other in links[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def _imported(text: str) -> set[str]:
    words = set[str]()
    for line in text.split("\n"):
        found = _IMPORT.match(line) if "import" in line else None
        if found is None:
            continue
        module, names, modules = found.groups()
        words |= {(module or "").rpartition(".")[2]}
        for each in (*(names or "").split(","), *(modules or "").split(",")):
            word = each.strip(" \t(").partition(" ")[0]
            words.add(word.rpartition(".")[2])
    return words - {""}
