"""Writes the page of clients: command by command what was run against the registry, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from tests.clients.table import PASSED, Outcomes, Row, RowKey, read_outcomes, read_proofs, read_rows

LEAD = (
    "Every command of each client that touches a registry, run as the real program in the named version against this server, "
    "on loopback. `make test-clients` runs them and notes what passed. The original's own CLI is in no package registry; its "
    "calls are tested one by one for their documented shapes."
)
HEAD = "| command | what was run | requests | result |\n|---|---|---|---|"


def current_clients_page() -> str:
    """The page, of rows, tests and results as they are now."""
    return clients_page(read_rows(), proofs=read_proofs(), outcomes=read_outcomes())


def clients_page(rows: Mapping[RowKey, Row], *, proofs: Mapping[RowKey, frozenset[str]], outcomes: Outcomes) -> str:
    """The page of these rows."""
    results = {
        key: _result(row, tests=proofs.get(key, frozenset()), said=outcomes.get(key, {})) for key, row in rows.items()
    }
    passing = sum(result.startswith("passes") for result in results.values())
    parts = [f"# Clients\n\n{LEAD}\n\n{passing} of {len(rows)} commands pass.\n"]
    for client, of_client in groupby(rows.values(), key=lambda row: row.key.client):
        table = [f"| `{row.key.command}` | {row.does} | {_requests(row)} | {results[row.key]} |" for row in of_client]
        parts.append(f"## {client}\n\n{HEAD}\n" + "\n".join(table) + "\n")
    return "\n".join(parts)


def _requests(row: Row) -> str:
    return "<br>".join(f"`{request}`" for request in row.requests) or "none"


def _result(row: Row, *, tests: frozenset[str], said: Mapping[str, str]) -> str:
    if row.broken:
        return f"does not work: {row.broken}"
    if not tests or any(test not in said for test in tests):
        return "not tried"
    failing = sorted(test for test in tests if said[test] != PASSED)
    return f"fails: {', '.join(failing)}" if failing else f"passes ({len(tests)} test{'s' if len(tests) > 1 else ''})"
