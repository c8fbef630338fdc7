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

-- Attempts to create a token. There is one row for each POST that was sent or
-- was about to be; a refusal that is certain removes it.
CREATE TABLE token (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which attempts began
	intent    TEXT NOT NULL UNIQUE CHECK (intent <> ''),
	key       TEXT NOT NULL,    -- of the declaration; a replaced token has the key of its successor
	state     TEXT NOT NULL CHECK (state IN ('intended', 'confirmed', 'quarantined')),
	id        TEXT CHECK (id <> ''), -- the platform's
	spec      TEXT NOT NULL,    -- JSON: the body that was sent, as edge.TokenSpec; it holds no secret
	hash      TEXT NOT NULL,    -- of spec, as in diff.TokenRecord
	sink_name TEXT,             -- where the secret goes; both or neither
	sink_key  TEXT,
	delivered INTEGER NOT NULL DEFAULT 0 CHECK (delivered IN (0, 1)),
	reason    TEXT NOT NULL DEFAULT '', -- why the outcome is, or was, unknown
	at        TEXT,             -- when the attempt began
	CHECK ((state = 'confirmed') = (id IS NOT NULL)),
	CHECK (state = 'confirmed' OR NOT delivered),
	CHECK ((sink_name IS NULL) = (sink_key IS NULL))
) STRICT;

CREATE INDEX token_key ON token (key);

-- Secrets of confirmed tokens that are not delivered yet.
CREATE TABLE sealed (
	intent TEXT PRIMARY KEY REFERENCES token (intent) ON DELETE CASCADE,
	copy   BLOB NOT NULL        -- an age file; inside it the intent, a line feed, the secret
) STRICT;

-- A person's word that the rows of token are all there are: one row, or none
-- before the first. It speaks of one platform and one repository.
CREATE TABLE completeness (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	platform   TEXT NOT NULL,    -- SHA-256 of its base URL, hexadecimal
	repository TEXT NOT NULL,    -- SHA-256 of its URL, hexadecimal
	serial     TEXT NOT NULL,    -- random; another with each word that is given
	generation INTEGER NOT NULL, -- grows with each row that token gets; the mark beside the ledger knows it too
	at         TEXT              -- when the word was given
) STRICT;

ALTER TABLE token ADD COLUMN prune INTEGER NOT NULL DEFAULT 0 CHECK (prune IN (0, 1));
ALTER TABLE accepted ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;

-- Zones that a person holds. A row whose time is over counts for nothing.
CREATE TABLE hold (
	zone   TEXT PRIMARY KEY,  -- the key of the zone in the repository
	reason TEXT NOT NULL,
	until  TEXT NOT NULL,
	who    TEXT NOT NULL,
	at     TEXT               -- when it was said
) STRICT, WITHOUT ROWID;

-- What people agreed to. Rows are kept after they were spent: who let what pass,
-- and when.
CREATE TABLE approval (
	seq    INTEGER PRIMARY KEY AUTOINCREMENT,
	digest TEXT NOT NULL CHECK (digest <> ''), -- as in diff.Facts.Approved; or what was overridden
	kind   TEXT NOT NULL CHECK (kind IN ('approval', 'override')),
	who    TEXT NOT NULL,
	reason TEXT NOT NULL,
	at     TEXT,              -- when it was said
	counts INTEGER NOT NULL CHECK (counts IN (0, 1)), -- 0: spent
	spent  TEXT               -- when it was
) STRICT;

CREATE UNIQUE INDEX approval_counts ON approval (digest) WHERE counts;

-- The commit that goes through the waves, or went through them last: one row, or
-- none before the first.
CREATE TABLE rollout (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	"commit" TEXT NOT NULL,
	wave     INTEGER NOT NULL, -- the one that is open; 0 once the commit is through
	since    TEXT,             -- when all of its zones were done
	halted   TEXT NOT NULL     -- why nothing goes on; empty where it does
) STRICT;

-- Its zones.
CREATE TABLE wave (
	zone_id TEXT PRIMARY KEY,
	wave    INTEGER NOT NULL CHECK (wave > 0),
	outcome TEXT NOT NULL CHECK (outcome IN ('', 'done', 'skipped', 'failed', 'nonconvergent', 'accepted'))
) STRICT, WITHOUT ROWID;

PRAGMA application_id = 1398230092;
PRAGMA user_version = 4;

INSERT INTO applied VALUES ('zone-1', 'ruleset', '["a","b"]', 'c1');
INSERT INTO nonconvergent VALUES ('zone-2', 'ruleset', 'f', '2026-03-01T11:00:00Z');
INSERT INTO accepted VALUES (1, 'c1', 3, 4, '2026-03-01T11:00:00Z', 1);
INSERT INTO hold VALUES ('shop', 'INC-1', '2026-03-01T12:00:00Z', 'kim', '2026-03-01T11:00:00Z');
INSERT INTO approval VALUES (1, 'd', 'approval', 'kim', 'because', '2026-03-01T11:00:00Z', 1, NULL);
INSERT INTO rollout VALUES (1, 'c1', 1, NULL, '');
INSERT INTO wave VALUES ('zone-1', 1, 'done'), ('zone-2', 2, '');
