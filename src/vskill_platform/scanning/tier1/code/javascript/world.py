"""What surrounds a program: its globals and modules, files and connections, and the report of what it does with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from vskill_platform.scanning.tier1.code.budget import Budget
from vskill_platform.scanning.tier1.code.chosen import as_key
from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, HostKind, has_scheme, host_of, kind_of_address
from vskill_platform.scanning.tier1.code.javascript import checks, modules
from vskill_platform.scanning.tier1.code.javascript.calls import HANDLERS, SOURCES, Call, Callback
from vskill_platform.scanning.tier1.code.javascript.credentials import Credentials, credential_origin
from vskill_platform.scanning.tier1.code.javascript.folding import text_method
from vskill_platform.scanning.tier1.code.javascript.scopes import Scopes
from vskill_platform.scanning.tier1.code.javascript.values import (
    MOST_ORIGINS,
    NOTHING,
    NOWHERE,
    Function,
    Origin,
    Source,
    Value,
    all_origins,
    either_of,
    text_of,
)
from vskill_platform.scanning.tier1.code.places import plain_path, secret_at
from vskill_platform.scanning.tier1.code.report import Report
from vskill_platform.scanning.tier1.code.sending import Channel, leaks
from vskill_platform.scanning.tier1.code.shell.embedding import EmbeddedShell
from vskill_platform.scanning.tier1.skill import FactKind

LONGEST_PATH = 200
MOST_MAPPED = 300
_INDIRECT = frozenset(["call", "apply", "bind"])
_ADDRESS = re.compile(r"https?://[^\s\"'<>)]{3,300}")
_DANGEROUS_NAMES = (
    "eval Function exec execSync spawn spawnSync execFile execFileSync child_process constructor require "
    "mainModule fetch env readFileSync readFile "
    "binding dlopen fs http https net vm os process fork"
)
DANGEROUS_NAMES = frozenset(_DANGEROUS_NAMES.split())


class World:
    """Everything around one program."""

    def __init__(self, report: Report, *, own_files: Mapping[str, str], budget: Budget) -> None:
        self.scopes = Scopes()
        self.gates: list[str] = []
        self.files: dict[str, Value] = {}
        self.does: set[str] = set()
        self.credentials = Credentials()
        self.read_again: Callable[[Function, list[Value]], Value | None] | None = None
        self._report = report
        self._functions: dict[int, Function] = {}
        self._shell = EmbeddedShell(report, own_files=own_files, budget=budget)

    def see(self, check: str, at: int) -> None:
        """Something that a rule names."""
        self._report.see(check, at)

    def is_written(self, text: str) -> bool:
        """Whether something stands in the program as it is."""
        return self._report.is_written(text)

    def know(self, kind: FactKind, at: int, value: str) -> None:
        """A fact. What only the running program knows is left out of it."""
        self._report.know(kind, at, "" if UNKNOWN in value else value)

    def act(self, kind: str, at: int) -> None:
        """Notes that code runs or the network is used here."""
        self.does.add(kind)
        if self.gates:
            self.see(checks.GATED, at)

    @property
    def wants_another_reading(self) -> bool:
        """Whether something was learnt that came too late to be used."""
        return self.scopes.has_changed or any(
            function.is_used and function.sinks for function in self._functions.values()
        )

    def function(self, key: int) -> Function:
        """The function that begins at a token, the same one in every reading."""
        function = self._functions.get(key)
        if function is None:
            function = self._functions[key] = Function(key)
        return function

    def run_shell(self, text: str, at: int) -> frozenset[Origin]:
        """A line of shell code; gives the origins of what it prints."""
        return self._shell.run(text, at=at).origins

    def write_file(self, path: str, content: Value) -> None:
        """Puts content into a file, for the program itself and for the commands that it runs."""
        self.files[path] = content
        self._shell.write_file(path, content.origins)

    def known_global(self, name: str) -> Value:
        """What a name stands for that the program does not declare."""
        if name == "process":
            return Value(path="process")
        if name in modules.GLOBAL_OBJECTS:
            return Value(path="globalThis")
        secret = modules.SECRET_GLOBALS.get(name)
        if secret:
            return Value(path=name, origins=frozenset([Origin(Source.SECRET, secret)]))
        return Value(path=name)

    def load(self, module: Value, at: int) -> Value:
        """`require` and `import`."""
        if not module.is_known or module.text is None:
            return self._load_unknown(module, at)
        name = modules.canonical(module.text)
        if has_scheme(module.text):
            return self._load_remote(module.text, at)
        if module.text.startswith("data:"):
            self.see(checks.RUNS_DECODED, at)
            return NOTHING
        if module.is_built and name in modules.WATCHED:
            self.see(checks.DISGUISED, at)
        content = self.files.get(plain_path(module.text))
        if content is not None:
            self.run_code(content, at)
        return Value(path=name)

    def _load_unknown(self, module: Value, at: int) -> Value:
        content = self.files.get(plain_path(module.text)) if module.text else None
        self.run_code(
            content
            or Value(origins=frozenset(o for o in module.origins if o.source in {Source.NETWORK, Source.DECODED})),
            at,
        )
        return Value(origins=module.origins)

    def _load_remote(self, address: str, at: int) -> Value:
        kind = kind_of_address(address)
        self.know(FactKind.REACHES, at, host_of(address))
        if kind is HostKind.THROWAWAY:
            self.see(checks.RUNS_DOWNLOAD, at)
        elif kind is HostKind.NAMED:
            self.see(checks.LOADS_REMOTE_MODULE, at)
        return NOTHING

    def member(self, base: Value, name: str, *, is_built: bool, at: int) -> Value:
        """A member of a value."""
        if is_built and name in DANGEROUS_NAMES and (base.path or base.function):
            self.see(checks.DISGUISED, at)
        if base.fields and name in base.fields:
            return base.fields[name]
        if base.items is not None and name.isdigit():
            return (
                base.items[int(name)] if len(name) < 6 and int(name) < len(base.items) else Value(origins=base.origins)
            )
        if base.path == "globalThis":
            return self.scopes.look_up(f"globalThis.{name}") or self.known_global(name)
        if base.path == "this":
            return self.scopes.look_up(f"this.{name}") or Value(path=f"this.{name}", base=base, name=name)
        if base.path == "process" and name == "env":
            return Value(path="process.env", origins=frozenset([Origin(Source.ENVIRONMENT, "process.env")]))
        if base.path in {"process.env", "Bun.env"}:
            return self._variable(name, at)
        if name == "constructor" and _makes_functions(base):
            return Value(path="Function", base=base, name=name, is_built=True)
        return self._plain_member(base, name)

    def _plain_member(self, base: Value, name: str) -> Value:
        if name == "default" and base.path:
            return base
        kept = as_key(base.origins, name) if base.path.startswith(modules.PARSED) else base.origins
        origins = kept | credential_origin(name)
        path = _longer(base.path, f".{name}")
        if not path:
            # Behind a long row of members nothing is known any more, and nothing of the row is kept.
            return Value(
                origins=origins,
                base=Value(origins=base.origins, items=base.items, text=base.text, function=base.function),
                name=name,
            )
        if path in modules.SECRET_MEMBERS:
            origins |= {Origin(Source.SECRET, modules.SECRET_MEMBERS[path])}
        elif path == "process.argv":
            origins |= {Origin(Source.ARGUMENT, "argv")}
        elif path in modules.MACHINE_MEMBERS:
            origins |= {Origin(Source.MACHINE, modules.MACHINE_MEMBERS[path])}
        return Value(path=path, origins=origins, base=base, name=name)

    def _variable(self, name: str, at: int) -> Value:
        self.know(FactKind.READS_ENVIRONMENT, at, name)
        origins = {Origin(Source.VARIABLE, name)}
        if name in {"USER", "USERNAME", "LOGNAME"}:
            origins.add(Origin(Source.MACHINE, "user"))
        elif name in {"HOSTNAME", "COMPUTERNAME"}:
            origins.add(Origin(Source.MACHINE, "host"))
        text = "~" if name in {"HOME", "USERPROFILE", "HOMEPATH"} else None
        return Value(text, path=f"process.env.{name}", origins=frozenset(origins))

    def member_by_value(self, base: Value, index: Value) -> Value:
        """A member whose name only the running program knows."""
        if base.path in {"process.env", "Bun.env"}:
            is_any = index.comes_from(Source.ENVIRONMENT)
            return Value(origins=base.origins if is_any else frozenset([Origin(Source.VARIABLE, "*")]))
        if base.items:
            return self.item_of(base)
        if _is_method(base):
            return Value(path="Function", base=base, is_built=True)
        return Value(origins=base.origins | index.origins, path=_longer(base.path, ".*"))

    def set_member(self, base: Value, name: str, value: Value, at: int) -> None:
        """An assignment to a member."""
        if base.fields is not None and name and len(base.fields) < 500:
            base.fields[name] = value.having(base.fields[name].origins) if name in base.fields else value
        if base.path in {"this", "globalThis"} and name:
            self.scopes.assign(f"{base.path}.{name}", value)
        if name in {"src", "href"} or base.path in {"location", "document.location"}:
            self.send([value], text_of(value), Channel.ADDRESS, at)
        if name in {"innerHTML", "outerHTML", "srcdoc"}:
            self.show(value, at)
        is_foreign = value.comes_from(Source.NETWORK) or value.comes_from(Source.FILE)
        if base.name == "__proto__" or (name == "__proto__" and is_foreign):
            self.see(checks.POLLUTES_PROTOTYPE, at)

    def show(self, markup: Value, at: int) -> None:
        """Markup that is put into a page: the addresses in it are asked for, with all that was put into them."""
        for address in _ADDRESS.findall((markup.text or "")[:20_000]):
            self.send([markup], address, Channel.ADDRESS, at)

    def item_of(self, value: Value) -> Value:
        """One item of a list: the one that says most, where they are fixed."""
        if value.items:
            secret = next((item for item in value.items if any(map(_is_secret, (item, *(item.items or ()))))), None)
            return (secret or value.items[0]).having(value.origins)
        return Value(origins=value.origins)

    def call(self, callee: Value, arguments: list[Value], at: int) -> Value:
        """What a call gives, after everything that it does has been noticed."""
        base = callee.base
        if callee.name in _INDIRECT and base is not None and base.path != "Reflect" and (base.path or base.function):
            return self._indirect(base, callee.name, arguments, at)
        call = Call(self, callee, arguments, at)
        if callee.function is not None:
            return self._apply(callee.function, arguments, at)
        handler = HANDLERS.get(callee.path) or modules.handler_of(callee.path, HANDLERS)
        if handler is not None:
            return handler(call)
        if callee.base is not None:
            mapped = self._map(callee, arguments)
            if mapped is not None:
                return mapped
            folded = text_method(callee.base, callee.name, arguments)
            if folded is not None:
                return folded
        handler = HANDLERS.get(f".{callee.name}") if callee.name else None
        if handler is not None:
            return handler(call)
        self._resolve(callee, arguments)
        return self._unknown_call(call)

    def _resolve(self, callee: Value, arguments: list[Value]) -> None:
        """Notes what a function calls its own first parameter with."""
        for parameter in callee.details(Source.ARGUMENT) if arguments and not callee.name else ():
            key, _, number = parameter.partition(":")
            if key.isdigit() and number == "0":
                function = self.function(int(key))
                before = function.resolved
                if before is None:
                    function.resolved = arguments[0]
                elif len(before.origins) < MOST_ORIGINS:
                    function.resolved = either_of(before, arguments[0])

    def _map(self, callee: Value, arguments: list[Value]) -> Value | None:
        """A list of fixed texts that goes through a function of the program, item by item."""
        items = callee.base.items if callee.base is not None else None
        function = arguments[0].function if arguments else None
        if callee.name != "map" or not items or function is None or self.read_again is None:
            return None
        if len(items) > MOST_MAPPED or not all(item.is_known for item in items):
            return None
        results: list[Value] = []
        for number, item in enumerate(items):
            result = self.read_again(function, [item, Value(str(number), is_number=True)])
            if result is None:
                return None
            results.append(result)
        return Value(items=tuple(results), origins=all_origins(results) | function.returns)

    def _unknown_call(self, call: Call) -> Value:
        """What a function gives of which nothing is known: something made from all that it was given."""
        if call.receiver.origins or call.receiver.items:
            for argument in call.arguments:
                if argument.path in HANDLERS and argument.function is None:
                    self.call(argument, [self.item_of(call.receiver)], call.at)
        returned = [argument.function.returns for argument in call.arguments if argument.function is not None]
        origins = all_origins([call.receiver, call.callee, *call.arguments]).union(*returned)
        return Value(origins=origins, path=_longer(call.callee.path, "()"))

    def _indirect(self, function: Value, how: str, arguments: list[Value], at: int) -> Value:
        if how == "bind":
            return function
        given = arguments[1:]
        if how == "apply":
            given = list(arguments[1].items or ()) if len(arguments) > 1 else []
        return self.call(function, given, at)

    def _apply(self, function: Function, arguments: list[Value], at: int) -> Value:
        """A call of a function of the program: what it does with its parameters, it does with these values."""
        function.is_used = True
        is_fixed = any(argument.is_known or argument.items for argument in arguments)
        if is_fixed and self.read_again is not None:
            given = self.read_again(function, arguments)
            if given is not None:
                return given
        for number, argument in enumerate(arguments):
            for kind, detail in sorted(function.sinks.get(number, ())):
                self.repeat_sink(kind, detail, argument, at)
        own = {origin for origin in function.returns if origin.source is not Source.ARGUMENT}
        passed = [
            arguments[number].origins
            for number in range(len(arguments))
            if Origin(Source.ARGUMENT, f"{function.key}:{number}") in function.returns
        ]
        result = function.result if not arguments else None
        text = result.text if result is not None and result.is_known else None
        return Value(text, origins=frozenset(own).union(*passed))

    def callback(self, callee: Value, arguments: list[Value]) -> Callback:
        """What a function literal in this place of a call will be called with."""
        call = Call(self, callee, arguments, 0)
        source = SOURCES.get(callee.path) or modules.handler_of(callee.path, SOURCES)
        origins = source(call) if source else NOWHERE
        receiver = call.receiver
        item = self.item_of(receiver) if receiver.items and callee.name in modules.ITERATING else NOTHING
        is_handler = callee.name in modules.TOOL_HANDLERS or callee.path in modules.TOOL_HANDLERS
        place = 1 if callee.name in modules.FOLDING and item is not NOTHING else 0
        return Callback(receiver.origins | origins, item, is_handler, place)

    def construct(self, made: Value, arguments: list[Value], at: int) -> Value:
        """`new`."""
        call = Call(self, made, arguments, at)
        handler = HANDLERS.get(f"new:{made.path}") or HANDLERS.get(
            made.path if made.path in {"Function", "vm.Script"} else ""
        )
        if handler is not None:
            return handler(call)
        executor = call.argument(0).function if made.path == "Promise" else None
        if executor is not None and executor.resolved is not None:
            return executor.resolved
        return Value(path=_longer(made.path, "()"), origins=all_origins(arguments), fields=dict(made.fields or {}))

    def run_code(self, code: Value, at: int) -> None:
        """Code that is run as it comes: where does it come from?"""
        self.act("runs", at)
        self._remember_sink("code", "", code)
        if code.comes_from(Source.SOCKET):
            self.see(checks.REVERSE_SHELL, at)
        if code.comes_from(Source.NETWORK):
            check = checks.runs_download(code.details(Source.NETWORK))
            if check:
                self.see(check, at)
        elif code.comes_from(Source.DECODED):
            self.see(checks.RUNS_DECODED if code.is_known or _is_given(code) else checks.RUNS_DECODED_VALUE, at)

    def send(self, values: list[Value], address: str, channel: Channel, at: int) -> None:
        """Something that leaves for an address."""
        host = host_of(address)
        value = Value(origins=all_origins(values))
        self.credentials.use(value.details(Source.VARIABLE), host, channel, at)
        self._remember_sink(f"send:{channel.value}", address, value)
        for leak in leaks(
            value.origins,
            host if has_scheme(address) or channel is Channel.NAME else "localhost" if _is_relative(address) else host,
            channel,
        ):
            self.see(checks.OF_LEAK[leak], at)

    def _remember_sink(self, kind: str, detail: str, value: Value) -> None:
        """Remembers for which functions' parameters this is where they end up."""
        for parameter in value.details(Source.ARGUMENT):
            key, _, number = parameter.partition(":")
            if key.isdigit() and number.isdigit():
                self.function(int(key)).add_sink(int(number), kind, detail[:300])

    def remember_written(self, path: Value, content: Value) -> None:
        """Remembers for which functions' parameters what was fetched is written to the file that they name."""
        for address in content.details(Source.NETWORK):
            self._remember_sink("fetched", address, path)

    def repeat_sink(self, kind: str, detail: str, value: Value, at: int) -> None:
        """A value that ends up where a parameter does."""
        if kind == "code":
            self.run_code(value, at)
        elif kind == "command":
            HANDLERS["child_process.exec"](Call(self, Value(path="child_process.exec"), [value], at))
        elif kind.startswith("send:"):
            self.send([value], detail, Channel(kind.partition(":")[2]), at)
        elif kind == "write":
            self.write_file(detail, value)
        elif kind == "fetched" and value.text is not None:
            self.write_file(plain_path(value.text), Value(origins=frozenset([Origin(Source.NETWORK, detail)])))

    def notice_tool(self, fields: Mapping[str, Value], at: int) -> None:
        """The description of a tool is an instruction to agents; from a server, it is another one every day."""
        if "inputSchema" in fields and "description" in fields and fields["description"].comes_from(Source.NETWORK):
            self.see(checks.REMOTE_TOOL_TEXT, at)


def _is_secret(value: Value) -> bool:
    """Whether a value is the path of a secret, in full or below a home."""
    return bool(value.text) and (secret_at(value.text or "") or secret_at(f"~/{value.text}")) is not None


def _longer(path: str, more: str) -> str:
    """A path that goes on, or nothing where there is none or it becomes too long to be one."""
    return path + more if path and len(path) < LONGEST_PATH else ""


def _makes_functions(base: Value) -> bool:
    """Whether the constructor of a value is the one of functions."""
    return base.function is not None or base.path in HANDLERS or base.name == "constructor" or _is_method(base)


def _is_method(value: Value) -> bool:
    """Whether a value is what lists or texts can do; the one member of it that anybody asks for is what makes functions."""
    return bool(value.name) and value.base is not None and (value.base.items is not None or value.base.text is not None)


def _is_given(code: Value) -> bool:
    """Whether what was decoded stands in the skill: in the program or in a file beside it."""
    return code.comes_from(Source.FILE) or not any(
        origin.source in {Source.ARGUMENT, Source.VARIABLE, Source.NETWORK} for origin in code.origins
    )


def _is_relative(address: str) -> bool:
    return address.startswith(("/", "./", "../", "#", "?"))
