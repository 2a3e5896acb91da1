"""Writes docs/reference/ from the code. `make docs` runs it; a test fails where a page is not what it would write."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import typer
from click import Context, Parameter
from msgspec import Meta

from tools.client_reference import current_clients_page
from tools.rule_reference import TABLE_HEAD, rule_rows, rule_sections
from vskill_platform.cli.main import app
from vskill_platform.domain.errors import error_tree
from vskill_platform.domain.recovery import STUCK_STATES, STUCK_THRESHOLD_MS
from vskill_platform.domain.submission import CATEGORY_OF, TRANSITIONS, SubmissionState
from vskill_platform.metrics import FACTS, describe_metrics
from vskill_platform.scanning.tier1.rules import load_ruleset
from vskill_platform.settings import PREFIX, Settings

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "This page is written by `make docs` from the code. Change the code, not the page."
CLIENTS_NOTE = (
    "This page is written by `make docs` from `tests/clients/commands.toml` and what `make test-clients` noted."
)


def errors_page() -> str:
    """Every error: code, whether trying again helps, what it means."""
    rows = [
        f"| `{error.code}` | {'yes' if error.retryable else 'no'} | {_first_line(error.__doc__)} |"
        for error in error_tree()
    ]
    return _page(
        "Errors",
        "Every error has a stable code: the same word in the API, on the command line and in the log. "
        "*Again* says whether the same call may succeed later without any change.",
        "| code | again | meaning |\n|---|---|---|",
        rows,
    )


def settings_page() -> str:
    """Every setting: name, default, range, meaning."""
    hints = get_type_hints(Settings, include_extras=True)
    defaults = dict(zip(Settings.__struct_fields__, Settings.__struct_defaults__, strict=True))
    rows = []
    for name, default in defaults.items():
        kind, meta = get_args(hints[name])
        assert isinstance(meta, Meta)
        rows.append(f"| `{PREFIX}{name.upper()}` | `{default}` | {_range(kind, meta)} | {meta.description} |")
    return _page(
        "Settings",
        "Settings are read from the environment once, when the process starts. A name or value that means nothing stops "
        "it with `invalid_settings`. Options on the command line take precedence.",
        "| setting | default | takes | meaning |\n|---|---|---|---|",
        rows,
    )


def metrics_page() -> str:
    """Every metric: name, kind, labels, meaning."""
    rows = [
        f"| `{metric.name}` | {metric.kind} | {', '.join(f'`{label}`' for label in metric.labels)} | {metric.help} |"
        for metric in describe_metrics()
    ]
    return _page(
        "Metrics",
        "For Prometheus, at `/metrics` on the address in `VSKILL_PLATFORM_HEALTH_ADDRESS`, which is off unless it is set and on "
        "loopback unless it names a host, and on the control socket. The public web server does not serve them: they would "
        "tell strangers how busy a registry is and what it is failing at.\n\nCounters and histograms are about one process: "
        "add them up. Facts about the store are read there for each answer, so every process tells the same ones: take "
        f"their `max`. They are {', '.join(f'`{fact.name}`' for fact in FACTS)}. Where the store cannot be read, "
        "`vskill_store_readable` is 0 and the others are missing, never zero. A histogram has `_bucket`, `_sum` and `_count` "
        "behind its name. The usual `process_*` metrics are there as well.",
        "| metric | kind | labels | meaning |\n|---|---|---|---|",
        rows,
    )


def states_page() -> str:
    """Every state and every step between them."""
    states = [
        f"| `{state}` | {CATEGORY_OF[state].value} | {'yes' if state in STUCK_STATES else 'no'} |"
        for state in SubmissionState
    ]
    steps = [
        f"| {f'`{row.source}`' if row.source else 'nothing'} | `{row.target}` | {row.trigger.value} | "
        f"{', '.join(sorted(actor.value for actor in row.actors))} |"
        for row in TRANSITIONS
    ]
    return _page(
        "States of a submission",
        "Every state is in exactly one category, so the categories sum to the total. A submission that stays in a state "
        f"that can be stuck for {STUCK_THRESHOLD_MS // 60000} minutes is looked at by the sweep.",
        "| state | category | can be stuck |\n|---|---|---|",
        [
            *states,
            "",
            "## Steps",
            "",
            "No step happens that is not in this table. Each one appends an entry to the submission's history.",
            "",
            "| from | to | trigger | who |\n|---|---|---|---|",
            *steps,
        ],
    )


def commands_page() -> str:
    """Every command, with its arguments and options."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    context = Context(group)
    rows = [row for name in group.list_commands(context) for row in _command_rows(group, name, before="")]
    lead = (
        "While a registry runs on SQLite, commands that concern it reach it over its control socket; otherwise, and always on "
        "PostgreSQL, they open its store themselves. Exit codes: 0 done, 1 something is wrong or was found, 2 wrong usage or "
        "unreadable input. `outdated`, `update` and `verify` also have 3, something is outdated or differs, and 4, something "
        "that is installed was blocked, yanked or withdrawn since."
    )
    return _page("Commands", lead, "`--help` says the same at the terminal.\n", rows)


def _command_rows(group: typer.core.TyperGroup, name: str, *, before: str) -> list[str]:
    """A command, or each of those that a group of them has."""
    command = group.get_command(Context(group), name)
    assert command is not None
    if isinstance(command, typer.core.TyperGroup):
        inner = command.list_commands(Context(command))
        return [row for one in inner for row in _command_rows(command, one, before=f"{before}{name} ")]
    arguments = " ".join(_argument(parameter) for parameter in command.params if not _is_option(parameter))
    rows = [f"## `vskill-platform {before}{name} {arguments}".rstrip() + "`", "", command.help or "", ""]
    described = [parameter for parameter in command.params if getattr(parameter, "help", None)]
    if described:
        rows += ["| | |", "|---|---|"]
        rows += [f"| `{_spelling(parameter)}` | {parameter.help} |" for parameter in described]
    return [*rows, ""]


def _is_option(parameter: Parameter) -> bool:
    return parameter.param_type_name == "option"


def _argument(parameter: Parameter) -> str:
    name = parameter.metavar or str(parameter.name).upper()
    name = f"{name}…" if parameter.nargs == -1 else name
    return name if parameter.required else f"[{name}]"


def _spelling(parameter: Parameter) -> str:
    return ", ".join(parameter.opts) if _is_option(parameter) else _argument(parameter).replace("|", "\\|")


def rules_page() -> str:
    """Every rule of tier 1."""
    rules = load_ruleset().rules.values()
    return _page(
        "Rules",
        f"The {len(rules)} rules of tier 1. `vskill-platform explain ID` tells the same of one rule, with all its examples and "
        "exceptions. *OWASP* is the number in the Agentic Skills Top 10. How to write rules of your own, and how to change how "
        "grave these are, is in [Rules of your own](../howto/write-rules.md).",
        TABLE_HEAD,
        [*rule_rows(rules), *rule_sections(rules)],
    )


def clients_page() -> str:
    """Every command of other makes' clients."""
    return f"{current_clients_page()}\n{CLIENTS_NOTE}\n"


PAGES = {
    "clients.md": clients_page,
    "commands.md": commands_page,
    "errors.md": errors_page,
    "metrics.md": metrics_page,
    "rules.md": rules_page,
    "settings.md": settings_page,
    "states.md": states_page,
}


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())
        print(f"docs/reference/{name}")


def _page(title: str, lead: str, head: str, rows: list[str]) -> str:
    return f"# {title}\n\n{lead}\n\n{head}\n" + "\n".join(rows) + f"\n\n{NOTE}\n"


def _first_line(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def _range(kind: object, meta: Meta) -> str:
    if get_origin(kind) is Literal:
        return ", ".join(f"`{word}`" for word in get_args(kind))
    if kind is str:
        return "text"
    if kind is bool:
        return "`true`, `false`"
    low = f"over {meta.gt:g}" if meta.gt is not None else f"{meta.ge or 0:,}"
    return f"from {low}" if meta.le is None else f"{low} to {meta.le:,g}"


if __name__ == "__main__":
    main()
