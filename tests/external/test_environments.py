"""Environments of scanners: whole or not there."""

from __future__ import annotations

import fcntl
import re
from pathlib import Path

import msgspec
import pytest

from tests.acceptance.commands import run
from vskill_platform.domain.errors import ScannerNotInstalled
from vskill_platform.scanning.external import PROVIDERS
from vskill_platform.scanning.external.environments import REQUIREMENTS, Environment, environment_of
from vskill_platform.scanning.external.installing import install


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return environment_of("bandit", folder=str(tmp_path / "scanners"), data="")


def make_whole(environment: Environment, *, python: str | None = None) -> None:
    wanted = environment.wanted()
    stamp = wanted if python is None else msgspec.structs.replace(wanted, python=python)
    environment.folder.mkdir(parents=True)
    environment.stamp.write_bytes(msgspec.json.encode(stamp))


def test_environment_is_below_the_data_folder__when_the_operator_names_none() -> None:
    assert environment_of("bandit", folder="", data="/srv/data").folder == Path("/srv/data/scanners/bandit")


def test_environment_counts__when_its_stamp_is_of_today(environment: Environment) -> None:
    make_whole(environment)
    assert environment.missing_because() == ""


def test_environment_does_not_count__when_its_stamp_is_missing_broken_or_old(environment: Environment) -> None:
    assert "is not installed" in environment.missing_because()
    make_whole(environment, python="3.9")
    assert "is from before an upgrade" in environment.missing_because()
    environment.stamp.write_bytes(b'{"requirements"')
    assert "cannot be read" in environment.missing_because()
    assert "vskill-platform scanners install bandit" in environment.missing_because()


def test_installation_that_fails_leaves_nothing_that_counts(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_whole(environment)
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_NO_CACHE", "1")
    monkeypatch.setenv("UV_FIND_LINKS", "")
    monkeypatch.setenv("UV_OFFLINE", "1")
    told: list[str] = []
    with pytest.raises(ScannerNotInstalled, match="bandit could not be installed: uv ended with status"):
        install(environment, tell=told.append)
    assert any("Creating" in line for line in told)
    assert "is not installed" in environment.missing_because()


def test_installation_is_refused__while_another_runs(environment: Environment) -> None:
    environment.folder.parent.mkdir(parents=True)
    with environment.folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ScannerNotInstalled, match="is being installed by another command"):
            install(environment, tell=lambda line: None)


@pytest.mark.parametrize("name", PROVIDERS)
def test_requirements_are_pinned_and_hashed__and_name_no_address(name: str) -> None:
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    pins = re.findall(r"^[a-z0-9][^\s=]*==[^\s]+.*\\$", text, re.MULTILINE)
    assert len(pins) == len(re.findall(r"^[a-zA-Z0-9]", text, re.MULTILINE)) > 0
    assert text.count("--hash=sha256:") >= len(pins)
    assert "://" not in text
    assert Environment(name, Path("/x")).pinned_version()


def test_commands_tell_of_every_scanner__and_refuse_one_that_there_is_not(tmp_path: Path) -> None:
    given = {"VSKILL_PLATFORM_DATA": str(tmp_path), "VSKILL_PLATFORM_EXTERNAL_SCANNERS": "bandit"}
    listed = run("scanners", "list", "--json", **given)
    assert listed.returncode == 0
    assert all(f'"name": "{name}"' in listed.stdout for name in PROVIDERS)
    assert listed.stdout.count('"isOn": true') == 1
    refused = run("scanners", "install", "nothing", **given)
    assert refused.returncode == 1
    assert "There is no scanner nothing" in refused.stderr
    unready = run("scanners", "check", "semgrep", **given)
    assert unready.returncode == 1
    assert "semgrep is not installed" in unready.stdout


def test_check_shows_what_a_scanner_finds_in_the_sample(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / ".venv" / "scanners"
    done = run("scanners", "check", "bandit", "--data", str(tmp_path), VSKILL_PLATFORM_SCANNERS_FOLDER=str(folder))
    assert done.returncode == 0, done.stderr
    assert "well bandit" in done.stdout
    assert "high scripts/get.py:4 bandit/B602" in done.stdout
