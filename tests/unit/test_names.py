"""Slugs, search terms, times, keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vskill_platform.domain.errors import InvalidInput, InvalidRepositoryUrl
from vskill_platform.domain.ids import claim_key, history_key
from vskill_platform.domain.repository import known_repository, normalise_repository_url
from vskill_platform.domain.search_terms import (
    MAX_DOCUMENT_TERMS,
    QueryTerm,
    document_terms,
    fold,
    query_terms,
)
from vskill_platform.domain.slug import (
    is_current_slug,
    is_pushed,
    owner_handle,
    pushed_repository,
    pushed_skill_slug,
    skill_slug,
    slugify,
)
from vskill_platform.domain.times import hour_of, iso_from_ms, ms_from_iso
from vskill_platform.ports.kv import prefix_end


@pytest.mark.parametrize(
    ("url", "name", "slug"),
    [
        ("https://github.com/Acme/My.Repo", "Code Review", "acme/my-repo/code-review"),
        ("https://github.com/acme/repo.git/", "s", "acme/repo/s"),
        ("https://gitlab.com/acme/repo", "s", "gitlab-com-acme/repo/s"),
        ("https://gitlab.com/group/sub/repo", "s", "gitlab-com-group-sub/repo/s"),
        ("https://GITHUB.com/group/sub/repo", "s", "group-sub/repo/s"),
        ("https://github.com/a%20b/c", "s", "a-b/c/s"),
    ],
)
def test_slug_is_owner_repo_skill(url: str, name: str, slug: str) -> None:
    assert skill_slug(url, name) == slug
    assert is_current_slug(slug)


@pytest.mark.parametrize("url", ["", "github.com/a/b", "https://github.com/only", "https:///a/b"])
def test_address_that_names_no_repository_is_refused(url: str) -> None:
    with pytest.raises(InvalidRepositoryUrl):
        skill_slug(url, "s")


def test_slug_without_a_letter_or_digit_is_refused() -> None:
    with pytest.raises(InvalidInput):
        skill_slug("https://github.com/acme/repo", "技能")


def test_two_hosts_cannot_claim_one_name() -> None:
    assert skill_slug("https://github.com/acme/r", "s") != skill_slug("https://git.example/acme/r", "s")


def test_pushed_skill_has_the_registry_for_a_repository() -> None:
    assert pushed_skill_slug("Ada", "Notes") == "ada/registry/notes"


@pytest.mark.parametrize("slug", ["name", "owner-repo-name", "a/b", "a/b/c/d", "A/b/c", "a//c", "a/b/-c"])
def test_older_form_is_not_current(slug: str) -> None:
    assert not is_current_slug(slug)


@given(st.text())
def test_slugify_gives_only_what_a_slug_may_hold__and_is_stable(text: str) -> None:
    slug = slugify(text)
    assert set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert slugify(slug) == slug


def test_terms_are_folded_words_each_once() -> None:
    assert document_terms("Code-Review: REVIEW für Ｗｉｄｅ naïve") == ("code", "review", "fur", "wide", "naive")


def test_unspaced_scripts_are_cut_into_pairs__with_the_last_character_alone() -> None:
    assert document_terms("技能库 v2") == ("技能", "能库", "库", "v2")
    assert document_terms("한국어abc") == ("한국", "국어", "어", "abc")


def test_query_asks_for_whole_words__and_the_beginning_of_the_last() -> None:
    assert query_terms("code rev") == (QueryTerm("code", is_prefix=False), QueryTerm("rev", is_prefix=True))
    assert query_terms("技能") == (QueryTerm("技能", is_prefix=False),)
    assert query_terms("库") == (QueryTerm("库", is_prefix=True),)
    assert query_terms('"(*) - &') == ()


@given(st.text(max_size=200))
def test_document_is_found_by_its_own_words(text: str) -> None:
    terms = document_terms(text)
    for wanted in query_terms(text):
        assert any(term.startswith(wanted.text) if wanted.is_prefix else term == wanted.text for term in terms)


def test_terms_are_bounded() -> None:
    assert len(document_terms(" ".join(f"w{number}" for number in range(10_000)))) == MAX_DOCUMENT_TERMS


@given(st.text())
def test_fold_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(st.integers(0, 4_102_444_800_000))
def test_time_survives_the_way_to_text_and_back(ms: int) -> None:
    assert ms_from_iso(iso_from_ms(ms)) == ms


def test_time_is_utc__with_or_without_an_offset() -> None:
    assert ms_from_iso("2026-02-21T10:00:00Z") == ms_from_iso("2026-02-21T10:00:00")
    assert ms_from_iso("2026-02-21T11:00:00+01:00") == ms_from_iso("2026-02-21T10:00:00Z")
    assert hour_of(ms_from_iso("2026-02-21T10:59:59.999Z")) == "2026-02-21T10"


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "١٢"])
def test_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        ms_from_iso(text)


def test_history_keys_sort_in_the_order_of_steps() -> None:
    assert history_key("sub_1", 9) < history_key("sub_1", 10) < history_key("sub_1", 100)


def test_claim_key_tells_repository_and_skill_apart() -> None:
    assert claim_key("https://x/a", "b") != claim_key("https://x/ab", "")


@given(st.text(max_size=4), st.text(max_size=4))
def test_prefix_end_is_the_first_text_after_all_with_the_prefix(prefix: str, rest: str) -> None:
    end = prefix_end(prefix)
    if end is not None:
        assert (prefix + rest).encode() < end.encode()


def test_pushed_skill_has_an_address_that_no_repository_has__and_the_same_slug() -> None:
    address = pushed_repository("ada")
    assert (is_pushed(address), is_pushed("https://github.com/ada/registry")) == (True, False)
    assert skill_slug(address, "Notes") == pushed_skill_slug("ada", "notes")
    assert owner_handle(address) == "ada"
    with pytest.raises(InvalidRepositoryUrl):
        normalise_repository_url(address)
    assert known_repository("Registry://~Ada/registry") == address
    assert known_repository("github.com/Ada/Skills") == "https://github.com/ada/skills"
