-- Filtering, counting and ordering are done by columns in memory, which learn here what has changed since they were made. Triggers
-- write it down, so that nothing that changes a document can forget to. The last 100,000 changes are kept; columns that are
-- older than those are made anew.
CREATE TABLE catalog_submissions_changes (
    sequence INTEGER PRIMARY KEY, number INTEGER NOT NULL, has_terms INTEGER NOT NULL
) STRICT;
CREATE TRIGGER catalog_submissions_added AFTER INSERT ON catalog_submissions BEGIN
    INSERT INTO catalog_submissions_changes (number, has_terms) VALUES (NEW.number, 1);
END;
CREATE TRIGGER catalog_submissions_changed AFTER UPDATE ON catalog_submissions BEGIN
    INSERT INTO catalog_submissions_changes (number, has_terms) VALUES (NEW.number, NEW.terms IS NOT OLD.terms);
END;
CREATE TRIGGER catalog_submissions_removed AFTER DELETE ON catalog_submissions BEGIN
    INSERT INTO catalog_submissions_changes (number, has_terms) VALUES (OLD.number, 1);
END;
CREATE TRIGGER catalog_submissions_forgotten AFTER INSERT ON catalog_submissions_changes BEGIN
    DELETE FROM catalog_submissions_changes WHERE sequence = NEW.sequence - 100000;
END;

CREATE TABLE catalog_skills_changes (
    sequence INTEGER PRIMARY KEY, number INTEGER NOT NULL, has_terms INTEGER NOT NULL
) STRICT;
CREATE TRIGGER catalog_skills_added AFTER INSERT ON catalog_skills BEGIN
    INSERT INTO catalog_skills_changes (number, has_terms) VALUES (NEW.number, 1);
END;
CREATE TRIGGER catalog_skills_changed AFTER UPDATE ON catalog_skills BEGIN
    INSERT INTO catalog_skills_changes (number, has_terms) VALUES (NEW.number, NEW.terms IS NOT OLD.terms);
END;
CREATE TRIGGER catalog_skills_removed AFTER DELETE ON catalog_skills BEGIN
    INSERT INTO catalog_skills_changes (number, has_terms) VALUES (OLD.number, 1);
END;
CREATE TRIGGER catalog_skills_forgotten AFTER INSERT ON catalog_skills_changes BEGIN
    DELETE FROM catalog_skills_changes WHERE sequence = NEW.sequence - 100000;
END;

-- The words that a misspelt one may stand for. A word that no document has any more does no harm.
CREATE TABLE catalog_skills_words (word TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

DROP INDEX catalog_submissions_updated;
DROP INDEX catalog_submissions_created;
DROP INDEX catalog_submissions_skill_name;
DROP INDEX catalog_submissions_state;
DROP INDEX catalog_submissions_repo_url;
DROP INDEX catalog_skills_updated;
DROP INDEX catalog_skills_score;
DROP INDEX catalog_skills_name;
DROP INDEX catalog_skills_tier;
DROP INDEX catalog_skills_category;
DROP INDEX catalog_skills_publisher;

-- In which form the documents are; those of the versions before are in form 0.
INSERT INTO sequence VALUES ('catalog form', 0);
