-- +goose Up
-- Where the ledger has come from, or has gone to: one row, or none where it began here.
CREATE TABLE moved (
	one   BIGINT PRIMARY KEY CHECK (one = 1),
	id    TEXT NOT NULL,   -- of the move
	place TEXT NOT NULL,   -- where from, or where to
	away  BOOLEAN NOT NULL, -- true: it is not here any more, and nothing opens it
	at    TEXT NOT NULL
);
