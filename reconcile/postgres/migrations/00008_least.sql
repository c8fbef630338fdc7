-- +goose Up
-- Which step a program must know to work with these tables. Most steps only add something, and
-- programs of the release before go on beside the new ones. One that takes away what the release
-- before does not use any more sets this to the last step that this release knows.
CREATE TABLE seawall_schema_least (
    one  BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    step BIGINT NOT NULL
);
INSERT INTO seawall_schema_least (step) VALUES (0);
