"""Hosts and places: told apart by what they are, in every spelling that a client or a shell would take."""

from __future__ import annotations

import pytest

from vskill_platform.scanning.tier1.code.hosts import UNKNOWN, HostKind, host_of, kind_of_address
from vskill_platform.scanning.tier1.code.places import (
    Lasting,
    SecretKind,
    is_home,
    is_log,
    is_system_root,
    lasting_at,
    plain_path,
    secret_at,
)

PIECE = f"{UNKNOWN}NAME{UNKNOWN}"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://Files.Example:443/a?b#c", "files.example"),
        ("files.example/a", "files.example"),
        ("https://user:pw@files.example/", "files.example"),
        ("https://github.com@files.example/", "files.example"),
        ("https://files.example./x", "files.example"),
        ("http://0x7f.1/", "127.0.0.1"),
        ("http://3325256711/", "198.51.100.7"),
        ("http://0306.063.0144.07/", "198.51.100.7"),
        ("http://[2001:db8::1]:80/", "2001:db8::1"),
        (f"https://{PIECE}.files.example/", "files.example"),
        (f"https://{PIECE}/x", ""),
        (f"https://{PIECE}.com/x", ""),
        ("", ""),
    ],
)
def test_host_is_the_one_that_a_client_would_reach(address: str, host: str) -> None:
    assert host_of(address) == host


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("http://localhost:8000", HostKind.LOCAL),
        ("http://10.1.2.3/", HostKind.LOCAL),
        ("http://db:5432", HostKind.LOCAL),
        ("http://nas.local/", HostKind.LOCAL),
        ("http://198.51.100.7/", HostKind.THROWAWAY),
        ("https://a.b.ngrok-free.app/", HostKind.THROWAWAY),
        ("https://gist.githubusercontent.com/a/b/raw", HostKind.THROWAWAY),
        ("https://notngrok-free.app/", HostKind.NAMED),
        ("https://astral.sh/uv/install.sh", HostKind.VENDOR),
        ("https://evil.astral.sh/x", HostKind.NAMED),
        ("https://github.com/a/b", HostKind.REPOSITORY),
        ("https://a.github.com/b", HostKind.NAMED),
        ("https://api.acme.example/", HostKind.NAMED),
        (f"https://{PIECE}/", HostKind.UNKNOWN),
    ],
)
def test_host_is_known_as_a_whole__and_by_nothing_in_its_name(address: str, kind: HostKind) -> None:
    assert kind_of_address(address) is kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("~/.ssh/id_rsa", SecretKind.KEY),
        ("$HOME/.ssh/../.ssh//id_ed25519", SecretKind.KEY),
        ("/home/ada/.aws/credentials", SecretKind.KEY),
        ("/Users/ada/Library/Keychains/login.keychain-db", SecretKind.KEY),
        ("~/Library/Application\\ Support/Google/Chrome/Default/Login\\ Data", SecretKind.KEY),
        ("~/.s?h/id_*", SecretKind.KEY),
        ("C:\\Users\\ada\\.ssh\\id_rsa", SecretKind.KEY),
        ("~/.kube/config", SecretKind.LOGIN),
        ("~/.claude/.credentials.json", SecretKind.LOGIN),
        (".env.production", SecretKind.PROJECT),
    ],
)
def test_secret_is_known__under_every_name_of_its_place(path: str, kind: SecretKind) -> None:
    secret = secret_at(path)
    assert secret is not None
    assert secret.kind is kind


@pytest.mark.parametrize(
    "path", ["~/.ssh/id_rsa.pub", "~/.ssh/known_hosts", ".env.example", "package.json", "~/notes.md", "*", "~/*"]
)
def test_ordinary_file_is_no_secret(path: str) -> None:
    assert secret_at(path) is None


@pytest.mark.parametrize(
    ("path", "lasting"),
    [
        ("~/.bashrc", Lasting.PROFILE),
        ("/etc/cron.d/x", Lasting.SCHEDULE),
        ("$HOME/Library/LaunchAgents/a.plist", Lasting.AUTOSTART),
        ("/etc/systemd/system/a.service", Lasting.SERVICE),
        (".git/hooks/pre-commit", Lasting.GIT_HOOK),
        ("/root/.ssh/authorized_keys", Lasting.LOGIN_KEY),
        ("~/.claude/settings.json", Lasting.AGENT),
        ("/etc/sudoers.d/x", Lasting.SUDO),
        ("~/.npmrc", Lasting.PACKAGES),
        (".git/hooks/pre-commit.sample", None),
        ("~/.claude/skills/x/SKILL.md", None),
        (".npmrc", None),
        ("src/profile.py", None),
    ],
)
def test_place_from_which_things_come_back_is_known(path: str, lasting: Lasting | None) -> None:
    assert lasting_at(path) is lasting


def test_great_folders_are_told_from_those_below_them() -> None:
    assert all(map(is_home, ["~", "$HOME/", "/home", "~/*", "/root"]))
    assert all(map(is_system_root, ["/", "/*", "/usr", "/etc/"]))
    assert not any(map(is_home, ["~/x", "./home"]))
    assert not any(map(is_system_root, ["/usr/local", "/tmp/x", "."]))
    assert is_log("/var/log/auth.log")
    assert not is_log("/var/log/nginx/access.log")


def test_path_is_shortened__and_costs_the_same_whatever_its_length() -> None:
    assert len(plain_path("~/" + "../" * 100_000)) <= 500
