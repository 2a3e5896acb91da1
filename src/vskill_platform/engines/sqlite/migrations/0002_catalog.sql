CREATE TABLE catalog_submissions (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    state      TEXT NOT NULL,
    repo_url   TEXT NOT NULL,
    created    INTEGER NOT NULL,
    updated    INTEGER NOT NULL,
    skill_name TEXT NOT NULL,
    terms      TEXT NOT NULL,
    row        BLOB NOT NULL
) STRICT;
CREATE INDEX catalog_submissions_updated ON catalog_submissions (updated, id);
CREATE INDEX catalog_submissions_created ON catalog_submissions (created, id);
CREATE INDEX catalog_submissions_skill_name ON catalog_submissions (skill_name, id);
CREATE INDEX catalog_submissions_state ON catalog_submissions (state, updated, id);
CREATE INDEX catalog_submissions_repo_url ON catalog_submissions (repo_url, updated, id);
CREATE VIRTUAL TABLE catalog_submissions_terms
    USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');

CREATE TABLE catalog_skills (
    number    INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    tier      TEXT NOT NULL,
    category  TEXT NOT NULL,
    publisher TEXT NOT NULL,
    updated   INTEGER NOT NULL,
    score     INTEGER NOT NULL,
    name      TEXT NOT NULL,
    terms     TEXT NOT NULL,
    row       BLOB NOT NULL
) STRICT;
CREATE INDEX catalog_skills_updated ON catalog_skills (updated, id);
CREATE INDEX catalog_skills_score ON catalog_skills (score, id);
CREATE INDEX catalog_skills_name ON catalog_skills (name, id);
CREATE INDEX catalog_skills_tier ON catalog_skills (tier, updated, id);
CREATE INDEX catalog_skills_category ON catalog_skills (category, updated, id);
CREATE INDEX catalog_skills_publisher ON catalog_skills (publisher, updated, id);
CREATE VIRTUAL TABLE catalog_skills_terms
    USING fts5 (terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii');
