package ledger

// version4 is for change control: what people said to runs, and how far a commit
// has come through the waves.
const version4 = `
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
`
