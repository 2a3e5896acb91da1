"""Follows values through a program by their names: from where they come from, over assignments and calls, to where they go."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice

from vskill_platform.scanning.tier1.code.jobs import fetches_and_runs
from vskill_platform.scanning.tier1.code.others import commands
from vskill_platform.scanning.tier1.code.others.catalogue import Tongue
from vskill_platform.scanning.tier1.code.others.deeds import TAINT_OF, Deed, Taint
from vskill_platform.scanning.tier1.code.others.program import LONGEST_STATEMENT, Program, Statement
from vskill_platform.scanning.tier1.code.places import Lasting, SecretKind, lasting_at, secret_at
from vskill_platform.scanning.tier1.patterns import compile_pattern

ROUNDS = 3
MOST_DEEDS = 2_000
"""Calls of one kind that are looked at in one program."""
MOST_NAMESAKES = 5
"""Functions of one name that are told apart."""
_ANYWHERE = -1
_NAME = re.compile(r"[A-Za-z_]\w*")
_ASSIGNS = re.compile(r"(?<![=!<>~+*/%&|^-])(?:=|:=|<-)(?![=~>])|[.+]=|<<-?=?(?=\s)|\bto\b(?=\s*$)")
_IN_TEXT = re.compile(
    r"#\{([^}]{0,200})\}|\$\(([^)]{0,200})\)|\$\{?(?:env:|ENV\{)?([A-Za-z_]\w*)|"
    r"\{([A-Za-z_][\w.]*)[^}]{0,20}\}|%([A-Za-z_]\w*)%"
)
_LOOPS = re.compile(
    r"\|([\w, ()*&]{1,80})\||\bas\s+\$?(\w+)(?:\s*=>\s*\$?(\w+))?|\bfor(?:each)?\s*\(?\s*(?:my|var|let|"
    r"const)?\s*[$@]?([\w, $]{1,60}?)\s+(?:in\b|\()"
)
_TAKES_IN = re.compile(
    r"\b([A-Za-z_]\w*)(?:\.|->|::|:)(?:add|append|push|write|concat|merge|store|set|insert|put|update|Write\w*|"
    r"Add\w*|Append\w*|push_str|extend\w*)\b"
)
_COPIES = re.compile(
    r"\b(?:io\.Copy|IO\.copy_stream|copy|push|unshift|array_push|table\.insert|fwrite|fputs)\s*\(?\s*[@$&]*(\w+)"
)
_READ_IN_LOOP = re.compile(r"\bwhile\s*\(\s*<\$?\w+>\s*\)")
"""A loop over lines, which are in the name that goes without saying."""
_OF_OBJECT = re.compile(r"(?:@|\bself\.|\bthis\.|\$this->)([A-Za-z_]\w*)\s*(?:[.+]?=(?![=~>])|<<)")
_FILLED = re.compile(r"&(?:mut\s+)?([A-Za-z_]\w*)|\bopen\s*\(?\s*(?:my\s*)?\$(\w+)\s*,")
_IS_SET = re.compile(r"^\s*(?:set|copy)\s+(\w+)\s+to\b")
_NO_NAMES = (
    "if unless while until for foreach my our local let var const mut auto val final return else elsif end do then nil null None "
    "true false err error self this new of set dim string int int64 bool byte each range func function fn sub def"
)
_WORDS = frozenset(_NO_NAMES.split())
_HOME = re.compile(
    r"^(?:#\{[^}]*\}|\$\{[^}]*\}|\$ENV\{\w+\}|\$env:\w+|\$\([^)]*\)|\$\w+|%\w+%|\{\w*\})(?=[/\\])", re.IGNORECASE
)
_LOOKS_LIKE_PATH = re.compile(r"[./\\~]|^id_|[Cc]ookies|Login Data|wallet|[Kk]ey")
_LASTS = frozenset(
    [
        Lasting.SCHEDULE,
        Lasting.PROFILE,
        Lasting.AUTOSTART,
        Lasting.SERVICE,
        Lasting.LOGIN_KEY,
        Lasting.SUDO,
        Lasting.LOADER,
    ]
)
_REGISTRY = re.compile(r"\\CurrentVersion\\(?:Run|RunOnce|Policies\\Explorer\\Run)\b|\\Winlogon\b", re.IGNORECASE)
_IDENTITY = re.compile(r"iam/security-credentials|identity/oauth2/token|service-accounts/default/token", re.IGNORECASE)
MOST_PIECES = 8


class Flows:
    """What is known of the values of one program."""

    def __init__(self, program: Program, tongue: Tongue) -> None:
        self.program = program
        self._tongue = tongue
        self.deeds = _deeds(program, tongue)
        self._places = {deed: [start for start, _ in spans] for deed, spans in self.deeds.items()}
        self._ends = dict(sorted(span for spans in self.deeds.values() for span in spans))
        self.secrets: dict[int, str] = {}
        self.owners: set[str] = set()
        self.dropped: set[str] = set()
        """The files that are named outright and came from the network."""
        self._known: dict[tuple[int, str], Taint] = defaultdict(lambda: Taint.NOTHING)
        self._returned: dict[str, Taint] = defaultdict(lambda: Taint.NOTHING)
        self._direct = [self._sources(statement) for statement in program.statements]
        self._names = [self._names_in(statement) for statement in program.statements]
        self._by_name: dict[str, list[int]] = defaultdict(list)
        for number, function in enumerate(program.functions):
            if len(self._by_name[function.name]) < MOST_NAMESAKES:
                self._by_name[function.name].append(number)
        self._opened, self._opened_outright = self._files_opened()
        self._numbers = {statement.start: number for number, statement in enumerate(program.statements)}

    def _files_opened(self) -> tuple[dict[tuple[int, str], list[str]], dict[tuple[int, str], list[str]]]:
        """The names of files that are open for writing, with the names that their paths are made of, and with paths."""
        found: dict[tuple[int, str], list[str]] = {}
        outright: dict[tuple[int, str], list[str]] = {}
        for number, statement in enumerate(self.program.statements):
            if self.does(Deed.WRITE, statement) is None:
                continue
            assigned, filled = _ASSIGNS.search(statement.bare), _FILLED.search(statement.bare)
            names = _NAME.findall(statement.bare[: assigned.start()][-200:]) if assigned else []
            for name in [*names, *(filled.groups("") if filled else ())]:
                found[statement.scope, name] = self._names[number][:10]
                outright[statement.scope, name] = list(commands.files_named(statement.texts))
        return found, outright

    def follow(self) -> None:
        """Goes over the program until nothing new is learnt, a few times at most."""
        for _ in range(ROUNDS):
            before = len(self._known), sum(self._known.values()), sum(self._returned.values())
            for number, statement in enumerate(self.program.statements):
                self._step(number, statement)
            if before == (len(self._known), sum(self._known.values()), sum(self._returned.values())):
                return

    def taint_of(self, statement: Statement) -> Taint:
        """Where what a statement handles came from."""
        number = self._numbers[statement.start]
        taint = self._direct[number]
        for name in self._names[number]:
            taint |= self.taint_of_name(name, statement.scope)
        return taint

    def taint_of_name(self, name: str, scope: int) -> Taint:
        """Where the value of a name came from, as it is known in a function."""
        return (
            self._known.get((scope, name), Taint.NOTHING)
            | self._known.get((_ANYWHERE, name), Taint.NOTHING)
            | self._returned.get(name, Taint.NOTHING)
        )

    def does(self, deed: Deed, statement: Statement) -> int | None:
        """Where in a statement something is done, if it is."""
        places = self._places.get(deed, [])
        number = bisect_left(places, statement.start)
        return places[number] if number < len(places) and places[number] < statement.end else None

    def is_metadata_alone(self) -> bool:
        """Whether all secrets are of a cloud's metadata, which programs ask for to log in to that cloud."""
        return bool(self.secrets) and set(self.secrets.values()) == {"metadata"}

    def end_of(self, at: int) -> int:
        """Where the call ends that begins at an offset."""
        return self._ends.get(at, at)

    def names_in_text(self, text: str) -> list[str]:
        """The names of variables whose values stand in a text."""
        if not self._tongue.has_names_in_texts:
            return []
        pieces = (
            piece
            for found in islice(_IN_TEXT.finditer(text[:LONGEST_STATEMENT]), 40)
            for piece in found.groups()
            if piece
        )
        return [name for piece in pieces for name in _NAME.findall(piece)]

    def _step(self, number: int, statement: Statement) -> None:
        taint = self.taint_of(statement)
        if self.does(Deed.SAVE, statement) is not None or (
            taint & Taint.FETCHED and self.does(Deed.WRITE, statement) is not None
        ):
            taint |= Taint.DROPPED
        if not taint:
            return
        bare = statement.bare
        is_written = self.does(Deed.WRITE, statement) is not None
        if taint & Taint.FETCHED:
            self.dropped.update(commands.saved_to(statement.texts))
        if taint & Taint.DROPPED:
            self.dropped.update(commands.files_named(statement.texts))
        elif taint & Taint.FETCHED:
            for name in self._names[number]:
                self.dropped.update(self._opened_outright.get((statement.scope, name), ()))
        for name in self._taken(bare, is_saved=bool(taint & Taint.DROPPED), number=number):
            self._known[statement.scope, name] |= taint
            for path in (
                self._opened.get((statement.scope, name), ()) if taint & Taint.FETCHED and not is_written else ()
            ):
                self._known[statement.scope, path] |= Taint.DROPPED
        for name in _OF_OBJECT.findall(bare):
            self._known[_ANYWHERE, name] |= taint
        self._hand_over(number, statement)
        if statement.scope >= 0 and taint & ~Taint.DROPPED:
            self._returned[self.program.functions[statement.scope].name] |= taint & ~(Taint.DROPPED | Taint.ARGUMENT)

    def _taken(self, bare: str, *, is_saved: bool, number: int) -> list[str]:
        """The names that get what a statement handles."""
        names: list[str] = []
        assigned = _ASSIGNS.search(bare)
        if assigned:
            names += _NAME.findall(bare[: assigned.start()][-200:])
        for pattern in (_LOOPS, _TAKES_IN, _COPIES, _FILLED, _IS_SET):
            for found in islice(pattern.finditer(bare), 10):
                names += [name for group in found.groups() if group for name in _NAME.findall(group)]
        if is_saved:
            names += self._names[number]
        if _READ_IN_LOOP.search(bare):
            names.append("_")
        return [name for name in names if name not in _WORDS]

    def _hand_over(self, number: int, statement: Statement) -> None:
        """What a function of the program is given comes to it under the names it has there, and so does what it saves to."""
        for name in self._names[number]:
            called = [each for each in self._by_name.get(name, ()) if each != statement.scope]
            at = re.search(rf"\b{name}\b\s*\(?", statement.bare) if called else None
            spans = _arguments(statement.bare, at.end()) if at else []
            given = [self._taint_between(statement, *span) for span in spans]
            for each in called:
                for number_of_argument in self._take_over(each, given):
                    start, end = spans[number_of_argument]
                    for saved in _NAME.findall(statement.bare[start:end]):
                        self._known[statement.scope, saved] |= Taint.DROPPED

    def _take_over(self, called: int, given: list[Taint]) -> Iterator[int]:
        """Hands a function what it is given; gives the numbers of the arguments that it saves something to."""
        if len(given) == 1:
            self._known[called, "_"] |= given[0]
        for number, (names, taint) in enumerate(zip(self.program.functions[called].given, given, strict=False)):
            for name in names.split("\0"):
                if self._known.get((called, name), Taint.NOTHING) & Taint.DROPPED and not taint & Taint.DROPPED:
                    yield number
                if taint:
                    self._known[called, name] |= taint

    def _taint_between(self, statement: Statement, start: int, end: int) -> Taint:
        """Where that came from which stands between two offsets of a statement."""
        taint = Taint.NOTHING
        for name in _NAME.findall(statement.bare[start:end]):
            taint |= self.taint_of_name(name, statement.scope)
        start, end = start + statement.start, end + statement.start
        for text in statement.texts:
            if start <= text.start < end:
                for name in self.names_in_text(text.inner):
                    taint |= self.taint_of_name(name, statement.scope)
                taint |= (
                    self._place(text.inner[:300], statement) if _LOOKS_LIKE_PATH.search(text.inner[:300]) else taint
                )
        for deed, source in TAINT_OF.items():
            places = self._places.get(deed, [])
            first = bisect_left(places, start)
            taint |= source if first < len(places) and places[first] < end else Taint.NOTHING
        return taint

    def _names_in(self, statement: Statement) -> list[str]:
        assigned = _ASSIGNS.search(statement.bare)
        bare = statement.bare[assigned.end() :] if assigned and assigned.group() not in (".=", "+=") else statement.bare
        names = dict.fromkeys(_NAME.findall(bare))
        for text in statement.texts:
            names.update(dict.fromkeys(self.names_in_text(text.inner)))
        return [name for name in names if name not in _WORDS]

    def _sources(self, statement: Statement) -> Taint:
        taint = Taint.NOTHING
        for deed, source in TAINT_OF.items():
            if self.does(deed, statement) is not None:
                taint |= source
        if self.gives_command(statement):
            taint |= Taint.FETCHED if commands.fetches(statement.texts) else Taint.NOTHING
            if commands.asks_for_browser_key(statement.texts):
                self.secrets.setdefault(statement.start, "Safe Storage")
                taint |= Taint.SECRET
        return taint | self._places_in(statement)

    def gives_command(self, statement: Statement) -> bool:
        """Whether a text of a statement is a command."""
        return (
            self.does(Deed.RUN, statement) is not None
            or self.does(Deed.SHELL, statement) is not None
            or "`" in statement.bare
        )

    def _places_in(self, statement: Statement) -> Taint:
        taint = Taint.NOTHING
        pieces = [text.inner[:300] for text in statement.texts[:40]]
        wanted = [piece for piece in pieces if _LOOKS_LIKE_PATH.search(piece)]
        if 1 < len(pieces) <= MOST_PIECES and wanted:
            wanted.append("~/" + "/".join(piece.strip("/\\") for piece in pieces if "://" not in piece))
        for piece in wanted:
            taint |= self._place(piece, statement)
        return taint

    def _place(self, piece: str, statement: Statement) -> Taint:
        if "://" in piece or _IDENTITY.search(piece):
            is_identity = _IDENTITY.search(piece) is not None
            if is_identity:
                self.secrets.setdefault(statement.start, "metadata")
            return Taint.SECRET if is_identity else Taint.NOTHING
        if _REGISTRY.search(piece):
            return Taint.LASTING
        path = _HOME.sub("~", piece.replace("\\\\", "\\"))
        path = path if path.startswith(("~", "/", ".")) and not path.startswith("/.") else f"~/{path.lstrip('/')}"
        secret = secret_at(path) if "\n" not in path else None
        if secret is not None:
            self.secrets.setdefault(statement.start, secret.path)
            is_read_whole = secret.kind is SecretKind.LOGIN and self.does(Deed.READ, statement) is not None
            if secret.kind is SecretKind.KEY or is_read_whole:
                self.owners.update(secret.owners)
                return Taint.SECRET
        lasting = lasting_at(path)
        is_hook = lasting is Lasting.GIT_HOOK and any(fetches_and_runs(text.inner) for text in statement.texts)
        return Taint.LASTING if is_hook or lasting in _LASTS else Taint.NOTHING


def _deeds(program: Program, tongue: Tongue) -> dict[Deed, list[tuple[int, int]]]:
    """Where in the program what is done; every letter is one byte here."""
    data = program.plain.encode("ascii", "replace")
    found: dict[Deed, list[tuple[int, int]]] = {}
    for deed, source in tongue.deeds.items():
        spans = [(span.start, span.end) for span in islice(compile_pattern(source).spans(data), MOST_DEEDS)]
        program.is_cut |= len(spans) == MOST_DEEDS
        if spans:
            found[deed] = spans
    return found


def _arguments(bare: str, start: int) -> list[tuple[int, int]]:
    """Where the arguments of a call stand, whose first one begins at an offset."""
    spans: list[tuple[int, int]] = []
    depth, begin, at = 0, start, start
    for at in range(start, len(bare)):
        letter = bare[at]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth < 0:
                break
        elif letter == "," and not depth:
            spans.append((begin, at))
            begin = at + 1
    else:
        at = len(bare)
    return [*spans, (begin, at)][:20]
