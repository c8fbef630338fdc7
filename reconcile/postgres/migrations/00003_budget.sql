-- +goose Up
-- What counts against the quota of each credential, for all processes. A credential is in it as a
-- keyed hash, whose key is made here: the row says nothing to who does not have both.
CREATE TABLE budget_key (
	one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one), -- there is one row
	key BYTEA NOT NULL
);
INSERT INTO budget_key (key) VALUES (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));

CREATE TABLE budget (
	credential TEXT PRIMARY KEY,
	counts     TEXT NOT NULL,       -- the window, JSON; its times are by the clock of this server
	ends       TIMESTAMPTZ NOT NULL -- when nothing of it counts any more
);
