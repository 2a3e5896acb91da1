"""The suite for the catalog: facets, sorts, pages, counts and search over documents that commits have indexed.

An engine's test module inherits the class and provides the fixture `engine`, opened fresh for each test. The documents'
terms are made by `domain.search_terms`, as the application makes them, so a search test covers both sides at once.
"""

from __future__ import annotations

import asyncio

from vskill_platform.domain.catalog import SKILLS, SUBMISSIONS
from vskill_platform.domain.errors import InvalidQuery
from vskill_platform.domain.relevance import MOST_RANKED
from vskill_platform.ports.catalog import MAX_CATALOG_PAGE, MAX_OFFSET, MAX_SEARCH_CHARS, CatalogQuery
from vskill_platform.ports.commit import Index, Unindex
from vskill_platform.ports.engine import Engine
from vskill_platform.testing.builders import error_of, index_documents, skill_document, submission_document

TEXTS = {
    "accents": "Crème Brûlée für die Straße, Ångström",
    "cjk": "日本語の文書を読む",
    "korean": "한국어 문서",
    "mixed": "PDF日本 reader",
    "operators": "rock AND roll OR NOT near NEAR(this)",
    "pdf": "PDF form filler: fills forms in documents",
    "release": "release-notes generator v2.10, it's C++",
    "wide": "ＡＢＣ ﬁle ｶﾀｶﾅ",
    "wordless": "",
}
SEARCHES = {
    "forms": {"pdf"},
    "generator": {"release"},
    "fil": {"pdf", "wide"},
    "fill": {"pdf"},
    "f": {"pdf", "accents", "wide"},
    "fill forms": {"pdf"},
    "fills form": {"pdf"},
    "form fil": {"pdf"},
    "documents pdf forms": {"pdf"},
    "orms": {"pdf"},
    "rms": set(),
    "formss": {"pdf"},
    "formsss": set(),
    "absent": set(),
    "pdf absent": set(),
    "absent pdf": set(),
    "pdf": {"pdf", "mixed"},
    "  pdf \t\n form ": {"pdf"},
    "pdf,form": {"pdf"},
    "PDF FORM": {"pdf"},
    "release-notes": {"release"},
    "notes release": {"release"},
    "notes-release": {"release"},
    "v2": {"release"},
    "2": set(),
    "10": {"release"},
    "v2.1": {"release"},
    "c++ v2": {"release"},
    "it's": {"release"},
    "creme brulee": {"accents"},
    "CRÈME": {"accents"},
    "cre\u0300me": {"accents"},
    "strasse": {"accents"},
    "STRASSE": {"accents"},
    "angstrom": {"accents"},
    "ANGSTRÖM": {"accents"},
    "abc": {"wide"},
    "ａｂｃ": {"wide"},
    "file": {"wide"},
    "カタカナ": {"wide"},
    "日": {"cjk", "mixed"},
    "本": {"cjk", "mixed"},
    "語": {"cjk"},
    "む": {"cjk"},
    "日本": {"cjk", "mixed"},
    "本語": {"cjk"},
    "日本語": {"cjk"},
    "語の文": {"cjk"},
    "文書 日本": {"cjk"},
    "本日": set(),
    "日語": set(),
    "日本 reader": {"mixed"},
    "pdf日本": {"mixed"},
    "한국": {"korean"},
    "문서": {"korean"},
    "서": {"korean"},
    "and": {"operators"},
    "AND": {"operators"},
    "roll AND rock": {"operators"},
    "rock NOT roll": {"operators"},
    "pdf OR rock": set(),
    "near": {"operators"},
    "NEAR(rock absent)": set(),
    "NEAR(rock this": {"operators"},
    "form*": {"pdf"},
    "fil*ler": set(),
    "-form": {"pdf"},
    '"form filler"': {"pdf"},
    '"filler form"': {"pdf"},
    "terms:form": set(),
    "^pdf": {"pdf", "mixed"},
}
NO_TERMS = ("", " ", "\t\n", "*", '"', "'", "()", "-", "...", "!?&|", "\0", "\u0301", "…—„“", "\u200b", "😀")
HOSTILE = (
    '"',
    '""',
    "'",
    "'; DROP TABLE catalog_skills; --",
    "(",
    ")",
    "((((((((",
    "* * *",
    "a*",
    '"a"*',
    "^a",
    "a:b",
    "{a b}:c",
    "-a",
    "NOT",
    "NOT a",
    "AND",
    "a AND",
    "OR OR",
    "NEAR",
    "NEAR(",
    "NEAR(a b, 5)",
    "a + b",
    "\\",
    "%",
    "_",
    "?",
    ":1",
    "$1",
    "a\0b",
    "\0",
    "\ud800",
    "a\udfffb",
    "\ufeff",
    "\uffff",
    "\U0010ffff",
    "ﷺ",
    "İ",
    "a\u0301" * 200,
    "a" * MAX_SEARCH_CHARS,
    "日" * MAX_SEARCH_CHARS,
    "a " * (MAX_SEARCH_CHARS // 2),
    '"' * MAX_SEARCH_CHARS,
    "(" * MAX_SEARCH_CHARS,
    "ﷺ" * MAX_SEARCH_CHARS,
)
UNANSWERABLE = (
    CatalogQuery(SKILLS, where={"state": ("RECEIVED",)}),
    CatalogQuery(SKILLS, where={"updated": ("1",)}),
    CatalogQuery(SKILLS, where={"id": ("a",)}),
    CatalogQuery(SKILLS, where={"tier; --": ("a",)}),
    CatalogQuery(SKILLS, where={"tier": ("verified",), "": ()}),
    CatalogQuery(SKILLS, counts=("state",)),
    CatalogQuery(SKILLS, counts=("tier", "updated")),
    CatalogQuery(SKILLS, counts=("tier, category",)),
    CatalogQuery(SKILLS, sort="created"),
    CatalogQuery(SKILLS, sort="tier"),
    CatalogQuery(SKILLS, sort="id"),
    CatalogQuery(SKILLS, sort=""),
    CatalogQuery(SKILLS, sort="name, (SELECT 1)"),
    CatalogQuery(SKILLS, limit=0),
    CatalogQuery(SKILLS, limit=-1),
    CatalogQuery(SKILLS, limit=MAX_CATALOG_PAGE + 1),
    CatalogQuery(SKILLS, offset=-1),
    CatalogQuery(SKILLS, offset=MAX_OFFSET + 1),
    CatalogQuery(SKILLS, search="a" * (MAX_SEARCH_CHARS + 1)),
)


class CatalogContract:
    """What pages ask: lists, totals, counts and search."""

    async def test_query_finds_nothing__when_the_collection_is_empty(self, engine: Engine) -> None:
        assert await engine.catalog.query(CatalogQuery(SKILLS)) == ([], 0, {})
        assert await engine.catalog.counts(SKILLS, "tier") == {}

    async def test_query_gives_ids_with_their_rows(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("a", text="one"), skill_document("b", text="two")])
        page = await engine.catalog.query(CatalogQuery(SKILLS, descending=False))
        assert page == ([("a", b"a|one"), ("b", b"b|two")], 2, {})

    async def test_query_keeps_collections_apart__when_ids_are_equal(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("a"), submission_document("a"), submission_document("b")])
        assert await _ids(engine, CatalogQuery(SKILLS)) == ["a"]
        assert await _ids(engine, CatalogQuery(SUBMISSIONS, descending=False)) == ["a", "b"]
        await engine.writes.commit([Unindex(SUBMISSIONS, "a")])
        assert await _ids(engine, CatalogQuery(SKILLS)) == ["a"]
        assert await engine.catalog.counts(SUBMISSIONS, "state") == {"RECEIVED": 1}

    # Facets

    async def test_query_filters_by_one_value_of_a_facet(self, engine: Engine) -> None:
        await _index_grid(engine)
        assert await _ids(engine, _where(tier=("verified",))) == ["v-dev-x", "v-dev-y", "v-doc-x", "v-doc-y"]

    async def test_query_filters_by_any_of_several_values(self, engine: Engine) -> None:
        await _index_grid(engine)
        assert len(await _ids(engine, _where(tier=("verified", "certified")))) == 8
        assert len(await _ids(engine, _where(tier=("verified", "absent", "verified")))) == 4

    async def test_query_filters_by_every_one_of_several_facets(self, engine: Engine) -> None:
        await _index_grid(engine)
        assert await _ids(engine, _where(tier=("verified",), category=("dev",))) == ["v-dev-x", "v-dev-y"]
        assert await _ids(engine, _where(tier=("verified", "certified"), category=("doc",), publisher=("x",))) == [
            "c-doc-x",
            "v-doc-x",
        ]

    async def test_query_matches_nothing__when_no_document_has_the_value(self, engine: Engine) -> None:
        await _index_grid(engine)
        for value in ("absent", "", "VERIFIED", "verified ", "ver", "%", "' OR 1=1 --"):
            assert await engine.catalog.query(_where(tier=(value,))) == ([], 0, {})

    async def test_query_matches_nothing__when_a_facet_has_no_values(self, engine: Engine) -> None:
        await _index_grid(engine)
        assert await engine.catalog.query(_where(tier=())) == ([], 0, {})
        assert await engine.catalog.query(_where(tier=(), category=("dev",))) == ([], 0, {})

    async def test_query_matches_nothing_or_refuses__when_a_value_is_no_text(self, engine: Engine) -> None:
        await _index_grid(engine)
        for value in ("\0", "\ud800"):
            try:
                assert (await engine.catalog.query(_where(tier=(value,)))).total == 0
            except InvalidQuery:
                continue

    async def test_query_takes_many_values(self, engine: Engine) -> None:
        await _index_grid(engine)
        values = (*(f"value {number}" for number in range(2000)), "verified")
        assert len(await _ids(engine, _where(tier=values))) == 4

    async def test_facet_keeps_any_text(self, engine: Engine) -> None:
        values = ["", "O'Brien", '"quoted"', "日本", "😀", "a;b", "%", "?"]
        documents = [skill_document(f"d{n}", publisher=value) for n, value in enumerate(values)]
        await index_documents(engine, documents)
        assert await engine.catalog.counts(SKILLS, "publisher") == dict.fromkeys(values, 1)
        for number, value in enumerate(values):
            assert await _ids(engine, _where(publisher=(value,))) == [f"d{number}"]

    # Sorts

    async def test_query_sorts_by_the_default_newest_first__when_no_sort_is_named(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document(id, updated=at) for id, at in (("a", 2), ("b", 3), ("c", 1))])
        assert await _ids(engine, CatalogQuery(SKILLS)) == ["b", "a", "c"]

    async def test_query_sorts_by_number_in_both_directions(self, engine: Engine) -> None:
        numbers = {"a": 10, "b": 9, "c": -1, "d": 2**53, "e": 0, "f": 100}
        await index_documents(engine, [skill_document(id, updated=n, score=-n) for id, n in numbers.items()])
        ascending = ["c", "e", "b", "a", "f", "d"]
        assert await _ids(engine, CatalogQuery(SKILLS, sort="updated", descending=False)) == ascending
        assert await _ids(engine, CatalogQuery(SKILLS, sort="updated")) == ascending[::-1]
        assert await _ids(engine, CatalogQuery(SKILLS, sort="score", descending=False)) == ascending[::-1]
        assert await _ids(engine, CatalogQuery(SKILLS, sort="score")) == ascending

    async def test_query_sorts_text_by_its_bytes_in_both_directions(self, engine: Engine) -> None:
        names = ["", " b", "10", "9", "B", "a", "a b", "ab", "b", "é", "日本", "\uff21", "😀"]
        await index_documents(engine, [skill_document(f"id {name}", name=name) for name in reversed(names)])
        ascending = [f"id {name}" for name in names]
        assert await _ids(engine, CatalogQuery(SKILLS, sort="name", descending=False)) == ascending
        assert await _ids(engine, CatalogQuery(SKILLS, sort="name")) == ascending[::-1]

    async def test_query_orders_ties_by_id_in_the_same_direction(self, engine: Engine) -> None:
        ascending = ["A", "B", "a", "b", "é", "\uff21", "😀"]
        await index_documents(engine, [skill_document(id) for id in ("b", "é", "A", "😀", "B", "\uff21", "a")])
        for sort in (None, "score", "name"):
            assert await _ids(engine, CatalogQuery(SKILLS, sort=sort, descending=False)) == ascending
            assert await _ids(engine, CatalogQuery(SKILLS, sort=sort)) == ascending[::-1]

    # Pages

    async def test_query_gives_every_document_exactly_once_over_its_pages(self, engine: Engine) -> None:
        ids = [f"d{number:02d}" for number in range(25)]
        await index_documents(engine, [skill_document(id, updated=n // 4) for n, id in enumerate(ids)])
        for limit in (1, 7, 25, 26):
            queries = [CatalogQuery(SKILLS, descending=False, limit=limit, offset=n) for n in range(0, 26, limit)]
            pages = [await engine.catalog.query(query) for query in queries]
            assert [id for page in pages for id, _ in page.rows] == ids
            assert {page.total for page in pages} == {25}

    async def test_query_gives_no_rows_but_the_total__when_the_page_is_past_the_end(self, engine: Engine) -> None:
        await _index_grid(engine)
        for offset in (12, 13, MAX_OFFSET):
            assert await engine.catalog.query(CatalogQuery(SKILLS, offset=offset)) == ([], 12, {})

    async def test_query_gives_50_rows__when_no_limit_is_named(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document(f"d{number}") for number in range(51)])
        page = await engine.catalog.query(CatalogQuery(SKILLS))
        assert (len(page.rows), page.total) == (50, 51)

    async def test_query_gives_up_to_1000_rows_and_the_exact_total(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document(f"d{number}", text="word") for number in range(1001)])
        page = await engine.catalog.query(CatalogQuery(SKILLS, limit=MAX_CATALOG_PAGE, search="word"))
        assert (len(page.rows), page.total) == (1000, 1001)

    async def test_query_counts_what_matches__when_it_filters_and_searches(self, engine: Engine) -> None:
        documents = [
            skill_document(f"d{n:02d}", text="even" if n % 2 == 0 else "odd", tier=f"t{n % 3}") for n in range(30)
        ]
        await index_documents(engine, documents)
        query = CatalogQuery(
            SKILLS, where={"tier": ("t0", "t1")}, search="even", sort="updated", limit=4, offset=4, descending=False
        )
        page = await engine.catalog.query(query)
        matching = [f"d{n:02d}" for n in range(30) if n % 2 == 0 and n % 3 < 2]
        assert ([id for id, _ in page.rows], page.total) == (matching[4:8], len(matching))

    async def test_query_gives_page_and_total_of_one_moment__when_a_writer_is_at_work(self, engine: Engine) -> None:
        is_done = asyncio.Event()

        async def write() -> None:
            for number in range(60):
                await index_documents(engine, [skill_document(f"d{number}"), skill_document(f"e{number}")])
            is_done.set()

        async def read() -> None:
            while not is_done.is_set():
                page = await engine.catalog.query(CatalogQuery(SKILLS, limit=1000, counts=("tier",)))
                assert len(page.rows) == page.total
                assert page.total % 2 == 0
                assert sum(page.counts["tier"].values()) == page.total
                await asyncio.sleep(0)

        await asyncio.gather(write(), read(), read())

    async def test_query_sees_every_commit_acknowledged_before(self, engine: Engine) -> None:
        for number in range(1, 21):
            await index_documents(engine, [skill_document(f"d{number}", text="word")])
            assert (await engine.catalog.query(CatalogQuery(SKILLS, search="word"))).total == number
            assert await engine.catalog.counts(SKILLS, "tier") == {"verified": number}

    async def test_query_raises_invalid_query__when_the_collection_cannot_answer(self, engine: Engine) -> None:
        raised = [await error_of(engine.catalog.query(query)) for query in UNANSWERABLE]
        assert raised == [InvalidQuery] * len(UNANSWERABLE)

    # Counts

    async def test_counts_gives_documents_by_value(self, engine: Engine) -> None:
        await _index_grid(engine)
        assert await engine.catalog.counts(SKILLS, "tier") == {"verified": 4, "certified": 4, "scanned": 4}
        assert await engine.catalog.counts(SKILLS, "category") == {"dev": 6, "doc": 6}

    async def test_counts_leaves_out_a_value__when_its_last_document_goes(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("a", tier="one"), skill_document("b", tier="two")])
        await engine.writes.commit([Unindex(SKILLS, "a")])
        assert await engine.catalog.counts(SKILLS, "tier") == {"two": 1}
        await index_documents(engine, [skill_document("b", tier="three")])
        assert await engine.catalog.counts(SKILLS, "tier") == {"three": 1}

    async def test_counts_raises_invalid_query__when_the_collection_has_no_such_facet(self, engine: Engine) -> None:
        facets = ("state", "updated", "id", "", "tier, category")
        raised = {facet: await error_of(engine.catalog.counts(SKILLS, facet)) for facet in facets}
        assert raised == dict.fromkeys(facets, InvalidQuery)

    async def test_query_counts_facets_among_what_matches__each_without_its_own_filter(self, engine: Engine) -> None:
        await _index_grid(engine)
        page = await engine.catalog.query(
            CatalogQuery(
                SKILLS, where={"tier": ("verified",), "category": ("dev",)}, counts=("tier", "category"), limit=1
            )
        )
        assert (len(page.rows), page.total) == (1, 2)
        assert page.counts == {
            "tier": {"verified": 2, "certified": 2, "scanned": 2},
            "category": {"dev": 2, "doc": 2},
        }

    async def test_query_counts_what_a_search_finds(self, engine: Engine) -> None:
        documents = [skill_document(f"d{n}", text="even" if n % 2 == 0 else "odd", tier=f"t{n % 3}") for n in range(9)]
        await index_documents(engine, documents)
        page = await engine.catalog.query(CatalogQuery(SKILLS, search="even", counts=("tier", "publisher")))
        assert page.counts == {"tier": {"t0": 2, "t1": 1, "t2": 2}, "publisher": {"acme": 5}}
        page = await engine.catalog.query(CatalogQuery(SKILLS, search="absent", counts=("tier",)))
        assert page == ([], 0, {"tier": {}})

    async def test_query_counts_the_other_choices__when_a_filter_matches_nothing(self, engine: Engine) -> None:
        await _index_grid(engine)
        page = await engine.catalog.query(_where(tier=()))
        assert page.counts == {}
        query = CatalogQuery(SKILLS, where={"tier": ("absent",)}, counts=("tier", "category"))
        assert (await engine.catalog.query(query)).counts == {
            "tier": {"verified": 4, "certified": 4, "scanned": 4},
            "category": {},
        }

    async def test_facet_with_several_values_is_filtered_and_counted_by_each(self, engine: Engine) -> None:
        capabilities = {"a": (), "b": ("commands",), "c": ("commands", "network"), "d": ("network", 'odd,"[')}
        await index_documents(engine, [skill_document(id, capability=values) for id, values in capabilities.items()])
        assert await _ids(engine, _where(capability=("network",))) == ["c", "d"]
        assert await _ids(engine, _where(capability=("network", "commands"))) == ["b", "c", "d"]
        assert await _ids(engine, _where(capability=('odd,"[',))) == ["d"]
        assert await _ids(engine, _where(capability=("",))) == []
        assert await engine.catalog.counts(SKILLS, "capability") == {"commands": 2, "network": 2, 'odd,"[': 1}
        await index_documents(engine, [skill_document("c", capability=("secrets",))])
        query = CatalogQuery(SKILLS, where={"capability": ("secrets",)}, counts=("capability",))
        assert (await engine.catalog.query(query)).counts == {
            "capability": {"commands": 1, "network": 1, 'odd,"[': 1, "secrets": 1}
        }
        await engine.writes.commit([Unindex(SKILLS, "d")])
        assert await engine.catalog.counts(SKILLS, "capability") == {"commands": 1, "secrets": 1}

    # Replacing and removing

    async def test_index_replaces_the_document_with_the_same_id(self, engine: Engine) -> None:
        old = skill_document("a", text="old words", tier="one", category="dev", score=5, name="z")
        other = skill_document("b", text="old other", tier="one", category="doc", score=3, name="y")
        await index_documents(engine, [old, other])
        await index_documents(engine, [skill_document("a", text="new words", tier="two", score=1, name="x")])
        page = await engine.catalog.query(CatalogQuery(SKILLS, sort="score"))
        assert page == ([("b", b"b|old other"), ("a", b"a|new words")], 2, {})
        assert await _ids(engine, CatalogQuery(SKILLS, sort="name", descending=False)) == ["a", "b"]
        assert await engine.catalog.counts(SKILLS, "tier") == {"one": 1, "two": 1}
        assert await _ids(engine, _where(tier=("one",))) == ["b"]
        assert await _ids(engine, CatalogQuery(SKILLS, search="old")) == ["b"]
        assert await _ids(engine, CatalogQuery(SKILLS, search="new")) == ["a"]

    async def test_index_keeps_search_exact__when_a_document_is_replaced_many_times(self, engine: Engine) -> None:
        words = ["alpha", "beta", "", "gamma", "alpha", "alpha", "delta"]
        for word in words:
            await index_documents(engine, [skill_document("a", text=word)])
        for word in ("alpha", "beta", "gamma"):
            assert await _ids(engine, CatalogQuery(SKILLS, search=word)) == []
        assert await _ids(engine, CatalogQuery(SKILLS, search="delta")) == ["a"]

    async def test_index_changes_the_row__when_only_the_row_differs(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("a", text="same")])
        await index_documents(engine, [skill_document("a", text="same!")])
        assert await engine.catalog.query(CatalogQuery(SKILLS, search="same")) == ([("a", b"a|same!")], 1, {})

    async def test_unindex_removes_the_document_from_every_answer(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("a", text="word"), skill_document("b", text="word")])
        await engine.writes.commit([Unindex(SKILLS, "a")])
        assert await _ids(engine, CatalogQuery(SKILLS)) == ["b"]
        assert await _ids(engine, CatalogQuery(SKILLS, search="word")) == ["b"]
        assert await _ids(engine, _where(tier=("verified",))) == ["b"]
        assert await engine.catalog.counts(SKILLS, "tier") == {"verified": 1}

    async def test_index_brings_a_document_back__when_it_was_removed(self, engine: Engine) -> None:
        await index_documents(engine, [skill_document("a", text="first"), skill_document("b", text="first")])
        await engine.writes.commit([Unindex(SKILLS, "b")])
        await index_documents(engine, [skill_document("b", text="second"), skill_document("c", text="third")])
        assert await _ids(engine, CatalogQuery(SKILLS, search="first")) == ["a"]
        assert await _ids(engine, CatalogQuery(SKILLS, search="second")) == ["b"]

    async def test_index_after_unindex_in_one_commit_writes_the_document_anew(self, engine: Engine) -> None:
        document = skill_document("a", text="alpha beta", tier="scanned")
        await index_documents(engine, [skill_document("a", text="gamma"), skill_document("b", text="alpha")])
        await engine.writes.commit([Unindex(SKILLS, "a"), Index(document)])
        assert await engine.catalog.documents(SKILLS, limit=1) == [document.with_terms_sorted()]
        assert (await engine.catalog.query(CatalogQuery(SKILLS, search="alpha"))).total == 2
        assert (await engine.catalog.query(CatalogQuery(SKILLS, search="gamma"))).total == 0

    async def test_documents_come_as_they_were_indexed__in_the_order_of_their_bytes(self, engine: Engine) -> None:
        texts = {"\U0001f600": "", "a": "Écrire 中文 test", "\ufb01": "beta " * 40, "b/c": "x"}
        documents = {
            id: skill_document(
                id, text=text, tier=f"t{id}", capability=("!", id), updated=-7, weight=3, name=id.upper()
            )
            for id, text in texts.items()
        }
        await index_documents(engine, documents.values())
        await index_documents(engine, [submission_document("another collection")])
        ordered = [documents[id].with_terms_sorted() for id in ("a", "b/c", "\ufb01", "\U0001f600")]
        assert list(await engine.catalog.documents(SKILLS)) == ordered
        assert list(await engine.catalog.documents(SKILLS, after="b/c")) == ordered[2:]
        assert list(await engine.catalog.documents(SKILLS, after="a", limit=1)) == ordered[1:2]
        assert list(await engine.catalog.documents(SKILLS, after="\U0001f600")) == []

    # Search

    async def test_search_finds_documents_that_have_every_term(self, engine: Engine) -> None:
        await _index_texts(engine)
        found = {search: set(await _ids(engine, CatalogQuery(SKILLS, search=search))) for search in SEARCHES}
        assert found == SEARCHES

    async def test_search_matches_everything__when_it_has_no_term(self, engine: Engine) -> None:
        await _index_texts(engine)
        totals = {search: len(await _ids(engine, CatalogQuery(SKILLS, search=search))) for search in NO_TERMS}
        assert totals == dict.fromkeys(NO_TERMS, len(TEXTS))

    async def test_search_answers_or_raises_invalid_query__when_the_text_is_hostile(self, engine: Engine) -> None:
        await _index_texts(engine)
        for search in HOSTILE:
            try:
                page = await engine.catalog.query(CatalogQuery(SKILLS, search=search))
            except InvalidQuery:
                continue
            assert page.total == len(page.rows) <= len(TEXTS)
        assert (await engine.catalog.query(CatalogQuery(SKILLS))).total == len(TEXTS)

    async def test_search_finds_a_long_word_by_itself_and_by_its_beginning(self, engine: Engine) -> None:
        word = "ab" * 128
        await index_documents(engine, [skill_document("a", text=word), skill_document("b", text="abacus")])
        assert await _ids(engine, CatalogQuery(SKILLS, search=word)) == ["a"]
        assert await _ids(engine, CatalogQuery(SKILLS, search=word[:40])) == ["a"]

    async def test_search_puts_exact_names_and_paths_first__whatever_others_weigh(self, engine: Engine) -> None:
        documents = [
            skill_document("acme/one/pdf-tools", name="Something else", text="x"),
            skill_document("acme/two/other", name="PDF tools"),
            skill_document("acme/three/pdf-tools-kit", name="pdf-tools-kit", text="pdf tools", weight=9000),
            skill_document("acme/four/x", name="a", text="tools for pdf", weight=9000),
        ]
        await index_documents(engine, documents)
        found = await _ids(engine, CatalogQuery(SKILLS, search="pdf-TOOLS"))
        assert set(found[:2]) == {"acme/one/pdf-tools", "acme/two/other"}
        assert found[2:] == ["acme/three/pdf-tools-kit", "acme/four/x"]
        assert (await _ids(engine, CatalogQuery(SKILLS, search="acme/two/other")))[0] == "acme/two/other"

    async def test_search_ranks_name_before_path_before_text__then_by_weight(self, engine: Engine) -> None:
        documents = [
            skill_document("a/b/in-text", name="plain", text="the filler of forms"),
            skill_document("a/filler/in-path", name="plain"),
            skill_document("a/b/unfinished", name="fillers united"),
            skill_document("a/b/in-name", name="form filler", weight=1),
            skill_document("a/b/heavier", name="form filler", weight=2),
        ]
        await index_documents(engine, documents)
        found = await _ids(engine, CatalogQuery(SKILLS, search="filler"))
        assert found == ["a/b/heavier", "a/b/in-name", "a/b/unfinished", "a/filler/in-path", "a/b/in-text"]
        assert await _ids(engine, CatalogQuery(SKILLS, search="filler", descending=False)) == found

    async def test_search_ranks_name_before_text__where_more_match_than_are_ranked_one_by_one(
        self, engine: Engine
    ) -> None:
        documents = [
            *(skill_document(f"t{n:03d}", name="plain", text="word", weight=1 + n % 7) for n in range(2 * MOST_RANKED)),
            *(skill_document(f"p{n}/word", name="plain") for n in range(3)),
            *(skill_document(f"n{n}", name=f"word {n}") for n in range(3)),
            skill_document("exact", name="word"),
        ]
        await index_documents(engine, documents)
        page = await engine.catalog.query(CatalogQuery(SKILLS, search="word", limit=2 * MOST_RANKED + 7))
        ids = [id for id, _ in page.rows]
        assert ids[0] == "exact" or set(ids[:4]) == {"exact", "p0/word", "p1/word", "p2/word"}
        assert {"exact", "n0", "n1", "n2", "p0/word", "p1/word", "p2/word"} == set(ids[:7])
        assert (page.total, len(set(ids))) == (2 * MOST_RANKED + 7, 2 * MOST_RANKED + 7)
        for offset in (0, 90, MOST_RANKED, 2 * MOST_RANKED):
            query = CatalogQuery(SKILLS, search="word", limit=30, offset=offset)
            assert [id for id, _ in (await engine.catalog.query(query)).rows] == ids[offset : offset + 30]

    async def test_search_looks_for_short_beginnings_in_names_and_paths__for_longer_ones_everywhere(
        self, engine: Engine
    ) -> None:
        documents = [
            skill_document("a/b/one", name="format", text="x"),
            skill_document("a/form/two", name="y", text="x"),
            skill_document("a/b/three", name="y", text="forms"),
            skill_document("a/b/last", name="y", text="for"),
        ]
        await index_documents(engine, documents)
        assert set(await _ids(engine, CatalogQuery(SKILLS, search="fo"))) == {"a/b/one", "a/form/two"}
        assert set(await _ids(engine, CatalogQuery(SKILLS, search="for"))) == {"a/b/one", "a/form/two", "a/b/last"}
        assert set(await _ids(engine, CatalogQuery(SKILLS, search="form"))) == {"a/b/one", "a/form/two", "a/b/three"}

    async def test_search_forgives_one_slip_in_a_word_of_five_letters__only_where_nothing_is_found_as_written(
        self, engine: Engine
    ) -> None:
        documents = [
            skill_document("a", name="preview"),
            skill_document("b", name="review"),
            skill_document("c", name="docs", text="приватность grammar"),
        ]
        await index_documents(engine, documents)
        slips = {
            "reveiw": ["b"],
            "reviw": ["b"],
            "revview": ["b"],
            "revuew": ["b"],
            "rveiew": ["b"],
            "review": ["b"],
            "pereview": ["a"],
            "previeww gramar": [],
            "docs gramar": ["c"],
            "gramma dosc": [],
            "приватнсть": ["c"],
            "reveiww": [],
        }
        assert {search: await _ids(engine, CatalogQuery(SKILLS, search=search)) for search in slips} == slips
        await engine.writes.commit([Unindex(SKILLS, "b")])
        assert await _ids(engine, CatalogQuery(SKILLS, search="reveiw")) == []
        assert await _ids(engine, CatalogQuery(SKILLS, search="review")) == ["a"]

    async def test_search_sorts_and_filters_like_any_query(self, engine: Engine) -> None:
        documents = [skill_document(f"d{n}", text="wordy", score=n % 3, tier=f"t{n % 2}") for n in range(6)]
        await index_documents(engine, documents)
        query = CatalogQuery(SKILLS, where={"tier": ("t0",)}, search="word", sort="score", descending=False)
        assert await _ids(engine, query) == ["d0", "d4", "d2"]


async def _ids(engine: Engine, query: CatalogQuery) -> list[str]:
    """The ids of a page that holds all that match."""
    page = await engine.catalog.query(query)
    assert page.total == len(page.rows)
    return [id for id, _ in page.rows]


def _where(**facets: tuple[str, ...]) -> CatalogQuery:
    return CatalogQuery(SKILLS, where=facets, descending=False)


async def _index_grid(engine: Engine) -> None:
    """A document for each of three tiers, two categories and two publishers."""
    await index_documents(
        engine,
        [
            skill_document(f"{tier[0]}-{category}-{publisher}", tier=tier, category=category, publisher=publisher)
            for tier in ("verified", "certified", "scanned")
            for category in ("dev", "doc")
            for publisher in ("x", "y")
        ],
    )


async def _index_texts(engine: Engine) -> None:
    await index_documents(engine, [skill_document(id, name=text) for id, text in TEXTS.items()])
