"""The table of commands of other makes' clients: its rows, the tests that prove them, and what came of these tests.

`commands.toml` has the rows. A test says by `@proves` which rows it proves, and is found by reading the test files, so that
the table can be held true where the clients themselves are not installed. What passed is in `results/`, one file a client,
written by `recording.py` when `make test-clients` runs.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(__file__).parent
ROWS = FOLDER / "commands.toml"
RESULTS = FOLDER / "results"
PASSED = "passed"
MARK = "proves"


class RowKey(NamedTuple):
    """Which client, with its version, and which of its commands."""

    client: str
    command: str


class Row(NamedTuple):
    """One command of one client."""

    key: RowKey
    does: str
    requests: tuple[str, ...]
    broken: str = ""


Outcomes = Mapping[RowKey, Mapping[str, str]]
"""What came of each test that proves a row."""


def proves(client: str, command: str) -> pytest.MarkDecorator:
    """Mark a test as one that runs this command of this client. Both must be written out; the table is read from the text."""
    key = RowKey(client, command)
    assert key in read_rows(), f"tests/clients/commands.toml has no row for {client!r} {command!r}"
    return pytest.mark.proves(client, command)


@cache
def read_rows(path: Path = ROWS) -> Mapping[RowKey, Row]:
    """Every row, in the order of the file."""
    clients = tomllib.loads(path.read_text())
    rows = (
        _row(RowKey(client, command), said)
        for client, commands in clients.items()
        for command, said in commands.items()
    )
    return {row.key: row for row in rows}


def _row(key: RowKey, said: Mapping[str, object]) -> Row:
    unknown = set(said) - {"does", "requests", "broken"}
    assert not unknown, f"{key}: {unknown} means nothing in commands.toml"
    requests = said["requests"]
    assert isinstance(requests, list)
    return Row(key, does=str(said["does"]), requests=tuple(requests), broken=str(said.get("broken", "")))


def read_proofs(folder: Path = FOLDER) -> Mapping[RowKey, frozenset[str]]:
    """The names of the tests that prove each row, as the files in this folder and below say."""
    found: dict[RowKey, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("test_*.py")):
        for key, test in _proofs_of(ast.parse(path.read_text())):
            found[key].add(f"{path.stem}::{test}")
    return {key: frozenset(tests) for key, tests in found.items()}


def _proofs_of(module: ast.Module) -> Iterator[tuple[RowKey, str]]:
    for function in ast.walk(module):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for decorator in function.decorator_list:
            match decorator:
                case ast.Call(func=ast.Name(id="proves"), args=[ast.Constant(str(client)), ast.Constant(str(command))]):
                    yield RowKey(client, command), function.name


def read_outcomes(folder: Path = RESULTS) -> Outcomes:
    """What came of each test when it last ran as a proof."""
    return {
        RowKey(said["client"], command): tests
        for said in (json.loads(path.read_text()) for path in sorted(folder.glob("*.json")))
        for command, tests in said["commands"].items()
    }


def write_outcomes(outcomes: Outcomes, *, folder: Path = RESULTS) -> None:
    """Add these outcomes to those that are kept. What no test proves any more is forgotten."""
    proofs = read_proofs()
    kept = {key: dict(tests) for key, tests in read_outcomes(folder).items()}
    for key, tests in outcomes.items():
        kept.setdefault(key, {}).update(tests)
    by_client: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for key in sorted(kept):
        still = {test: kept[key][test] for test in sorted(kept[key]) if test in proofs.get(key, ())}
        if still:
            by_client[key.client][key.command] = still
    folder.mkdir(exist_ok=True)
    for client, commands in by_client.items():
        said = json.dumps({"client": client, "commands": commands}, indent=2, ensure_ascii=False)
        (folder / f"{client.replace(' ', '-').replace('/', '-')}.json").write_text(said + "\n")


def find_faults(
    rows: Mapping[RowKey, Row], *, proofs: Mapping[RowKey, frozenset[str]], outcomes: Outcomes
) -> list[str]:
    """What is not as it should be between rows, tests and what came of them, a sentence each."""
    faults = [f"{' '.join(key)}: the row has no test" for key in rows if not proofs.get(key)]
    faults += [
        f"{' '.join(key)}: {', '.join(sorted(proofs[key]))} prove a row that is not there"
        for key in proofs.keys() - rows
    ]
    for key in rows.keys() & proofs:
        if not rows[key].broken:
            said = outcomes.get(key, {})
            faults += [
                f"{' '.join(key)}: {test} {said.get(test, 'has not run')}; run `make test-clients`"
                for test in sorted(proofs[key])
                if said.get(test) != PASSED
            ]
    return sorted(faults)
