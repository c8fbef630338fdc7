-- What a declaration owned in a deployment when both were last proved to agree.
-- A member that is in here and no longer declared was ours, and may be removed.
CREATE TABLE applied (
	zone_id    TEXT NOT NULL,
	ruleset_id TEXT NOT NULL,  -- the managed ruleset
	members    TEXT NOT NULL,  -- JSON: an array of the paths of members, as in diff.Member
	"commit"   TEXT NOT NULL,  -- the commit that first owned exactly these
	PRIMARY KEY (zone_id, ruleset_id)
) STRICT, WITHOUT ROWID;

-- Changes that were written and that the platform did not keep. They are not
-- sent again while declaration and live state stay the same.
CREATE TABLE nonconvergent (
	zone_id     TEXT NOT NULL,
	ruleset_id  TEXT NOT NULL,
	fingerprint TEXT NOT NULL, -- of the change, as in diff.Change.Fingerprint
	since       TEXT,          -- when this change was first not kept
	PRIMARY KEY (zone_id, ruleset_id)
) STRICT, WITHOUT ROWID;

-- The accepted commit: one row, or none before the first.
CREATE TABLE accepted (
	one         INTEGER PRIMARY KEY CHECK (one = 1),
	"commit"    TEXT NOT NULL,    -- empty for a folder that is not git
	zones       INTEGER NOT NULL, -- how many zones it declares
	deployments INTEGER NOT NULL, -- and how many deployments
	at          TEXT              -- when it was accepted
) STRICT;

PRAGMA application_id = 1398230092;
PRAGMA user_version = 1;

INSERT INTO applied VALUES ('zone-1', 'ruleset', '["a","b"]', 'c1');
INSERT INTO nonconvergent VALUES ('zone-2', 'ruleset', 'f', '2026-03-01T11:00:00Z');
INSERT INTO accepted VALUES (1, 'c1', 3, 4, NULL);
