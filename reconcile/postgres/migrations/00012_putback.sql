-- +goose Up
-- The release before writes to these tables meanwhile: whoever has its lock is waited for here.
SELECT pg_advisory_xact_lock(1398230092);

-- One row from when it is seen that the database was put back to an earlier time, until git was looked at
-- after that: no write is made of what is on record meanwhile. The mark is random, because a server that
-- is put back once more gives numbers again; it is never 0.
CREATE TABLE put_back (
    one  BIGINT PRIMARY KEY CHECK (one = 1),
    mark BIGINT NOT NULL CHECK (mark <> 0)
);

CREATE TRIGGER said_put_back AFTER INSERT OR UPDATE OR DELETE ON put_back FOR EACH ROW EXECUTE FUNCTION say();
