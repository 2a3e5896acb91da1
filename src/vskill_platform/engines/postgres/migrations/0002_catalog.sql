-- least code: 1

CREATE TABLE catalog_submissions (
    created    bigint NOT NULL,
    updated    bigint NOT NULL,
    id         text COLLATE "C" PRIMARY KEY,
    state      text COLLATE "C" NOT NULL,
    repo_url   text COLLATE "C" NOT NULL,
    skill_name text COLLATE "C" NOT NULL,
    row        bytea NOT NULL
);
CREATE INDEX catalog_submissions_updated ON catalog_submissions (updated, id);
CREATE INDEX catalog_submissions_created ON catalog_submissions (created, id);
CREATE INDEX catalog_submissions_skill_name ON catalog_submissions (skill_name, id);
CREATE INDEX catalog_submissions_state ON catalog_submissions (state, updated, id);
CREATE INDEX catalog_submissions_repo_url ON catalog_submissions (repo_url, updated, id);

-- Terms stand apart: they seldom change, and their index is dear to write.
CREATE TABLE catalog_submissions_terms (id text COLLATE "C" PRIMARY KEY, terms tsvector NOT NULL);
CREATE INDEX catalog_submissions_terms_found ON catalog_submissions_terms USING gin (terms);

CREATE TABLE catalog_skills (
    updated   bigint NOT NULL,
    score     bigint NOT NULL,
    id        text COLLATE "C" PRIMARY KEY,
    tier      text COLLATE "C" NOT NULL,
    category  text COLLATE "C" NOT NULL,
    publisher text COLLATE "C" NOT NULL,
    name      text COLLATE "C" NOT NULL,
    row       bytea NOT NULL
);
CREATE INDEX catalog_skills_updated ON catalog_skills (updated, id);
CREATE INDEX catalog_skills_score ON catalog_skills (score, id);
CREATE INDEX catalog_skills_name ON catalog_skills (name, id);
CREATE INDEX catalog_skills_tier ON catalog_skills (tier, updated, id);
CREATE INDEX catalog_skills_category ON catalog_skills (category, updated, id);
CREATE INDEX catalog_skills_publisher ON catalog_skills (publisher, updated, id);
CREATE TABLE catalog_skills_terms (id text COLLATE "C" PRIMARY KEY, terms tsvector NOT NULL);
CREATE INDEX catalog_skills_terms_found ON catalog_skills_terms USING gin (terms);

-- Write a document in place of the one with the same id. `fields` is a JSON object with a value for each column, and the
-- terms, which are written only if they changed.
CREATE FUNCTION index_document(collection text, identity text, fields jsonb, content bytea) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    found tsvector := array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(fields -> 'terms')));
BEGIN
    IF collection = 'submissions' THEN
        INSERT INTO catalog_submissions AS old (id, state, repo_url, created, updated, skill_name, row)
        VALUES (identity, fields ->> 'state', fields ->> 'repo_url', (fields ->> 'created')::bigint,
                (fields ->> 'updated')::bigint, fields ->> 'skill_name', content)
        ON CONFLICT (id) DO UPDATE SET
            state = excluded.state, repo_url = excluded.repo_url, created = excluded.created,
            updated = excluded.updated, skill_name = excluded.skill_name, row = excluded.row;
        INSERT INTO catalog_submissions_terms AS old VALUES (identity, found)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms WHERE old.terms <> excluded.terms;
    ELSE
        INSERT INTO catalog_skills AS old (id, tier, category, publisher, updated, score, name, row)
        VALUES (identity, fields ->> 'tier', fields ->> 'category', fields ->> 'publisher',
                (fields ->> 'updated')::bigint, (fields ->> 'score')::bigint, fields ->> 'name', content)
        ON CONFLICT (id) DO UPDATE SET
            tier = excluded.tier, category = excluded.category, publisher = excluded.publisher,
            updated = excluded.updated, score = excluded.score, name = excluded.name, row = excluded.row;
        INSERT INTO catalog_skills_terms AS old VALUES (identity, found)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms WHERE old.terms <> excluded.terms;
    END IF;
END
$$;

CREATE FUNCTION unindex_document(collection text, identity text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF collection = 'submissions' THEN
        DELETE FROM catalog_submissions WHERE id = identity;
        DELETE FROM catalog_submissions_terms WHERE id = identity;
    ELSE
        DELETE FROM catalog_skills WHERE id = identity;
        DELETE FROM catalog_skills_terms WHERE id = identity;
    END IF;
END
$$;
