-- +goose Up
-- The processes that write to zones, and by which claims count: one that has not beaten for long has
-- ended, or is stopped. By the clock of this server.
CREATE TABLE process (
	place BIGINT PRIMARY KEY,  -- random; a claim has it
	pid   BIGINT NOT NULL,
	host  TEXT NOT NULL,       -- for people
	beat  TIMESTAMPTZ NOT NULL
);
