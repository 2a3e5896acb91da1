-- least code: 1

-- The moments of takes that count. What was taken may be forgotten in a crash, so it is not worth a log.
CREATE UNLOGGED TABLE taken (
    window_ms double precision NOT NULL,
    until_ms  bigint NOT NULL,
    key       text COLLATE "C" NOT NULL,
    moments   bigint[] NOT NULL,
    PRIMARY KEY (key, window_ms)
) WITH (fillfactor = 50);
CREATE INDEX taken_until ON taken (until_ms);

-- Take one, unless as many as may be were taken within the window. Whoever takes the same key waits for the one before him.
CREATE FUNCTION take_one(
    asked_ms bigint, asked_key text, asked_window_ms double precision, most integer,
    OUT allowed boolean, OUT remaining integer, OUT retry_after_ms double precision
) LANGUAGE plpgsql AS $$
DECLARE
    now_ms bigint;
    counted bigint[];
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    LOOP
        SELECT moments INTO counted FROM taken WHERE key = asked_key AND window_ms = asked_window_ms FOR UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO taken VALUES (asked_window_ms, moment(asked_ms), asked_key, '{}') ON CONFLICT DO NOTHING;
    END LOOP;
    now_ms := moment(asked_ms);
    counted := ARRAY(SELECT one FROM unnest(counted) AS one WHERE one + asked_window_ms > now_ms ORDER BY one);
    allowed := cardinality(counted) < most;
    IF allowed THEN counted := counted || now_ms; END IF;
    UPDATE taken SET moments = counted, until_ms = (now_ms + least(asked_window_ms, 1e15))::bigint
    WHERE key = asked_key AND window_ms = asked_window_ms;
    remaining := greatest(most - cardinality(counted), 0);
    -- With as many in the window as may be, one more is allowed when the oldest of the last so many leaves it.
    retry_after_ms := CASE WHEN remaining > 0 THEN 0
                           ELSE counted[cardinality(counted) - most + 1] + asked_window_ms - now_ms END;
END
$$;
