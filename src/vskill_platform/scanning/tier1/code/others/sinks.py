"""What comes of values where they are used: sent, run, evaluated, written to a place that lasts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vskill_platform.scanning.tier1.code.hosts import HostKind, host_of, is_same_owner, kind_of_address, kind_of_host
from vskill_platform.scanning.tier1.code.others import commands
from vskill_platform.scanning.tier1.code.others.deeds import Deed, Taint
from vskill_platform.scanning.tier1.code.others.flows import Flows
from vskill_platform.scanning.tier1.code.others.program import Statement
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.skill import FactKind

SECRET_SENT = "other_secret_sent"
ENVIRONMENT_SENT = "other_environment_sent"
RUNS_FETCHED = "other_runs_fetched"
RUNS_DECODED = "other_runs_decoded"
REVERSE_SHELL = "other_reverse_shell"
PERSISTS = "other_persists"
EVALUATES_INPUT = "other_evaluates_input"
EVALUATES_DATA = "other_evaluates_data"
SHELL_OF_INPUT = "other_shell_of_input"
SHELL_OF_ARGUMENT = "other_shell_of_argument"
QUERY_OF_INPUT = "other_query_of_input"
QUERY_OF_ARGUMENT = "other_query_of_argument"
HIDDEN_LOOKUP = "other_hidden_lookup"
CHECKS = frozenset(
    [
        SECRET_SENT,
        ENVIRONMENT_SENT,
        RUNS_FETCHED,
        RUNS_DECODED,
        REVERSE_SHELL,
        PERSISTS,
        EVALUATES_INPUT,
        EVALUATES_DATA,
        SHELL_OF_INPUT,
        SHELL_OF_ARGUMENT,
        QUERY_OF_INPUT,
        QUERY_OF_ARGUMENT,
        HIDDEN_LOOKUP,
    ]
)
MOST_TEXTS = 5_000
_HOST = re.compile(
    r"(?:[a-z0-9-]{1,60}\.){1,6}(?!php|html?|json|ya?ml|csv|txt|md|rb|go|lua|pl|rs|cs|xml|sqlite|db|log|sh)[a-z]{2,12}"
)
_ADDRESS = re.compile(r"(?:https?|ftps?|wss?|tcp)://[^\s\"'`<>|]{3,300}")
_RUNS_NEXT = re.compile(
    rf"\s*(?:(?:sudo|nohup|exec|env)\s+)*{commands.INTERPRETER}(?:\s+[-/+][\w=]+)*\s*(?=$|[\"'\\]*[#$%{{(~])",
    re.IGNORECASE,
)
_BEGINS_WITH_NAME = re.compile(r"\s*[\"'\\]*(?:\./)?(?:[#$]\{|\$[A-Za-z(]|%\w+%|\{\w)")
_SHELL_PROGRAM = re.compile(
    r"^(?:/bin/|/usr/bin/)?(?:(?:ba|z|da)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh)(?:\s+-\w+)*(?:\s|$)",
    re.IGNORECASE,
)
_FIRST_NAME = re.compile(r"[\s(&{\[]*(?:ctx\s*,\s*)?(?:new\s+)?[@$%*&]*(?P<name>[A-Za-z_]\w*)?")
_SQL = re.compile(
    r"(?i)\b(?:select\b.{1,200}\bfrom|insert\s+into|update\b.{1,100}\bset|delete\s+from|where\b|drop\s+table)\b",
    re.DOTALL,
)
_WRITES = re.compile(
    r"(?:\.|->|:)(?:puts|[wW]rite\w*|print\w*|[sS]end\w*)\b|\bfwrite\b|\bfputs\b|\bprint\b|\.Fprint\w*\b"
)
_LOGS_IN = re.compile(r"(?i)\bssh\.\w+\(|\bNet::(?:SSH|SCP|SFTP)\b|\bssh2_|\bSshClient\b|\bJSch\b|\bSession::new\b")
_QUERY = re.compile(r"^https?://[^\s]{1,200}[?&][\w-]{1,30}=|^[?&][\w-]{1,30}=|^\.[\w-]{1,60}\.\w")
_FEEDS = re.compile(r"\.[sS]tdin\b|\bStandardInput\.Write")
_INDEXED = re.compile(r"\s{0,9}\(?\s{0,9}[@$]?\w{1,60}\s?(?:\[|->|\{)\s?[\"':]")
_CONSTANT_CODE = re.compile(r"[\s(]*(?:&|do\b|\{|<<[~-]?['\"]?\w|:\w+\s*[,)]|['\"][^#$]*['\"]\s*\)?\s*$)")


class Sinks:
    """Weighs what is done in one program."""

    def __init__(self, flows: Flows, report: Report) -> None:
        self._flows = flows
        self._report = report
        self._addresses = [found.group() for found in _ADDRESS.finditer(flows.program.plain)]
        self._texts = [text.inner for statement in flows.program.statements for text in statement.texts][:MOST_TEXTS]
        self._logs_in_with_keys = _LOGS_IN.search(flows.program.plain) is not None
        self._hosts = [host for host in map(host_of, self._addresses) if host]

    def weigh(self) -> None:
        """Tells what the program does that rules name, and what it does at all."""
        self._facts()
        for statement in self._flows.program.statements:
            taint = self._flows.taint_of(statement)
            self._evaluating(statement, taint)
            if taint or self._flows.dropped:
                self._weigh(statement, taint)
        if self._is_reverse_shell():
            at = self._flows.deeds[Deed.CONNECT][0][0]
            self._report.see(REVERSE_SHELL, at)

    def _weigh(self, statement: Statement, taint: Taint) -> None:
        self._sending(statement, taint)
        self._running(statement, taint)
        at = self._flows.does(Deed.WRITE, statement)
        if at is not None and taint & Taint.LASTING:
            self._report.see(PERSISTS, at)
        given = taint & (Taint.INPUT | Taint.ARGUMENT | Taint.DATA)
        if given and Deed.QUERY in self._flows.deeds and self._builds_query(statement):
            self._report.see(QUERY_OF_INPUT if taint & Taint.INPUT else QUERY_OF_ARGUMENT, statement.start)

    def _sending(self, statement: Statement, taint: Taint) -> None:
        looked_up = self._flows.does(Deed.LOOKUP, statement)
        if looked_up is not None and (taint & (Taint.SECRET | Taint.ENVIRONMENT) or taint & Taint.ENCODED):
            self._report.see(HIDDEN_LOOKUP, looked_up)
        at = self._sent_at(statement, taint)
        if at is None or not self._goes_out():
            return
        if taint & (Taint.CONTENT | Taint.ARGUMENT | Taint.DATA):
            self._report.know(FactKind.SENDS_FILE, at, self._host_of(statement))
        if taint & Taint.SECRET and not self._is_owners():
            self._report.see(SECRET_SENT, at)
        elif taint & Taint.ENVIRONMENT:
            self._report.see(ENVIRONMENT_SENT, at)

    def _sent_at(self, statement: Statement, taint: Taint) -> int | None:
        """Where a statement hands something to the network: by a call that says so, or by one that keys have no business in."""
        at = self._flows.does(Deed.SEND, statement)
        if at is not None or not taint & (Taint.SECRET | Taint.ENVIRONMENT):
            return at
        if self._flows.gives_command(statement) and commands.may_send(statement.texts):
            return statement.start
        if taint & Taint.SOCKET and _WRITES.search(statement.bare) and not self._logs_in_with_keys:
            return statement.start
        at = self._flows.does(Deed.LOOKUP, statement)
        is_asked_with_it = taint & Taint.SECRET or any(_QUERY.search(text.inner) for text in statement.texts)
        if at is None and is_asked_with_it and not self._flows.is_metadata_alone():
            at = self._flows.does(Deed.FETCH, statement)
        return at

    def _host_of(self, statement: Statement) -> str:
        """The host that a statement names, or the only one that the program names."""
        own = [host_of(text.inner) for text in statement.texts if _ADDRESS.match(text.inner)]
        named = (
            [host for text in self._texts if _HOST.fullmatch(text) for host in [host_of(text)]]
            if not self._hosts
            else []
        )
        return next(iter([*own, *self._hosts, *named]), "")

    def _running(self, statement: Statement, taint: Taint) -> None:
        at = self._flows.does(Deed.RUN, statement)
        if at is None:
            at = self._flows.does(Deed.SHELL, statement)
        feeds = _FEEDS.search(statement.bare)
        if feeds and taint & Taint.FETCHED and self._has_shell() and not self._is_known_source():
            self._report.see(RUNS_FETCHED, statement.start + feeds.start())
        if at is None:
            return
        command = self._command(statement, at)
        is_fetched = command & (Taint.FETCHED | Taint.DROPPED) or self._runs_dropped(statement, at)
        if is_fetched and not self._is_known_source():
            self._report.see(RUNS_FETCHED, at)
        elif command & Taint.DECODED:
            self._report.see(RUNS_DECODED, at)
        elif command & Taint.SOCKET:
            self._report.see(REVERSE_SHELL, at)
        shell = self._flows.does(Deed.SHELL, statement)
        if (
            shell is not None
            and taint & (Taint.INPUT | Taint.ARGUMENT | Taint.DATA)
            and self._is_put_together(statement)
        ):
            self._report.see(SHELL_OF_INPUT if taint & Taint.INPUT else SHELL_OF_ARGUMENT, shell)

    def _runs_dropped(self, statement: Statement, at: int) -> bool:
        """Whether a file is run that is named outright and came from the network."""
        dropped = self._flows.dropped
        return bool(dropped) and commands.runs_one_of(dropped, [text for text in statement.texts if text.start >= at])

    def _evaluating(self, statement: Statement, taint: Taint) -> None:
        at = self._flows.does(Deed.EVALUATE, statement)
        if at is None:
            return
        if self._runs_dropped(statement, at) and not self._is_known_source():
            self._report.see(RUNS_FETCHED, at)
        end = self._flows.end_of(at)
        if _CONSTANT_CODE.match(self._flows.program.plain, end, min(statement.end, end + 2_000)):
            return
        if taint & Taint.SOCKET:
            self._report.see(REVERSE_SHELL, at)
        elif taint & (Taint.FETCHED | Taint.DROPPED) and not self._is_known_source():
            self._report.see(RUNS_FETCHED, at)
        elif taint & Taint.INPUT:
            self._report.see(EVALUATES_INPUT, at)
        elif taint & Taint.DECODED:
            self._report.see(RUNS_DECODED, at)
        elif taint & Taint.DATA or (Deed.DATA in self._flows.deeds and _INDEXED.match(self._flows.program.plain, end)):
            self._report.see(EVALUATES_DATA, at)

    def _command(self, statement: Statement, at: int) -> Taint:
        """Where that came from which stands where a program's name is expected."""
        end = self._flows.end_of(at)
        behind = self._flows.program.bare[
            end - 1 if self._flows.program.bare[end - 1] in "\"'`(" else end : statement.end
        ]
        texts = [text for text in statement.texts if text.start >= at]
        first = _FIRST_NAME.match(behind)
        name = first["name"] if first else None
        if name:
            return self._flows.taint_of_name(name, statement.scope)
        return self._command_in_text(statement, [text.inner for text in texts[:3]], behind)

    def _command_in_text(self, statement: Statement, texts: list[str], behind: str) -> Taint:
        taint = Taint.NOTHING
        if not texts:
            return taint
        runs_next = _RUNS_NEXT.match(texts[0])
        is_alone = runs_next is not None and runs_next.end() == len(texts[0])
        names = self._flows.names_in_text(texts[0])
        if _BEGINS_WITH_NAME.match(texts[0]) or (runs_next and not is_alone):
            start = runs_next.end() if runs_next else 0
            names = self._flows.names_in_text(texts[0][start:])[:2]
        elif is_alone:
            names = re.findall(r"[A-Za-z_]\w*", behind)[:3]
            names += self._flows.names_in_text(texts[1])[:2] if len(texts) > 1 else []
        else:
            names = []
        for name in names:
            taint |= self._flows.taint_of_name(name, statement.scope)
        return taint

    def _builds_query(self, statement: Statement) -> bool:
        return any(_SQL.search(text.inner) for text in statement.texts) and self._is_put_together(statement)

    def _is_put_together(self, statement: Statement) -> bool:
        """Whether a text is built from pieces there: by names in it, or by joining."""
        if any(self._flows.names_in_text(text.inner) for text in statement.texts):
            return True
        return bool(
            re.search(
                r"[\"'`]\s*(?:\+|\.\.?|&)\s*[$@\w]|[\w)\]]\s*(?:\+|\.\.?|&)\s*[\"'`]|\bSprintf\b|\bformat\b|\bpaste0?\b",
                statement.bare,
            )
        )

    def _goes_out(self) -> bool:
        return not self._hosts or any(kind_of_host(host) is not HostKind.LOCAL for host in self._hosts)

    def _is_owners(self) -> bool:
        """Whether all hosts are of those whose business the secrets are."""
        owners = tuple(self._flows.owners)
        outside = [host for host in self._hosts if kind_of_host(host) is not HostKind.LOCAL]
        return bool(owners and outside) and all(is_same_owner(host, owners) for host in outside)

    def _is_known_source(self) -> bool:
        """Whether everything comes from hosts that are known for what they publish, or nothing is said of any host."""
        if not self._addresses and "http" not in self._flows.program.plain.lower():
            return True
        kinds = {kind_of_address(address) for address in self._addresses}
        return bool(kinds) and kinds <= {HostKind.VENDOR, HostKind.REPOSITORY, HostKind.LOCAL}

    def _is_reverse_shell(self) -> bool:
        deeds = self._flows.deeds
        if not (deeds.keys() >= {Deed.CONNECT, Deed.REDIRECT} and (Deed.RUN in deeds or Deed.SHELL in deeds)):
            return False
        return self._has_shell()

    def _has_shell(self) -> bool:
        """Whether a shell is named."""
        return any(map(_SHELL_PROGRAM.match, self._texts))

    def _facts(self) -> None:
        for found in _ADDRESS.finditer(self._flows.program.plain):
            host = host_of(found.group())
            if host:
                self._report.know(FactKind.REACHES, found.start(), host)
        for start, path in self._flows.secrets.items():
            self._report.know(FactKind.READS_SECRET, start, path)
        host = next((host for host in self._hosts if kind_of_host(host) is not HostKind.LOCAL), "")
        for kind, deed, value in self._deeds_told(host):
            self._report.know(kind, self._flows.deeds[deed][0][0], value)

    def _deeds_told(self, host: str) -> Iterator[tuple[FactKind, Deed, str]]:
        deeds = self._flows.deeds
        if Deed.SEND in deeds and self._goes_out():
            yield FactKind.SENDS, Deed.SEND, host
        if Deed.DECODE in deeds:
            yield FactKind.DECODES, Deed.DECODE, "encoded text"
        if Deed.EVALUATE in deeds:
            yield FactKind.EVALUATES, Deed.EVALUATE, "eval"
