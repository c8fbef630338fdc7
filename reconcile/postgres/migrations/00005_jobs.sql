-- +goose Up
-- What replicas tell each other: reconcile/jobs says how. Where it is lost, pull requests are planned
-- again, and approvers that are configured by a name are looked up again.
CREATE TABLE poke (
    subject TEXT COLLATE "C" PRIMARY KEY,
    number  BIGINT NOT NULL UNIQUE,  -- the highest of all when it was poked last
    body    TEXT,                    -- what is to be known of it; NULL: it is only a poke
    at      TIMESTAMPTZ NOT NULL
);

-- The one row has the highest number. Who pokes locks it until the transaction ends, so numbers are
-- seen in their order: who has seen one has seen all lower ones.
CREATE TABLE poke_number (
    one    BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    number BIGINT NOT NULL
);
INSERT INTO poke_number (number) VALUES (0);
