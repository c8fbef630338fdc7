-- +goose Up
-- A row of the tally may be all that a commit changes, as the process has counted it that decides about
-- commits: its zones, and whether that weakens. Then it is of no zone.
ALTER TABLE tally ADD COLUMN whole TEXT COLLATE "C";
