-- +goose Up
-- The release before writes to these tables meanwhile: whoever has its lock is waited for here.
SELECT pg_advisory_xact_lock(1398230092);

-- One row since it was first seen that the database was put back to an earlier time.
CREATE TABLE put_back (
    one   BIGINT PRIMARY KEY CHECK (one = 1),
    mark  BIGINT NOT NULL, -- random, until git was looked at after that: nothing that is on record is written meanwhile; then 0
    times BIGINT NOT NULL  -- how often it was seen; it only grows, so that a row of an earlier time is told, too
);

CREATE TRIGGER said_put_back AFTER INSERT OR UPDATE OR DELETE ON put_back FOR EACH ROW EXECUTE FUNCTION say();
