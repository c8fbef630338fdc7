-- +goose Up
-- The release before writes to these tables meanwhile: whoever has its lock is waited for here, before a
-- table is locked that it goes on to.
SELECT pg_advisory_xact_lock(1398230092);

-- Which zones something on record has changed of, so that a process which has read all of it once reads
-- what is new alone. Whoever changes a row has the lock of those who write to the ledger, or takes it
-- here: so the numbers are seen in their order, and who has seen one has seen all lower ones. The mark
-- is random, because a server that was put back gives numbers again.
CREATE TABLE zone_change (
    number  BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    mark    BIGINT NOT NULL,
    zone_id TEXT COLLATE "C" NOT NULL
);

-- Whoever has not looked for so many changes reads everything.
-- +goose StatementBegin
CREATE FUNCTION note_zone() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	last bigint;
BEGIN
	PERFORM pg_advisory_xact_lock(1398230092);
	IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' AND NEW.zone_id <> OLD.zone_id THEN
		INSERT INTO zone_change (mark, zone_id) VALUES (hashtextextended(gen_random_uuid()::text, 0), OLD.zone_id) RETURNING number INTO last;
	END IF;
	IF TG_OP <> 'DELETE' THEN
		INSERT INTO zone_change (mark, zone_id) VALUES (hashtextextended(gen_random_uuid()::text, 0), NEW.zone_id) RETURNING number INTO last;
	END IF;
	IF last % 1000 = 0 THEN
		DELETE FROM zone_change WHERE number <= last - 100000;
	END IF;
	RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER changed_applied AFTER INSERT OR UPDATE OR DELETE ON applied FOR EACH ROW EXECUTE FUNCTION note_zone();
CREATE TRIGGER changed_nonconvergent AFTER INSERT OR UPDATE OR DELETE ON nonconvergent FOR EACH ROW EXECUTE FUNCTION note_zone();
CREATE TRIGGER changed_proved AFTER INSERT OR UPDATE OR DELETE ON proved FOR EACH ROW EXECUTE FUNCTION note_zone();

-- What was emptied at once tells of no zone: everything is read again.
-- +goose StatementBegin
CREATE FUNCTION forget_zone_changes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM zone_change;
	RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER emptied_applied AFTER TRUNCATE ON applied FOR EACH STATEMENT EXECUTE FUNCTION forget_zone_changes();
CREATE TRIGGER emptied_nonconvergent AFTER TRUNCATE ON nonconvergent FOR EACH STATEMENT EXECUTE FUNCTION forget_zone_changes();
CREATE TRIGGER emptied_proved AFTER TRUNCATE ON proved FOR EACH STATEMENT EXECUTE FUNCTION forget_zone_changes();

-- Who waits for news of this channel looks at once, and not only with the next turn. It is a hint: no
-- one rests on it, and behind a pooler no one hears it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION say() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
	last bigint;
BEGIN
	PERFORM pg_advisory_xact_lock(1398230092);
	INSERT INTO said_change (version) VALUES (hashtextextended(gen_random_uuid()::text, 0)) RETURNING number INTO last;
	IF last % 1000 = 0 THEN
		DELETE FROM said_change WHERE number < last;
	END IF;
	PERFORM pg_notify('seawall', '');
	RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION hint() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_notify('seawall', '');
	RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER hint_state AFTER UPDATE OF state ON accepted FOR EACH ROW EXECUTE FUNCTION hint();
CREATE TRIGGER hint_poke AFTER INSERT OR UPDATE ON poke FOR EACH ROW EXECUTE FUNCTION hint();
