"""Programs that watch, collect or ask, and have the address of a stranger in them.

As with schemes, no path is followed between the two: a camera, a hook on every request, the stores of several programs or a
question for the password of the machine need no address that the author has chosen. Where the description speaks of what is
watched, a program may have one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.hosts import HostKind, kind_of_host
from vskill_platform.scanning.tier1.code.places import SecretKind, secret_at
from vskill_platform.scanning.tier1.excerpts import make_excerpt
from vskill_platform.scanning.tier1.file_kinds import is_named_as_test
from vskill_platform.scanning.tier1.patterns import compile_pattern
from vskill_platform.scanning.tier1.skill import FileUnderScan, Sighting, SkillUnderScan
from vskill_platform.scanning.tier1.views.glance import Sign, signs_of
from vskill_platform.scanning.tier1.views.view import places_in

WATCHES = "watches_for_stranger"
WRAPS = "wraps_for_stranger"
COLLECTS = "collects_for_stranger"
ASKS = "asks_for_stranger"
CHECKS = frozenset([WATCHES, WRAPS, COLLECTS, ASKS])
FEWEST_STORES = 2
"""Places of different programs' secrets that no honest program names together with a stranger."""
_WATCHES = (
    r"\bcv2\.VideoCapture\(\s?\d|\bsounddevice\b|\bpyaudio\.PyAudio\(|\bscreenshot-desktop\b|\bdesktopCapturer\b|\bgetUserMedia\(|"
    r"\bgetDisplayMedia\(|\b[uU]?[iI][oO][hH]ook\b|\bnode-global-key-listener\b|\bImageGrab\.grab\(|\bmss\.mss\(|"
    r"(?:\[type=[\"']?password[\"']?\]|\btype\s?={2,3}\s?[\"']password[\"'])[^`]{0,160}(?:addEventListener|sendBeacon|\.send\()|"
    r"addEventListener\(\s?[\"']key(?:down|press)[\"'][^`]{0,300}(?:sendBeacon|WebSocket)\(|"
    r"addEventListener\([^`]{0,200}\btype\s?={2,3}\s?[\"']password|"
    r"\bnode-webcam\b|addEventListener\(\s?[\"']submit[\"'][\s\S]{0,300}(?:\bcv[cv]\b|\bcard_?[nN]umber\b)|"
    r"\bwebRequest\.onBefore(?:Request|SendHeaders)\b[\s\S]{0,300}(?:passw|\botp\b|authorization|cookie)|"
    r"\bonDid(?:Save|Change)TextDocument\([\s\S]{0,300}\b(?:fetch|axios|request|got)\b[\s\S]{0,300}\.getText\(\)|"
    r"\bpyautogui\.screenshot\(|\bpynput\.keyboard\b|\bkeyboard\.(?:on_press|hook|record)\("
)
_WRAPS = (
    r"\b(?:requests\.(?:sessions\.)?Session\.(?:send|request)|requests\.(?:get|post|request)|urllib\.request\.urlopen|"
    r"http\.client\.HTTPS?Connection\.\w+|httpx\.(?:Async)?Client\.\w+|builtins\.(?:open|input)|(?:getpass|gp)\.getpass|"
    r"(?:OpenAI|Anthropic|AsyncOpenAI)\.__init__|(?:globalThis|global|window)\.fetch|XMLHttpRequest\.prototype\.\w+|https?\.request|"
    r"bcrypt\.compare|Module\._load)\s?=\s?[^=\s]|\binterceptors\.request\.use\([^`]{0,160}\.(?:post|put)\(\s?[\"'`]"
)
_ASKS = (
    r"\baskstring\([^\n]{0,80}[Pp]assword|with hidden answer\b|"
    r"\b(?:input|getpass|password|prompt|question|ask|text)\(\s?(?:\{\s?)?(?:\w{1,20}\s?:\s?)?f?[\"'`][^\"'`\n]{0,80}"
    r"(?:\[sudo\]|\bsudo password|(?:seed|recovery) (?:phrase|words)|\bmnemonic\b|(?:system|log-?in|mac ?os|computer) password)"
)
_TAKES = (
    r"\bNetwork\.getAllCookies\b|\b(?:chrome|browser)\.cookies\.getAll\(|\bfindCredentials\(|"
    r"\bApplication\(\s?[\"'](?:Contacts|Messages|Notes|Photos)[\"']\s?\)|\.export_keys\([^)\n]{0,80}secret\s?=\s?True|"
    r"\.RetrievePassword\(\)|\bwlan\b[^\n]{0,80}\bkey\s?=\s?clear\b|"
    r"\btell application \"(?:Contacts|Messages|Notes|Photos)\""
)
_STORES = (
    r"[\"'`]~?/?\.(?:ssh|aws|gnupg|kube|docker|config|git-credentials|netrc|npmrc|pypirc|pgpass|azure|claude|codex|mozilla|electrum|bitcoin|"
    r"ethereum|solana|password-store|local/share)\b[^\"'`\n]{0,120}[\"'`]"
)
_SOURCES = {WATCHES: _WATCHES, WRAPS: _WRAPS, ASKS: _ASKS, COLLECTS: _TAKES}
_SIGNS = {check: Sign(source) for check, source in _SOURCES.items()}
_NAMES_STORES = Sign(_STORES)
_ADDRESS = (
    r"\b(?:https?|wss?|mqtts?|ftps?|sftp|rediss?|nats|amqps?|tcp|udp)://((?:[\w-]+\.)+[\w-]+)|"
    r"\b(?:host(?:name)?|server|broker)[\"']?\s?[:=]\s?[\"']((?:[\w-]+\.)+[\w-]+)[\"']|"
    r"-SmtpServer\s+[\"']?((?:[\w-]+\.)+[\w-]+)|[\"']((?:\d{1,3}\.){3}\d{1,3})[\"']\s?[,):]|\b\w[\w.-]{0,60}@((?:[\w-]+\.)+[\w-]+):"
)
_SPOKEN_OF = re.compile(
    r"(?i)camera|webcam|video|record|audio|voice|speech|speak|microphone|transcri|dictat|meeting|screen|captur|keyboard|hotkey|"
    r"shortcut|vision|barcode|\bqr\b|gesture|stream|photo|picture|image|listen"
)
_COMMENT = ("#", "//", "*")
_TEST_FRAMEWORK = re.compile(
    r"(?:from|require\(|import)\s*\(?[\"'](?:node:test|node:assert\S{0,7}|vitest|@jest/globals|mocha|chai|bun:test|ava|tap)[\"']|"
    r"^\s*(?:import|from) (?:pytest|unittest)\b|^(?:describe|it|test)\(",
    re.MULTILINE,
)


def find_eavesdropping(skill: SkillUnderScan) -> Iterator[Sighting]:
    """The programs of a skill that watch, wrap, collect or ask for a stranger."""
    described = skill.frontmatter.text if skill.frontmatter else ""
    for file in skill.files:
        if not file.is_program:
            continue
        signs = signs_of(file)
        checks = [check for check, sign in _SIGNS.items() if sign in signs]
        if WATCHES in checks and _SPOKEN_OF.search(described):
            checks.remove(WATCHES)
        if WRAPS in checks and _is_test(file):
            checks.remove(WRAPS)
        if (checks or _NAMES_STORES in signs) and _has_stranger(file):
            yield from (found for check in checks if (found := _sighting(check, file)) is not None)
            yield from _collection(file)


def _is_test(file: FileUnderScan) -> bool:
    """Whether a file holds tests, in which requests are answered by whoever wrote them."""
    return is_named_as_test(file.path) and _TEST_FRAMEWORK.search(file.text) is not None


def _has_stranger(file: FileUnderScan) -> bool:
    """Whether the program has the address of a host in it that everybody could have."""
    code = "\n".join(line for line in file.lines if not line.lstrip().startswith(_COMMENT))
    hosts = set(compile_pattern(_ADDRESS).groups(code.encode(errors="replace")))
    return any(kind_of_host(host) in {HostKind.NAMED, HostKind.THROWAWAY} for host in hosts)


def _collection(file: FileUnderScan) -> Iterator[Sighting]:
    """Stores of several programs' secrets, by the names of their folders."""
    stores = set[str]()
    for span in compile_pattern(_STORES).spans(file.encoded):
        named = file.encoded[span.start + 1 : span.end - 1].decode(errors="replace")
        secret = secret_at(named if named.startswith("~") else f"~/{named.lstrip('/')}")
        if secret is not None and secret.kind is not SecretKind.PROJECT:
            stores.add(secret.path.removeprefix("~/").removeprefix(".config/").partition("/")[0])
        if len(stores) >= FEWEST_STORES:
            yield _at(COLLECTS, file, span.start)
            return


def _sighting(check: str, file: FileUnderScan) -> Sighting | None:
    span = next(iter(compile_pattern(_SOURCES[check]).spans(file.encoded)), None)
    return _at(check, file, span.start) if span else None


def _at(check: str, file: FileUnderScan, start: int) -> Sighting:
    place = places_in(file)(start)
    line = file.lines[place.line - 1] if place.line else ""
    return Sighting(
        check, file.path, place.line, place.column, make_excerpt(line, start=place.column - 1), "eavesdropping"
    )
