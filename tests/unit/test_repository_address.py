"""Many spellings, one address; and never one address for two places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.blocklist import repository_block_key
from vskill_platform.domain.errors import InvalidRepositoryUrl
from vskill_platform.domain.ids import claim_key
from vskill_platform.domain.repository import RepositoryAddress, normalise_repository_url, repository_identity
from vskill_platform.domain.slug import split_repository_url

HOME = "https://github.com/acme/skills"


@pytest.mark.parametrize(
    "spelling",
    [
        "https://github.com/acme/skills",
        "https://github.com/acme/skills/",
        "https://github.com/acme/skills.git",
        "https://github.com/acme/skills.git/",
        "https://GitHub.com/Acme/Skills",
        "https://www.github.com/acme/skills",
        "HTTPS://github.com:443/acme//skills",
        "http://github.com/acme/skills",
        "github.com/acme/skills",
        "acme/skills",
        "git@github.com:acme/skills.git",
        "ssh://git@github.com/acme/skills.git",
        "git+https://github.com/acme/skills.git",
        "https://github.com/acme/skills/issues/12",
        "https://github.com/acme/skills?tab=readme#install",
        "  https://github.com/acme/skills\n",
        "https://github.com./acme/skills",
        "https://github.com/acme/skills.git.git",
        "https://github.com/acme/skills.GIT",
    ],
)
def test_address_is_one__however_it_is_spelled(spelling: str) -> None:
    assert normalise_repository_url(spelling) == RepositoryAddress(HOME)


@pytest.mark.parametrize(
    ("spelling", "address"),
    [
        ("https://github.com/acme/skills/tree/main", (HOME, "main")),
        ("https://github.com/acme/skills/tree/main/skills/pdf", (HOME, "main/skills/pdf")),
        ("https://github.com/acme/skills/blob/feature/x/pdf/SKILL.md#L3", (HOME, "feature/x/pdf/SKILL.md")),
        ("https://gitlab.com/a/b/c/-/tree/main/pdf", ("https://gitlab.com/a/b/c", "main/pdf")),
        ("https://codeberg.org/a/b/src/branch/main", ("https://codeberg.org/a/b", "main")),
        ("https://gitlab.com/a/b/src/c", ("https://gitlab.com/a/b/src/c", "")),
        ("https://git.example.org/Team/Repo.git", ("https://git.example.org/Team/Repo", "")),
        ("http://127.0.0.1:8080/git/acme/x.git", ("http://127.0.0.1:8080/git/acme/x", "")),
        ("https://[2001:db8::1]:8443/a/b", ("https://[2001:db8::1]:8443/a/b", "")),
        ("https://git.example.org/a/b%20c", None),
        ("https://bücher.example/a/b", ("https://xn--bcher-kva.example/a/b", "")),
    ],
)
def test_address_keeps_what_tells_places_apart__on_any_host(spelling: str, address: tuple[str, str] | None) -> None:
    if address is None:
        with pytest.raises(InvalidRepositoryUrl):
            normalise_repository_url(spelling)
    else:
        assert normalise_repository_url(spelling) == address


def test_identity_is_one__for_addresses_that_differ_in_protocol_and_case() -> None:
    spellings = ["https://git.example.org/Team/Repo", "http://git.example.org/team/repo"]
    assert {repository_identity(normalise_repository_url(text).url) for text in spellings} == {
        "git.example.org/team/repo"
    }
    assert claim_key(spellings[0], "PDF") == claim_key(spellings[1], "pdf")
    assert repository_block_key(spellings[0]) == repository_block_key(spellings[1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "skills",
        "https://github.com",
        "https://github.com/acme",
        "https:///acme/skills",
        "https://user:secret@github.com/acme/skills",
        "https://token@github.com/acme/skills",
        "file:///etc/passwd",
        "ext::sh -c id",
        "ftp://host.example/a/b",
        "javascript://host.example/a/b",
        "--upload-pack=touch /tmp/x",
        "https://host.example/a/../b",
        "https://host.example/a/%2e%2e/b",
        "https://host.example/a%2fb/c",
        "https://host.example/a/b\x00c",
        "https://host.example/a/b\u202ec",
        "https://host.example:99999/a/b",
        "https://host_example/a/b",
        "https://-host.example/a/b",
        "https://host.example/" + "a" * 500 + "/b",
        "https://github.com/acme/.git",
    ],
)
def test_address_is_refused__when_it_names_no_repository(text: str) -> None:
    with pytest.raises(InvalidRepositoryUrl):
        normalise_repository_url(text)


@given(st.text(max_size=60))
def test_address_gives_an_address_or_refuses__for_any_text(text: str) -> None:
    try:
        address = normalise_repository_url(text)
    except InvalidRepositoryUrl:
        return
    again = normalise_repository_url(address.url)
    assert again.url == address.url
    assert split_repository_url(address.url).name
