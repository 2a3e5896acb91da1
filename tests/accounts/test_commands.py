"""Accounts from the terminal: the link that a start prints, and `vskill-platform admin`."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from threading import Event

import httpx

from tests.acceptance.commands import LIMIT_S, run
from tests.acceptance.process_group import ProcessGroup, Running, process_group

PASSWORD = "grey otters swim upstream"


def printed_link(running: Running) -> str:
    """The link for the first administrator, which comes right after the line that says the registry is up."""
    waiting = Event()
    for _ in range(LIMIT_S * 20):
        found = re.search(r"Make one within the hour: (\S+)", "".join(running.lines))
        if found:
            return found[1]
        waiting.wait(0.05)
    raise AssertionError("".join(running.lines))


def admin(group: ProcessGroup, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return run("admin", *arguments, given=given, **group.environment)


def test_first_start_prints_a_link_and_the_operator_manages_accounts__at_the_terminal(tmp_path: Path) -> None:
    with process_group("", tmp_path / "data") as group:
        running = group.start("up")
        link = printed_link(running)
        assert link.startswith(running.address)
        form = {"token": link.partition("token=")[2], "name": "rita", "password": PASSWORD, "again": PASSWORD}
        assert httpx.post(f"{running.address}/setup", data=form, timeout=LIMIT_S).status_code == 303

        made = admin(group, "create", "bob", "--role", "REVIEWER", "--password-stdin", given=f"{PASSWORD}\n")
        assert made.returncode == 0, made.stderr
        assert PASSWORD not in made.stdout
        login = {"name": "bob", "password": PASSWORD}
        assert httpx.post(f"{running.address}/login", data=login, timeout=LIMIT_S).status_code == 303

        kept = admin(group, "disable", "rita")
        assert kept.returncode == 1
        assert "last_administrator" in kept.stderr

        assert PASSWORD not in "".join(running.lines)
