"""What deployment files and the operator's page name exists: settings, commands, options, metrics, labels, paths, files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
import yaml
from click import Context

from tests.deploy import deployment
from tests.deploy.deployment import DOCUMENTS, ROOT, Process
from vskill_platform.cli.main import app
from vskill_platform.domain.errors import error_tree
from vskill_platform.domain.submission import SubmissionState
from vskill_platform.metrics import describe_metrics
from vskill_platform.settings import PREFIX, Settings, health_place, load_settings
from vskill_platform.web.health import healthz
from vskill_platform.web.metrics import show_metrics
from vskill_platform.web.process_health import show_alive, show_ready

SETTINGS = {PREFIX + name.upper() for name in Settings.__struct_fields__}
METRICS = {sample: metric for metric in describe_metrics() for sample in (metric.name, *metric.samples)}
HEALTH_PATHS = show_alive.paths | show_ready.paths | show_metrics.paths
ADDED_BY_PROMETHEUS = {"job", "instance", "le", "role"}
"""Labels that come with the scrape, as prometheus.yml sets them, or with a histogram's buckets."""
LABEL_VALUES = {
    ("vskill_queue_messages", "state"): {"waiting", "delayed", "leased", "dead"},
    ("vskill_submissions", "state"): {state.value for state in SubmissionState},
    ("vskill_cron_runs_total", "task"): {"sweep", "purge", "collect"},
}
PROCESSES = deployment.processes()


def commands() -> dict[str, set[str]]:
    """Every command of the program with its options."""
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    context = Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: {word for part in one.params for word in part.opts} for name, one in found.items() if one}


def ids(document: object) -> str:
    return str(document.relative_to(ROOT)) if isinstance(document, Path) else str(document)


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids)
def test_document_names_only_settings_that_exist(document: Path) -> None:
    assert set(re.findall(rf"{PREFIX}[A-Z0-9_]*[A-Z0-9]", document.read_text())) <= SETTINGS


@pytest.mark.parametrize("document", DOCUMENTS, ids=ids)
def test_document_names_only_files_of_the_repository_that_exist(document: Path) -> None:
    named = re.findall(r"(?<![\w/.])(?:deploy|docs|requirements|scripts|src|tests)/[\w./@-]*\w", document.read_text())
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.place)
def test_process_is_started_with_settings_that_it_takes(process: Process) -> None:
    settings = load_settings(process.settings)
    assert settings.data == "/var/lib/vskill-platform"
    assert health_place(settings) is not None
    assert process.command[0] in {"up", "web", "worker", "cron"}
    assert set(process.command[1:]) <= commands()[process.command[0]]


def test_page_names_only_commands_and_options_that_exist() -> None:
    known, seen = commands(), 0
    for line in deployment.page_code():
        for name, rest in re.findall(
            r"(?<![\w@/-])(?:/opt/vskill-platform/bin/)?vskill-platform ([a-z][a-z-]+)([^|;&#]*)", line
        ):
            seen += 1
            options = set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest))
            assert name in known, line
            assert options <= known[name], line
    assert seen >= 10


def test_page_names_only_errors_that_exist() -> None:
    section = deployment.PAGE.read_text().partition("## By error code")[2]
    named = re.findall(r"^\| ((?:`[a-z_]+`(?:, )?)+) \|", section, re.MULTILINE)
    codes = {code for cell in named for code in re.findall(r"`([a-z_]+)`", cell)}
    assert len(codes) >= 10
    assert codes <= {error.code for error in error_tree()}


def test_page_names_only_benchmarks_that_exist() -> None:
    named = re.findall(r"ONLY=(\w+)", deployment.PAGE.read_text())
    assert named
    assert [name for name in named if not (ROOT / "benchmarks" / f"{name}.py").exists()] == []


def test_page_names_only_metrics_that_exist__and_only_alerts_that_are_raised() -> None:
    text = deployment.PAGE.read_text()
    alerts = {
        rule["alert"] for group in yaml.safe_load(deployment.ALERTS.read_text())["groups"] for rule in group["rules"]
    }
    assert set(re.findall(r"\bvskill_[a-z_]+", text)) <= set(METRICS)
    assert set(re.findall(r"`(Vskill[A-Za-z]+)`", text)) == alerts


@pytest.mark.parametrize(("place", "expression"), deployment.expressions())
def test_expression_names_only_metrics_and_labels_that_exist(place: str, expression: str) -> None:
    used = [METRICS.get(name) for name in re.findall(r"\bvskill_[a-z_]+", expression)]
    assert None not in used, place
    labels = {label for metric in used if metric for label in metric.labels} | ADDED_BY_PROMETHEUS
    grouped = [label for list_ in re.findall(r"by \(([^)]*)\)", expression) for label in re.findall(r"\w+", list_)]
    matched = [
        label for braces in re.findall(r"\w\{([^}]*)\}", expression) for label in re.findall(r"(\w+)\s*[=!]", braces)
    ]
    shown = re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", expression)
    assert {*grouped, *matched, *shown} <= labels, place


def test_expression_asks_only_for_values_that_a_label_can_have() -> None:
    asked = [
        (metric, label, value)
        for _, expression in deployment.expressions()
        for metric, braces in re.findall(r"(vskill_\w+)\{([^}]*)\}", expression)
        for label, value in re.findall(r'(\w+)!?="([^"]*)"', braces)
    ]
    judged = [(LABEL_VALUES[metric, label], value) for metric, label, value in asked if (metric, label) in LABEL_VALUES]
    assert len(judged) >= 5
    assert [value for values, value in judged if value not in values] == []


def test_probes_ask_for_paths_that_are_served() -> None:
    asked = {
        container[probe]["httpGet"]["path"]
        for found in deployment.manifests("Deployment")
        for container in found["spec"]["template"]["spec"]["containers"]
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
    }
    asked |= set(re.findall(r"127\.0\.0\.1:\d+(/[a-z]+)", deployment.DOCKERFILE.read_text()))
    asked |= {
        path
        for line in deployment.page_code()
        for path in re.findall(r"(?:127\.0\.0\.1:\d+|^)(/[a-z]+z|/metrics)\b", line)
    }
    assert asked == {"/healthz", "/readyz", "/metrics"} == HEALTH_PATHS
    assert healthz.paths == {f"/{name}" for name in _named_in_site(r"location ~ \^/\(([a-z|]+)\)\$")[0].split("|")}


def _named_in_site(pattern: str) -> list[str]:
    return re.findall(pattern, deployment.SITE.read_text())


def test_metrics_have_no_label__that_prometheus_has_itself() -> None:
    assert not {label for metric in METRICS.values() for label in metric.labels} & {"job", "instance"}
