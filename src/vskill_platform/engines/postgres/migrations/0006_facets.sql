-- least code: 1

-- What documents are since this version found, counted and ordered by. Those that are there are kept as they are; the records
-- say the rest when the catalog is next held against them. Code of an earlier version writes documents without them.
ALTER TABLE catalog_submissions
    ADD COLUMN verdict text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN weight  bigint NOT NULL DEFAULT 0;
ALTER TABLE catalog_skills
    ADD COLUMN capability text COLLATE "C" NOT NULL DEFAULT '[]',
    ADD COLUMN published  bigint NOT NULL DEFAULT 0,
    ADD COLUMN installs   bigint NOT NULL DEFAULT 0,
    ADD COLUMN weight     bigint NOT NULL DEFAULT 0;

-- Write a document in place of the one with the same id. `fields` is a JSON object with a value for each column, and the
-- terms, which are written only if they changed.
CREATE OR REPLACE FUNCTION index_document(collection text, identity text, fields jsonb, content bytea) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    found tsvector := array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(fields -> 'terms')));
    counts bigint := coalesce((fields ->> 'weight')::bigint, 0);
BEGIN
    IF collection = 'submissions' THEN
        INSERT INTO catalog_submissions AS old (id, state, repo_url, verdict, created, updated, skill_name, weight, row)
        VALUES (identity, fields ->> 'state', fields ->> 'repo_url', coalesce(fields ->> 'verdict', ''),
                (fields ->> 'created')::bigint, (fields ->> 'updated')::bigint, fields ->> 'skill_name', counts, content)
        ON CONFLICT (id) DO UPDATE SET
            state = excluded.state, repo_url = excluded.repo_url, verdict = excluded.verdict, created = excluded.created,
            updated = excluded.updated, skill_name = excluded.skill_name, weight = excluded.weight, row = excluded.row;
        INSERT INTO catalog_submissions_terms AS old VALUES (identity, found)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms WHERE old.terms <> excluded.terms;
    ELSE
        INSERT INTO catalog_skills AS old
            (id, tier, category, publisher, capability, updated, published, score, installs, name, weight, row)
        VALUES (identity, fields ->> 'tier', fields ->> 'category', fields ->> 'publisher',
                coalesce(fields ->> 'capability', '[]'), (fields ->> 'updated')::bigint,
                coalesce((fields ->> 'published')::bigint, 0), (fields ->> 'score')::bigint,
                coalesce((fields ->> 'installs')::bigint, 0), fields ->> 'name', counts, content)
        ON CONFLICT (id) DO UPDATE SET
            tier = excluded.tier, category = excluded.category, publisher = excluded.publisher,
            capability = excluded.capability, updated = excluded.updated, published = excluded.published,
            score = excluded.score, installs = excluded.installs, name = excluded.name, weight = excluded.weight,
            row = excluded.row;
        INSERT INTO catalog_skills_terms AS old VALUES (identity, found)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms WHERE old.terms <> excluded.terms;
    END IF;
END
$$;
