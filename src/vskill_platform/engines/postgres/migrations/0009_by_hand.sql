-- least code: 1

-- What operators do to messages becomes part of commits: the function of step 3 with three kinds more.

-- Commits and pulls of many callers in one transaction and one round trip.
--
-- Every key, message and document that is judged or written is locked before anything is read, in the order of the locks,
-- so batches that share none run side by side and those that share some cannot deadlock. Each commit is judged whole before
-- any of it is written, so one that fails leaves no trace and needs no savepoint.
--
-- kinds: 0 Put, 1 Delete, 2 Check, 3 Add, 4 Send, 5 Ack, 6 Retry, 7 Release, 8 Bury, 9 CheckIdle, 10 CheckLease,
-- 11 CheckStatus, 12 Index, 13 Unindex, 14 Emit, 15 a fault that the caller found, 16 to 18 Restore of a key, a message, an event,
-- 19 Requeue, 20 DropMessage, 21 Reprioritise.
-- faults: 0 none, 1 version, 2 lease, 3 message exists, 4 message leased, 5 message has another status, 6 no plain counter,
-- 7 the log has later events.
CREATE OR REPLACE FUNCTION apply_batch(
    lane_id uuid, batch_number bigint, asked_ms bigint, max_attempts integer, takes_all boolean,
    locks bigint[], message_ids text[],
    commit_ids text[], commit_sizes integer[],
    kinds smallint[], names text[], numbers bigint[], times bigint[], dues bigint[], texts text[], contents bytea[],
    pull_queues text[], pull_mosts integer[], pull_leases bigint[], lapsed_error text,
    OUT versions bigint[], OUT faults smallint[], OUT fault_places integer[], OUT fault_details bigint[],
    OUT last_event bigint, OUT tokens bigint[],
    OUT pulled_by integer[], OUT pulled_ids text[], OUT pulled_bodies bytea[], OUT pulled_attempts integer[],
    OUT pulled_suspects boolean[], OUT pulled_priorities bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    now_ms bigint;
    past integer := 0;
    place integer;
    kind smallint;
    name text;
    detail bigint;
    fault smallint;
    version bigint;
    old_value bytea;
    event_places integer[] := '{}';
    picked bigint[];
    picked_suspects boolean[];
    stop_at integer;
    until_ms bigint;
BEGIN
    versions := '{}'; faults := '{}'; fault_places := '{}'; fault_details := '{}'; tokens := '{}';
    pulled_by := '{}'; pulled_ids := '{}'; pulled_bodies := '{}'; pulled_attempts := '{}';
    pulled_suspects := '{}'; pulled_priorities := '{}';

    IF takes_all THEN
        PERFORM pg_advisory_xact_lock(0);
    ELSIF cardinality(locks) > 0 THEN
        PERFORM pg_advisory_xact_lock_shared(0);
        PERFORM pg_advisory_xact_lock(one) FROM unnest(locks) AS one;
    END IF;
    IF cardinality(message_ids) > 0 THEN
        PERFORM 1 FROM message WHERE id = ANY (message_ids) ORDER BY id FOR UPDATE;
    END IF;
    now_ms := moment(asked_ms);

    FOR c IN 1 .. cardinality(commit_sizes) LOOP
        fault := 0; detail := NULL; place := NULL;
        IF commit_ids[c] IS NOT NULL THEN
            SELECT known.version INTO version FROM commits AS known WHERE known.id = commit_ids[c];
            IF FOUND THEN
                versions[c] := version; faults[c] := 0; fault_places[c] := NULL; fault_details[c] := NULL;
                past := past + commit_sizes[c];
                CONTINUE;
            END IF;
        END IF;

        FOR i IN past + 1 .. past + commit_sizes[c] LOOP
            kind := kinds[i];
            CONTINUE WHEN kind > 11 AND kind < 15 OR kind = 16 OR kind < 2 AND numbers[i] IS NULL;
            name := names[i];
            IF kind < 3 THEN
                SELECT kv.version INTO detail FROM kv
                WHERE key = name AND (expires_ms IS NULL OR expires_ms > now_ms);
                detail := coalesce(detail, 0);
                IF detail <> numbers[i] THEN fault := 1; END IF;
            ELSIF kind = 3 THEN
                SELECT kv.value INTO old_value FROM kv WHERE key = name AND (expires_ms IS NULL OR expires_ms > now_ms);
                IF FOUND AND NOT is_plain_counter(old_value) THEN fault := 6; END IF;
            ELSIF kind = 4 OR kind = 17 THEN
                PERFORM 1 FROM message WHERE id = name;
                IF FOUND THEN fault := 3; END IF;
            ELSIF kind < 9 OR kind = 10 THEN
                PERFORM 1 FROM message WHERE id = name AND token = numbers[i] AND status = 2 AND at_ms > now_ms;
                IF NOT FOUND THEN fault := 2; END IF;
            ELSIF kind = 9 THEN
                PERFORM 1 FROM message WHERE id = name AND status = 2 AND at_ms > now_ms;
                IF FOUND THEN fault := 4; END IF;
            ELSIF kind = 11 OR kind > 18 THEN
                SELECT CASE WHEN status IN (1, 2) AND at_ms <= now_ms
                            THEN CASE WHEN status = 2 AND attempts >= max_attempts THEN 3 ELSE 0 END
                            ELSE status END
                INTO detail FROM message WHERE id = name;
                detail := coalesce(detail, 4);
                IF kind = 11 AND detail <> numbers[i]
                   OR kind = 19 AND detail NOT IN (1, 3)
                   OR kind > 19 AND detail IN (2, 4) THEN fault := 5; END IF;
            ELSIF kind = 18 THEN
                PERFORM pg_advisory_xact_lock(1);
                PERFORM 1 FROM event WHERE sequence >= numbers[i];
                IF FOUND THEN fault := 7; END IF;
            ELSE
                fault := numbers[i];
            END IF;
            IF fault <> 0 THEN
                place := i - past;
                EXIT;
            END IF;
        END LOOP;

        faults[c] := fault; fault_places[c] := place; fault_details[c] := detail;
        IF fault <> 0 THEN
            versions[c] := NULL;
            past := past + commit_sizes[c];
            CONTINUE;
        END IF;

        version := nextval('commit_number');
        versions[c] := version;
        FOR i IN past + 1 .. past + commit_sizes[c] LOOP
            kind := kinds[i];
            name := names[i];
            IF kind = 0 THEN
                INSERT INTO kv (key, version, expires_ms, due_ms, value)
                VALUES (name, version, now_ms + times[i], dues[i], contents[i])
                ON CONFLICT (key) DO UPDATE SET
                    version = excluded.version, expires_ms = excluded.expires_ms, due_ms = excluded.due_ms,
                    value = excluded.value;
            ELSIF kind = 14 THEN
                event_places := event_places || i;
            ELSIF kind = 5 THEN
                DELETE FROM message WHERE id = name;
            ELSIF kind = 4 THEN
                INSERT INTO message (id, queue, status, at_ms, priority, sent_ms, body)
                VALUES (name, texts[i], CASE WHEN times[i] > 0 THEN 1 ELSE 0 END, now_ms + times[i], numbers[i], now_ms,
                        contents[i]);
            ELSIF kind = 12 THEN
                PERFORM index_document(split_part(texts[i], ' ', 1), name, substr(texts[i], strpos(texts[i], ' '))::jsonb, contents[i]);
            ELSIF kind = 3 THEN
                INSERT INTO kv AS old (key, version, expires_ms, due_ms, value)
                VALUES (name, version, now_ms + times[i], NULL, add_to_counter(NULL, texts[i]))
                ON CONFLICT (key) DO UPDATE SET
                    version = excluded.version, expires_ms = excluded.expires_ms, due_ms = NULL,
                    value = CASE WHEN old.expires_ms <= now_ms THEN excluded.value
                                 ELSE add_to_counter(old.value, texts[i]) END;
            ELSIF kind = 1 THEN
                DELETE FROM kv WHERE key = name;
            ELSIF kind = 6 THEN
                UPDATE message SET
                    status = CASE WHEN attempts >= max_attempts THEN 3 WHEN times[i] > 0 THEN 1 ELSE 0 END,
                    at_ms = now_ms + times[i], suspect = false, error = texts[i]
                WHERE id = name;
            ELSIF kind = 7 THEN
                UPDATE message SET
                    status = CASE WHEN times[i] > 0 THEN 1 ELSE 0 END, at_ms = now_ms + times[i], attempts = attempts - 1
                WHERE id = name;
            ELSIF kind = 8 THEN
                UPDATE message SET status = 3, error = texts[i] WHERE id = name;
            ELSIF kind = 13 THEN
                PERFORM unindex_document(texts[i], name);
            ELSIF kind = 16 THEN
                INSERT INTO kv (key, version, expires_ms, due_ms, value)
                VALUES (name, version, times[i], dues[i], contents[i])
                ON CONFLICT (key) DO UPDATE SET
                    version = excluded.version, expires_ms = excluded.expires_ms, due_ms = excluded.due_ms,
                    value = excluded.value;
            ELSIF kind = 17 THEN
                PERFORM restore_message(name, texts[i]::jsonb, contents[i]);
            ELSIF kind = 18 THEN
                PERFORM restore_event(numbers[i], times[i], texts[i], name, contents[i]);
                last_event := numbers[i];
            ELSIF kind = 19 THEN
                UPDATE message SET
                    status = 0, at_ms = now_ms, attempts = 0, suspect = false,
                    error = CASE WHEN status = 2 THEN lapsed_error ELSE error END
                WHERE id = name;
            ELSIF kind = 20 THEN
                DELETE FROM message WHERE id = name
                RETURNING convert_to('{"queue":' || to_json(queue)::text || ',"reason":' || texts[i] || '}', 'UTF8')
                INTO old_value;
                contents[i] := old_value; texts[i] := 'message.dropped';
                event_places := event_places || i;
            ELSIF kind = 21 THEN
                UPDATE message SET priority = numbers[i] WHERE id = name;
            END IF;
        END LOOP;
        IF commit_ids[c] IS NOT NULL THEN
            INSERT INTO commits (id, version, at_ms) VALUES (commit_ids[c], version, now_ms);
        END IF;
        past := past + commit_sizes[c];
    END LOOP;

    FOR p IN 1 .. cardinality(pull_queues) LOOP
        tokens[p] := NULL;
        CONTINUE WHEN pull_mosts[p] = 0;
        PERFORM 1 FROM message WHERE queue = pull_queues[p] AND status IN (1, 2) AND at_ms <= now_ms LIMIT 1;
        IF FOUND THEN
            PERFORM end_timers(pull_queues[p], now_ms, max_attempts, lapsed_error);
        END IF;
        SELECT array_agg(number), array_agg(suspect) INTO picked, picked_suspects FROM (
            SELECT number, suspect FROM message
            WHERE queue = pull_queues[p] AND status = 0 ORDER BY priority DESC, number LIMIT pull_mosts[p]
            FOR UPDATE SKIP LOCKED
        ) AS first_in_line;
        CONTINUE WHEN picked IS NULL;
        -- A suspect comes alone: the batch ends before the first one, unless it is the first.
        stop_at := array_position(picked_suspects, true);
        IF stop_at IS NOT NULL THEN picked := picked[1 : greatest(stop_at - 1, 1)]; END IF;
        tokens[p] := nextval('commit_number');
        until_ms := now_ms + pull_leases[p];
        WITH leased AS (
            UPDATE message SET status = 2, at_ms = until_ms, attempts = attempts + 1, token = tokens[p]
            WHERE number = ANY (picked) RETURNING number, id, body, attempts, suspect, priority
        )
        SELECT pulled_by || array_agg(p), pulled_ids || array_agg(id), pulled_bodies || array_agg(body),
               pulled_attempts || array_agg(attempts), pulled_suspects || array_agg(suspect),
               pulled_priorities || array_agg(priority)
        INTO pulled_by, pulled_ids, pulled_bodies, pulled_attempts, pulled_suspects, pulled_priorities
        FROM (SELECT * FROM leased ORDER BY priority DESC, number) AS in_order;
    END LOOP;

    -- Numbers of events are given last and one batch at a time until it is committed, so that whoever has seen one has
    -- seen, or can see, every lower one that there will ever be.
    IF cardinality(event_places) > 0 THEN
        PERFORM pg_advisory_xact_lock(1);
        INSERT INTO event (at_ms, kind, subject, data)
        SELECT now_ms, texts[spot], names[spot], contents[spot] FROM unnest(event_places) AS spot;
        last_event := lastval();
    END IF;

    UPDATE lane SET batch = batch_number, at_ms = now_ms, outcome = jsonb_build_object(
        'versions', versions, 'faults', faults, 'fault_places', fault_places, 'fault_details', fault_details,
        'last_event', last_event, 'tokens', tokens
    ) WHERE id = lane_id AND batch = batch_number - 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the lane has moved on' USING ERRCODE = 'VS001';
    END IF;
END
$$;
