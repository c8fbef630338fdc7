-- +goose Up
-- Which process does what: reconcile/lease has the protocol.
CREATE TABLE lease (
    name       TEXT PRIMARY KEY,
    replica    TEXT NOT NULL,        -- has it, or has had it last
    epoch      BIGINT NOT NULL,      -- one more with each that gets it; never less
    since      TIMESTAMPTZ NOT NULL, -- got
    expires_at TIMESTAMPTZ NOT NULL, -- unless renewed; or given up then
    given_up   BOOLEAN NOT NULL,     -- in good order: nothing is on its way
    -- A change of the epoch, and no other change of the row, waits for those who lock it FOR KEY
    -- SHARE, as work that is put on record does. So renewing and writing never wait for each other.
    UNIQUE (name, epoch)
);

-- The processes that run, for people and for spreading the leases over them.
CREATE TABLE replica (
    name       TEXT PRIMARY KEY,
    version    TEXT NOT NULL,        -- of the program
    started_at TIMESTAMPTZ NOT NULL,
    expires_at TIMESTAMPTZ NOT NULL  -- not seen since, by then
);

-- The one move of a lease, in the one row of the table. It is over with its time, and once the lease
-- has another epoch.
CREATE TABLE lease_move (
    one     BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    lease   TEXT NOT NULL,
    epoch   BIGINT NOT NULL,
    replica TEXT NOT NULL,           -- is to get it
    until   TIMESTAMPTZ NOT NULL
);
INSERT INTO lease_move (lease, epoch, replica, until) VALUES ('', 0, '', '-infinity');
