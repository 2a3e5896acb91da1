"""Deployment files agree with one another and with what the software does: ports, addresses, grace times, rights."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from litestar.handlers import HTTPRouteHandler

from tests.deploy import deployment
from tests.deploy.deployment import COMPOSE_UPSTREAM, SITE, UNITS, UPSTREAM, Process
from vskill_platform.settings import Settings, health_place, load_settings
from vskill_platform.web.api.routes import API_ROUTES
from vskill_platform.web.application import MAX_BODY_BYTES
from vskill_platform.web.clients.clawhub.uploads import MAX_UPLOAD_BYTES
from vskill_platform.web.clients.git_http import UPLOAD_PACK, GitLimits
from vskill_platform.worker.loop import CANCEL_WAIT_S

MOST_EXPOSED = 25
"""systemd's own mark for how much a unit may reach, in tenths: 0 is nothing, 100 everything."""


def servers(upstream: Path) -> list[str]:
    return re.findall(r"server (\S+) ", upstream.read_text())


@pytest.mark.parametrize("process", deployment.processes(), ids=lambda process: process.place)
def test_process_is_given_longer_to_stop_than_it_drains(process: Process) -> None:
    settings = load_settings(process.settings)
    assert process.stop_s >= settings.drain_grace_s + CANCEL_WAIT_S + settings.database_statement_limit_s


def test_nginx_passes_on_to_the_ports_of_the_web_units() -> None:
    webs = [process for process in deployment.systemd_processes() if process.command == ["web"]]
    assert servers(UPSTREAM) == [f"{Settings().host}:{load_settings(web.settings).port}" for web in webs]


def test_nginx_passes_on_to_the_addresses_that_compose_gives() -> None:
    composed, port = deployment.compose_file(), deployment.image_settings()["VSKILL_PLATFORM_PORT"]
    services = composed["services"]
    fronts = [
        service["networks"]["front"]["ipv4_address"] for name, service in services.items() if name.startswith("web")
    ]
    assert servers(COMPOSE_UPSTREAM) == [f"{address}:{port}" for address in fronts]
    assert _directives(COMPOSE_UPSTREAM) == _directives(UPSTREAM)
    trusted = {process.settings["VSKILL_PLATFORM_TRUSTED_PROXIES"] for process in deployment.compose_processes()}
    assert trusted == {services["nginx"]["networks"]["front"]["ipv4_address"]}


def _directives(upstream: Path) -> list[str]:
    """What is said of the servers, without comments and addresses."""
    lines = [line for line in upstream.read_text().splitlines() if not line.startswith("#")]
    return [re.sub(r"server \S+", "server", line) for line in lines]


def test_compose_starts_two_webs_two_workers_and_a_cron__on_postgresql() -> None:
    started = sorted(process.command[0] for process in deployment.compose_processes())
    assert started == ["cron", "web", "web", "worker", "worker"]
    for process in deployment.compose_processes():
        assert "@postgres/vskill" in process.settings["VSKILL_PLATFORM_DATABASE_URL"]


def test_compose_names_only_networks_volumes_and_services_that_it_has() -> None:
    composed = deployment.compose_file()
    for service in composed["services"].values():
        assert set(service["networks"]) <= set(composed["networks"])
        assert set(service.get("depends_on", ())) <= set(composed["services"])
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            here = (deployment.COMPOSE.parent / source).exists()
            assert source in composed["volumes"] or here or source == "given-TLS_FOLDER", source
        assert service["image"] == "vskill-platform" or "healthcheck" in service


def test_example_env_has_what_compose_asks_for() -> None:
    asked = set(re.findall(r"\$\{(\w+):", deployment.COMPOSE.read_text()))
    given = re.findall(r"^(\w+)=", (deployment.DEPLOY / "docker" / "example.env").read_text(), re.MULTILINE)
    assert asked == set(given)


def test_prometheus_asks_the_health_ports_of_the_units() -> None:
    [scrape] = yaml.safe_load(deployment.SCRAPES.read_text())["scrape_configs"]
    asked = {(found["labels"]["role"], target) for found in scrape["static_configs"] for target in found["targets"]}
    told = set()
    for process in deployment.systemd_processes():
        place = health_place(load_settings(process.settings))
        assert place is not None
        told.add((process.command[0], f"{place[0]}:{place[1]}"))
    assert asked == {pair for pair in told if pair[0] != "up"}
    assert scrape["job_name"] == "vskill-platform"


def test_units_of_one_machine_take_ports_of_their_own() -> None:
    taken = [
        value
        for process in deployment.systemd_processes()
        for name, value in process.settings.items()
        if "DATA" not in name
    ]
    assert len(set(taken)) == len(taken)


def test_site_takes_what_the_registry_takes__and_knows_the_paths_of_git() -> None:
    [site, git, pushed] = [_bytes(size) for size in re.findall(r"client_max_body_size (\w+);", SITE.read_text())]
    asked = [route.request_max_body_size for route in API_ROUTES if isinstance(route, HTTPRouteHandler)]
    assert site >= max([MAX_BODY_BYTES, *(size for size in asked if isinstance(size, int))])
    assert git == GitLimits().body_bytes
    assert pushed >= MAX_UPLOAD_BYTES
    [paths, wait_s] = re.findall(
        r"location ~ /\((info/refs\S*)\)\$ \{.*?proxy_read_timeout (\d+)s;", SITE.read_text(), re.DOTALL
    )[0]
    assert set(paths.split("|")) == {"info/refs", UPLOAD_PACK}
    assert float(wait_s) >= GitLimits().answer_s


def _bytes(size: str) -> int:
    return int(size[:-1]) * {"k": 1024, "m": 1024**2}[size[-1]]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_unit_runs_as_a_user_of_its_own_and_restarts(unit: Path) -> None:
    values = {name: found[-1] for name, found in deployment.unit_values(unit).items()}
    assert (values["User"], values["Restart"], values["KillMode"]) == ("vskill", "always", "mixed")
    assert values["EnvironmentFile"].lstrip("-") == "/etc/vskill-platform.env"
    assert values["ExecStart"].startswith("/opt/vskill-platform/bin/vskill-platform ")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_unit_is_one_that_systemd_reads__and_reaches_little(unit: Path, tmp_path: Path) -> None:
    adapted = tmp_path / unit.name
    adapted.write_text(unit.read_text().replace("/opt/vskill-platform/bin/vskill-platform", "/bin/true"))
    read = _run("systemd-analyze", "verify", "--recursive-errors=no", str(adapted))
    assert (read.returncode, read.stderr) == (0, "")
    weighed = _run("systemd-analyze", "security", "--offline=true", f"--threshold={MOST_EXPOSED}", str(adapted))
    assert weighed.returncode == 0, weighed.stdout


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_rules_are_ones_that_prometheus_reads() -> None:
    assert _run("promtool", "check", "config", str(deployment.SCRAPES)).returncode == 0


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_manifest_holds_together__and_runs_nothing_as_root() -> None:
    secrets = set()
    for found in deployment.manifests("Deployment"):
        pod = found["spec"]["template"]["spec"]
        [container] = pod["containers"]
        labels = found["spec"]["template"]["metadata"]["labels"]
        assert found["spec"]["selector"]["matchLabels"] == labels == found["metadata"]["labels"]
        assert labels["role"] == container["args"][0]
        assert pod["enableServiceLinks"] is False, "Kubernetes would add variables that are no settings"
        assert pod["securityContext"]["runAsNonRoot"] is container["securityContext"]["readOnlyRootFilesystem"] is True
        assert str(pod["securityContext"]["runAsUser"]) == _image_user()
        assert set(container["resources"]) == {"requests", "limits"}
        assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
        _check_ports(container)
        secrets |= {source["secretRef"]["name"] for source in container["envFrom"] if "secretRef" in source}
    assert secrets == {"vskill-platform"}
    assert f"secret generic {secrets.pop()} " in deployment.MANIFEST.read_text()


def _check_ports(container: dict[str, Any]) -> None:
    settings = load_settings(deployment.image_settings())
    place = health_place(settings)
    assert place is not None
    known = {"http": settings.port, "health": place[1]}
    named = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert named == {name: known[name] for name in named}
    assert "health" in named


def _image_user() -> str:
    return [rest for name, rest in deployment.dockerfile_instructions() if name == "USER"][-1].split(":")[0]


def test_manifest_selects_pods_that_it_makes() -> None:
    made = [found["metadata"]["labels"] for found in deployment.manifests("Deployment")]
    [service] = deployment.manifests("Service")
    assert service["spec"]["selector"] in made
    assert [port["targetPort"] for port in service["spec"]["ports"]] == ["http"]
    budgets = deployment.manifests("PodDisruptionBudget")
    assert {budget["spec"]["selector"]["matchLabels"]["role"] for budget in budgets} == {"web", "worker"}
    for budget in budgets:
        [pods] = [
            found
            for found in deployment.manifests("Deployment")
            if found["metadata"]["labels"] == budget["spec"]["selector"]["matchLabels"]
        ]
        assert budget["spec"]["minAvailable"] < pods["spec"]["replicas"], "nothing could ever be moved"


def test_dashboard_shows_every_panel_once__from_the_chosen_source() -> None:
    dashboard = json.loads(deployment.DASHBOARD.read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert {panel["datasource"]["uid"] for panel in panels} == {"${" + dashboard["templating"]["list"][0]["name"] + "}"}
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in dashboard["panels"]]
    assert len(set(places)) == len(places)
