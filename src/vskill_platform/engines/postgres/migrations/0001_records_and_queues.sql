-- least code: 1

-- Versions of commits and tokens of leases: one sequence, so that no number is ever given twice.
CREATE SEQUENCE commit_number;

CREATE TABLE kv (
    version    bigint NOT NULL,
    expires_ms bigint,
    due_ms     bigint,
    key        text COLLATE "C" PRIMARY KEY,
    value      bytea NOT NULL
);
CREATE INDEX kv_due ON kv (due_ms, key) WHERE due_ms IS NOT NULL;
CREATE INDEX kv_expires ON kv (expires_ms, key) WHERE expires_ms IS NOT NULL;

CREATE TABLE commits (
    version bigint NOT NULL,
    at_ms   bigint NOT NULL,
    id      text COLLATE "C" PRIMARY KEY
);
CREATE INDEX commits_at ON commits (at_ms);

-- status: 0 waiting, 1 delayed until at_ms, 2 leased until at_ms, 3 dead
CREATE TABLE message (
    number   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms    bigint NOT NULL,
    priority bigint NOT NULL,
    token    bigint NOT NULL DEFAULT 0,
    sent_ms  bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0,
    status   smallint NOT NULL,
    suspect  boolean NOT NULL DEFAULT false,
    id       text COLLATE "C" NOT NULL UNIQUE,
    queue    text COLLATE "C" NOT NULL,
    error    text,
    body     bytea NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX message_waiting ON message (queue, priority DESC, number) WHERE status = 0;
CREATE INDEX message_timed ON message (queue, at_ms) WHERE status IN (1, 2);
CREATE INDEX message_dead ON message (queue, number) WHERE status = 3;
CREATE INDEX message_living ON message (queue, number) WHERE status <> 3;

CREATE TABLE event (
    sequence bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at_ms    bigint NOT NULL,
    kind     text NOT NULL,
    subject  text NOT NULL,
    data     bytea NOT NULL
);

-- The highest number of an event that is kept no more; no row before anything was forgotten.
CREATE TABLE event_floor (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    last    bigint NOT NULL
);

-- A lane is one connection that writes. It keeps what its latest batch did, so that the answer can be had again when the
-- connection was lost on the way back.
CREATE TABLE lane (
    id      uuid PRIMARY KEY,
    batch   bigint NOT NULL,
    at_ms   bigint NOT NULL,
    outcome jsonb
) WITH (fillfactor = 50);

-- The time of everything that is kept here, in milliseconds since 1970: the database's own, so that machines need not agree.
-- A test hands in the moment, or moves all moments by the setting.
CREATE FUNCTION moment(asked_ms bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(
        asked_ms,
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint
            + coalesce(nullif(current_setting('vskill.clock_offset_ms', true), ''), '0')::bigint
    )
$$;
