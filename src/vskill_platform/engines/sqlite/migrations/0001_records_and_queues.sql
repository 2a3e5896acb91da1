CREATE TABLE sequence (name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT;
INSERT INTO sequence VALUES ('commit', 0);

CREATE TABLE kv (
    number     INTEGER PRIMARY KEY,
    key        TEXT NOT NULL UNIQUE,
    version    INTEGER NOT NULL,
    expires_ms INTEGER,
    due_ms     INTEGER,
    value      BLOB NOT NULL
) STRICT;
CREATE INDEX kv_due ON kv (due_ms, key) WHERE due_ms IS NOT NULL;
CREATE INDEX kv_expires ON kv (expires_ms, key) WHERE expires_ms IS NOT NULL;

CREATE TABLE commits (id TEXT PRIMARY KEY, version INTEGER NOT NULL, at_ms INTEGER NOT NULL) STRICT;
CREATE INDEX commits_at ON commits (at_ms);

-- status: 0 waiting, 1 delayed until at_ms, 2 leased until at_ms, 3 dead
CREATE TABLE message (
    number   INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    queue    TEXT NOT NULL,
    status   INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    token    INTEGER NOT NULL DEFAULT 0, -- of the present delivery; from the commit sequence, so never given twice
    suspect  INTEGER NOT NULL DEFAULT 0,
    sent_ms  INTEGER NOT NULL,
    error    TEXT,
    body     BLOB NOT NULL
) STRICT;
CREATE INDEX message_waiting ON message (queue, priority DESC, number) WHERE status = 0;
CREATE INDEX message_timed ON message (at_ms, queue) WHERE status IN (1, 2);
CREATE INDEX message_dead ON message (queue, number) WHERE status = 3;
