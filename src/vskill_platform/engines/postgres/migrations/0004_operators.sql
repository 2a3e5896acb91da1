-- least code: 1

-- Give live leases a new end. Rows are locked in the order of their ids, as a batch does.
CREATE FUNCTION extend_leases(asked_ms bigint, ids text[], tokens bigint[], lease_ms bigint) RETURNS SETOF boolean
LANGUAGE plpgsql AS $$
DECLARE
    now_ms bigint;
BEGIN
    PERFORM 1 FROM message WHERE id = ANY (ids) ORDER BY id FOR UPDATE;
    now_ms := moment(asked_ms);
    FOR i IN 1 .. cardinality(ids) LOOP
        UPDATE message SET at_ms = now_ms + lease_ms
        WHERE id = ids[i] AND token = tokens[i] AND status = 2 AND at_ms > now_ms;
        RETURN NEXT FOUND;
    END LOOP;
END
$$;

-- Make dead letters and delayed messages deliverable now, attempts from the start. Gives the ids of those that were.
CREATE FUNCTION requeue_messages(asked_ms bigint, max_attempts integer, lapsed_error text, ids text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    now_ms bigint;
BEGIN
    PERFORM 1 FROM message WHERE id = ANY (ids) ORDER BY id FOR UPDATE;
    now_ms := moment(asked_ms);
    RETURN QUERY UPDATE message SET
        status = 0, at_ms = now_ms, attempts = 0, suspect = false,
        error = CASE WHEN status = 2 THEN lapsed_error ELSE error END
    WHERE id = ANY (ids) AND (
        status = 3 OR status = 1 AND at_ms > now_ms OR status = 2 AND at_ms <= now_ms AND attempts >= max_attempts
    ) RETURNING id;
END
$$;

-- Remove messages that are not under a live lease, with an event for each. The reason is JSON. Gives the ids of those that were.
CREATE FUNCTION drop_messages(asked_ms bigint, reason text, ids text[]) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    now_ms bigint;
    gone text[];
    queues text[];
BEGIN
    PERFORM 1 FROM message WHERE id = ANY (ids) ORDER BY id FOR UPDATE;
    now_ms := moment(asked_ms);
    WITH removed AS (
        DELETE FROM message WHERE id = ANY (ids) AND NOT (status = 2 AND at_ms > now_ms) RETURNING id, queue
    )
    SELECT array_agg(id ORDER BY array_position(ids, id)), array_agg(queue ORDER BY array_position(ids, id))
    INTO gone, queues FROM removed;
    IF gone IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(1);
        INSERT INTO event (at_ms, kind, subject, data)
        SELECT now_ms, 'message.dropped', id, convert_to(
            '{"queue":' || to_json(of_queue)::text || ',"reason":' || reason || '}', 'UTF8'
        ) FROM unnest(gone, queues) AS both_of(id, of_queue);
        RETURN QUERY SELECT unnest(gone);
    END IF;
END
$$;
