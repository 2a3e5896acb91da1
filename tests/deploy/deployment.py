"""What the files under deploy/ and the operator's page say, read for the tests that hold it against the code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "howto" / "operate.md"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
DOCUMENTS = [*FILES, PAGE]
UNITS = sorted(DEPLOY.glob("systemd/*.service"))
COMPOSE = DEPLOY / "docker" / "compose.yaml"
DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
MANIFEST = DEPLOY / "kubernetes" / "vskill-platform.yaml"
SITE = DEPLOY / "nginx" / "vskill-platform.conf"
UPSTREAM = DEPLOY / "nginx" / "upstream.conf"
COMPOSE_UPSTREAM = DEPLOY / "docker" / "upstream.conf"
DASHBOARD = DEPLOY / "grafana" / "dashboard.json"
ALERTS = DEPLOY / "prometheus" / "alerts.yml"
SCRAPES = DEPLOY / "prometheus" / "prometheus.yml"
INSTANCES = ("1", "2")
"""The instances of template units that the documents tell people to start."""


class Process(NamedTuple):
    """A process of the registry as a file starts it: its command, its settings, how long it is given to stop."""

    place: str
    command: list[str]
    settings: dict[str, str]
    stop_s: float


def processes() -> list[Process]:
    """Every process that any file starts."""
    return [*systemd_processes(), *compose_processes(), *kubernetes_processes()]


def unit_values(unit: Path) -> dict[str, list[str]]:
    """The directives of a unit, in order; systemd allows a name to come again, which ini readers do not."""
    values: dict[str, list[str]] = {}
    for line in unit.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            values.setdefault(name, []).append(value)
    return values


def systemd_processes() -> Iterator[Process]:
    """Each unit, template units as the instances that people start."""
    for unit in UNITS:
        for instance in INSTANCES if unit.stem.endswith("@") else ("",):
            values = unit_values(unit)
            settings = dict(line.replace("%i", instance).split("=", 1) for line in values["Environment"])
            command = values["ExecStart"][0].split()[1:]
            yield Process(f"{unit.stem}{instance}", command, settings, float(values["TimeoutStopSec"][0]))


def compose_file() -> dict[str, Any]:
    """The compose file with what .env would bring in."""
    text = re.sub(r"\$\{(\w+):\?[^}]*\}", r"given-\1", COMPOSE.read_text())
    return dict(yaml.safe_load(re.sub(r"\$\{\w+:-\}", '""', text)))


def compose_processes() -> Iterator[Process]:
    """Each container of ours, as often as it is started."""
    for name, service in compose_file()["services"].items():
        if service["image"] != "vskill-platform":
            continue
        settings = image_settings() | service["environment"]
        for _ in range(service.get("deploy", {}).get("replicas", 1)):
            yield Process(name, service["command"], settings, float(service["stop_grace_period"].removesuffix("s")))


def manifests(kind: str) -> list[dict[str, Any]]:
    """The objects of a kind in the Kubernetes manifest."""
    return [found for found in yaml.safe_load_all(MANIFEST.read_text()) if found["kind"] == kind]


def kubernetes_processes() -> Iterator[Process]:
    """Each Deployment's container, with the time that preStop leaves it."""
    [shared] = manifests("ConfigMap")
    for found in manifests("Deployment"):
        pod = found["spec"]["template"]["spec"]
        [container] = pod["containers"]
        waits = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
        stop_s = pod["terminationGracePeriodSeconds"] - float(waits[1])
        yield Process(found["metadata"]["name"], container["args"], image_settings() | shared["data"], stop_s)


def dockerfile_instructions() -> list[tuple[str, str]]:
    """Each instruction and what follows it, with continued lines joined."""
    lines = [line for line in DOCKERFILE.read_text().splitlines() if line and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined.splitlines()]


def image_settings() -> dict[str, str]:
    """The settings that the image brings along."""
    [given] = [rest for name, rest in dockerfile_instructions() if name == "ENV"]
    return {name: value for name, value in re.findall(r"(\S+?)=(\S+)", given) if name.startswith("VSKILL_PLATFORM_")}


def page_code() -> list[str]:
    """Every line of code on the operator's page: of its blocks, and between backticks."""
    lines: list[str] = []
    for token in MarkdownIt().enable("table").parse(PAGE.read_text()):
        if token.type == "fence":
            lines += token.content.splitlines()
        lines += [child.content for child in token.children or () if child.type == "code_inline"]
    return lines


def expressions() -> list[tuple[str, str]]:
    """Every PromQL expression, with where it stands and the labels that its legend shows appended."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    shown = [
        (f"panel {panel['title']}", f"{target['expr']} {target['legendFormat']}")
        for panel in panels
        for target in panel.get("targets", ())
    ]
    rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    return [*shown, *((f"alert {rule['alert']}", f"{rule['expr']} {rule['annotations']['summary']}") for rule in rules)]
