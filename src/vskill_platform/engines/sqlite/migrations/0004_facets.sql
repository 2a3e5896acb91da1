-- What documents are since this version found, counted and ordered by. Those that are there are kept as they are; the records
-- say the rest when the catalog is next held against them.
ALTER TABLE catalog_submissions ADD COLUMN verdict TEXT NOT NULL DEFAULT '';
ALTER TABLE catalog_submissions ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;

ALTER TABLE catalog_skills ADD COLUMN capability TEXT NOT NULL DEFAULT '[]';
ALTER TABLE catalog_skills ADD COLUMN published INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalog_skills ADD COLUMN installs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE catalog_skills ADD COLUMN weight INTEGER NOT NULL DEFAULT 0;
