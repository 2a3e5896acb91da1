"""The harness itself: the registry publishes the whole way, programs are the pinned ones, and there is no other network."""

from __future__ import annotations

import socket

import pytest

from tests.clients.programs import Machine, npm_program
from tests.clients.registry import HOST_PREFIX, LiveRegistry

pytestmark = pytest.mark.clients
PROGRAMS = [("skills", "1.5.18", 20), ("skills", "1.7.4", 22), ("clawhub", "0.20.0", 20), ("clawhub", "0.23.3", 22)]


async def test_registry_publishes_versions__with_a_worker_of_its_own(registry: LiveRegistry) -> None:
    first = await registry.publish("acme/tools/greeting")
    second = await registry.publish("acme/tools/greeting", version="2.0.0")
    assert (first.slug, first.version, second.version) == (f"{HOST_PREFIX}acme/tools/greeting", "1.0.0", "2.0.0")
    shown = (await registry.http.get(f"/api/v1/skills/{first.slug}")).json()
    assert (shown["version"], registry.wire.lines) == ("2.0.0", [f"GET /api/v1/skills/{first.slug}"])


async def test_registry_spoils_one_byte__when_it_is_asked_to(registry: LiveRegistry) -> None:
    skill = await registry.publish("acme/tools/greeting")
    archive = f"/api/v1/skills/{skill.slug}/versions/1.0.0/archive.zip"
    whole = (await registry.http.get(archive)).content
    with registry.wire.spoiling("archive.zip"):
        spoiled = (await registry.http.get(archive)).content
    assert sum(one != other for one, other in zip(whole, spoiled, strict=True)) == 1


@pytest.mark.parametrize(("name", "version", "node"), PROGRAMS)
async def test_program_is_the_pinned_one__on_its_own_node(machine: Machine, name: str, version: str, node: int) -> None:
    program = npm_program(name, version, node=node)
    flag = "--cli-version" if name == "clawhub" else "--version"
    ran = await machine.run([*program, flag])
    assert (ran.code, version in ran.text) == (0, True), ran.text
    assert (await machine.run([program[0], "--version"])).output.startswith(f"v{node}.")


def test_machine_has_no_way_out__in_a_network_of_its_own() -> None:
    if {name for _, name in socket.if_nameindex()} != {"lo"}:
        pytest.skip("this machine does not allow a network of one's own")
    with pytest.raises(OSError, match="unreachable"):
        socket.create_connection(("192.0.2.1", 80), timeout=5)
