package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// applicationID marks a SQLite file as a ledger: "SWLL" (PRAGMA application_id).
const applicationID = 0x53574c4c

// Migrations are the steps to this version of the schema (PRAGMA user_version). The
// first lays out an empty file, as version [FirstVersion]; each that follows takes a file
// one version further. A step that was released is never changed; a change is another
// step.
var Migrations = []string{Version6, Version7, Version8, Version9, Version10, Version11, Version12, Version13, Version14, Version15, Version16, Version17, Version18, Version19, Version20}

// FirstVersion is the lowest that can be brought up to date. Files with a lower one were made
// while Seawall was developed.
const FirstVersion = 6

// SchemaVersion is the version this program reads and writes.
var SchemaVersion = FirstVersion + len(Migrations) - 1

// Version6 is the schema. Three kinds of things are in it: what a daemon must know of
// earlier runs, what people said to it, and what is known of tokens. The reference shows no
// way to read these, so a token that is not in here may still be on the platform: that is
// what completeness is about.
//
// Times are RFC 3339 in UTC, NULL where the ledger had no clock. Those of rows that have
// a commit beside them, and these commits but for the accepted one, are for people: no
// decision rests on them.
const Version6 = `
-- What a declaration owned in a deployment when both were last proved to agree.
-- A member that is in here and no longer declared was ours, and may be removed.
CREATE TABLE applied (
	zone_id    TEXT NOT NULL,
	ruleset_id TEXT NOT NULL,  -- the managed ruleset
	members    TEXT NOT NULL,  -- JSON: an array of the paths of members, as in diff.Member
	"commit"   TEXT NOT NULL,  -- the commit that first owned exactly these; empty: a write is under way
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

-- The declaration of a zone that was last proved to be live. Another fingerprint
-- is the work of a commit, an equal one is drift.
CREATE TABLE proved (
	zone_id     TEXT PRIMARY KEY,
	fingerprint TEXT NOT NULL, -- of the declaration, as in reconcile.Proof
	labels      TEXT NOT NULL, -- JSON: an object of strings
	"commit"    TEXT NOT NULL, -- the commit under which it was first proved
	at          TEXT           -- and when
) STRICT, WITHOUT ROWID;

-- Changes made without a new commit, for as long as they count for limits.
CREATE TABLE drift (
	zone_id TEXT NOT NULL,
	at      TEXT NOT NULL,    -- to the nanosecond, so that text sorts as time does
	weakens INTEGER NOT NULL CHECK (weakens IN (0, 1)),
	PRIMARY KEY (at, zone_id)
) STRICT, WITHOUT ROWID;

-- The accepted commit: one row, or none before the first.
CREATE TABLE accepted (
	one         INTEGER PRIMARY KEY CHECK (one = 1),
	"commit"    TEXT NOT NULL,    -- empty for a folder that is not git
	zones       INTEGER NOT NULL, -- how many zones it declares
	deployments INTEGER NOT NULL, -- and how many deployments
	tokens      INTEGER NOT NULL, -- and how many tokens
	at          TEXT,             -- when it was accepted
	state       BLOB              -- what it declares, as the caller has encoded it, compressed with gzip; NULL: not on record
) STRICT;

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

-- How far the sweep has come: one row, or none before the first.
CREATE TABLE sweep (
	one INTEGER PRIMARY KEY CHECK (one = 1),
	at  TEXT NOT NULL -- each zone whose turn came before was looked at
) STRICT;

-- Attempts to create a token. There is one row for each POST that was sent or
-- was about to be; a refusal that is certain removes it.
CREATE TABLE token (
	seq       INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which attempts began
	intent    TEXT NOT NULL UNIQUE CHECK (intent <> ''),
	key       TEXT NOT NULL,    -- of the declaration; a replaced token has the key of its successor
	state     TEXT NOT NULL CHECK (state IN ('intended', 'confirmed', 'quarantined')),
	id        TEXT CHECK (id <> ''), -- the platform's
	spec      TEXT NOT NULL,    -- JSON: the body that was sent, as edge.TokenSpec: with a computed window and a suffix of the name; it holds no secret
	hash      TEXT NOT NULL,    -- of the specification as declared, as in diff.TokenRecord
	sink_name TEXT,             -- where the secret goes; both or neither
	sink_key  TEXT,
	delivered INTEGER NOT NULL CHECK (delivered IN (0, 1)),
	prune     INTEGER NOT NULL CHECK (prune IN (0, 1)), -- 1: the declaration, when last seen, allows the token to be deleted once nothing declares it
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
`

// Version7 adds the history, who wrote the accepted commit, and holds that a revert sets.
const Version7 = history.Schema + `
ALTER TABLE accepted ADD COLUMN author TEXT NOT NULL DEFAULT ''; -- of the commit, as it says itself; empty: not known

-- Zones that a revert has put back. A row counts while the zone is declared as its
-- fingerprint says, and goes with the commit that declares it otherwise.
CREATE TABLE reverted (
	zone_id     TEXT PRIMARY KEY,
	zone        TEXT NOT NULL,  -- its key in the repository
	declaration TEXT NOT NULL CHECK (declaration <> ''), -- the fingerprint, as in reconcile.Proof
	"commit"    TEXT NOT NULL,  -- that was in force, and declares it so
	reason      TEXT NOT NULL,
	who         TEXT NOT NULL,
	at          TEXT
) STRICT, WITHOUT ROWID;
`

// Version8 says of approvals whether a rollout has begun on them.
const Version8 = `
ALTER TABLE approval ADD COLUMN used INTEGER NOT NULL DEFAULT 0 CHECK (used IN (0, 1)); -- 1: a commit that needs it was accepted, so it does not expire
`

// Version9 says which deployments may be removed.
const Version9 = `
ALTER TABLE applied ADD COLUMN prune TEXT NOT NULL DEFAULT ''; -- JSON: as diff.Prunable, where the declaration that was proved last allows the deployment to be removed once nothing declares it; else empty
`

// Version10 adds the names of zones and accounts that are not found by a declared id,
// what was written because of the accepted commit, and who owns a token.
const Version10 = `
-- Under which name the platform has each zone and account that a commit declares by name,
-- so that names are not asked for again after a restart.
CREATE TABLE name (
	account_id TEXT NOT NULL,  -- of the zone; empty for an account
	key        TEXT NOT NULL,  -- of an account in the repository; empty for a zone
	id         TEXT NOT NULL,  -- of the zone or the account
	name       TEXT NOT NULL,
	at         TEXT NOT NULL,  -- when the platform said so last
	gone       INTEGER NOT NULL CHECK (gone IN (0, 1)), -- 1: it has not listed the id since
	PRIMARY KEY (account_id, key, id)
) STRICT, WITHOUT ROWID;

-- Zones that were written because of the accepted commit without an approval: they count
-- for its limits.
CREATE TABLE written (
	zone_id TEXT PRIMARY KEY,
	weakens INTEGER NOT NULL CHECK (weakens IN (0, 1))
) STRICT, WITHOUT ROWID;

ALTER TABLE token ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- the id of the account that owns it; empty: the user of the credential
`

// Version11 finds gaps in the history without reading it. It adds what zones were before the
// accepted commit, and which settings zones and accounts are under, whatever a commit says of
// them; what of a commit is still to come, for a revert, and more declarations of a zone than
// the last; the rotation that made a token; when a change that was not kept is tried again,
// and what was logged of refusals; and which process writes to a zone.
const Version11 = history.SchemaGaps + `
-- JSON, as guard.Earlier: the zones that the accepted commit is the first to declare, and the
-- labels of those that it has given others. Shares of limits do not count what a commit adds.
ALTER TABLE accepted ADD COLUMN earlier TEXT NOT NULL DEFAULT '{}';

-- The settings of the configuration that zones are under, by what these select by. A zone
-- without a row is under those that select it by the labels of its proof.
CREATE TABLE remembered (
	zone_id    TEXT PRIMARY KEY,
	selections TEXT NOT NULL -- JSON: an array of guard.Selection
) STRICT, WITHOUT ROWID;

-- The key of the configuration by which each account has its settings: the one by which it
-- was known first, or that a person has agreed to since.
CREATE TABLE bound (
	account_id TEXT PRIMARY KEY,
	key        TEXT NOT NULL,
	configured INTEGER NOT NULL CHECK (configured IN (0, 1)) -- 1: the configuration had settings for the key
) STRICT, WITHOUT ROWID;

-- How often something was allowed to leave settings: whoever has read remembered and bound
-- before reads them again.
CREATE TABLE departures (
	one    INTEGER PRIMARY KEY CHECK (one = 1),
	number INTEGER NOT NULL
) STRICT;

ALTER TABLE hold ADD COLUMN zone_ids TEXT NOT NULL DEFAULT '[]'; -- JSON: the ids that the key had when the hold was set, in any account

-- Which commit gave a zone the declaration that it has: the first that declared it so, in an
-- unbroken row. A revert takes a commit out of force where it was not written yet.
CREATE TABLE given (
	zone_id     TEXT PRIMARY KEY,
	declaration TEXT NOT NULL, -- the fingerprint, as in reconcile.Proof
	"commit"    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE proved ADD COLUMN earlier TEXT NOT NULL DEFAULT ''; -- fingerprints that were proved before, as in reconcile.Earlier: the newest first, each ended by a blank

-- The reason of a hold of a revert is said behind "put back by".
UPDATE reverted SET reason = 'revert of ' || substr(reason, instr(reason, ' reverts ') + 9) || ' (' || who || ')'
	WHERE instr(reason, ' reverts ') > 0;

-- The rotation that made a token, in nanoseconds: how long it lives, and how old it is when
-- its successor is due. 0: no rotation made it, its end was changed since, or the row is of
-- an earlier version.
ALTER TABLE token ADD COLUMN lifetime INTEGER NOT NULL DEFAULT 0;
ALTER TABLE token ADD COLUMN every INTEGER NOT NULL DEFAULT 0;

-- When a change that was not kept was sent last, and when it is sent again; NULL: not known.
ALTER TABLE nonconvergent ADD COLUMN tried TEXT;
ALTER TABLE nonconvergent ADD COLUMN next TEXT;

-- What the log has of the changes of a zone that guards refuse, so that a process that begins
-- does not repeat it.
CREATE TABLE logged (
	zone_id TEXT PRIMARY KEY, -- empty: the tokens
	digest  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which process writes to a zone, or wrote to it last. A process that finds the claim of
-- another waits, and reads the zone again before it writes.
CREATE TABLE claim (
	zone_id TEXT PRIMARY KEY,
	place   INTEGER NOT NULL, -- of the process's lock in the file beside the ledger, which ends with the process
	pid     INTEGER NOT NULL, -- of the process, for people
	until   TEXT NOT NULL,    -- when the claim ends at the latest; empty: its write has ended
	version TEXT NOT NULL     -- of the entry point that proved the write; empty: not known
) STRICT, WITHOUT ROWID;
`

// Version12 adds notifications: what each route knows, and the messages that are still to be
// sent to it.
const Version12 = `
CREATE TABLE notified (
	route TEXT PRIMARY KEY,
	known TEXT NOT NULL -- JSON, as notify.Known
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
	number INTEGER PRIMARY KEY, -- in the order in which they are sent
	id     TEXT NOT NULL UNIQUE, -- the same each time it is sent
	route  TEXT NOT NULL,
	body   TEXT NOT NULL        -- JSON, as notify.Message
) STRICT;
`

// Version13 adds the versions of managed rulesets that were seen.
const Version13 = `
CREATE TABLE ruleset_version (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they were seen
	account_id TEXT NOT NULL,
	ruleset_id TEXT NOT NULL,
	facts      TEXT NOT NULL REFERENCES ruleset_facts (digest),
	at         TEXT NOT NULL -- when it was seen first
) STRICT;

CREATE INDEX ruleset_version_of ON ruleset_version (account_id, ruleset_id, seq);
CREATE INDEX ruleset_version_facts ON ruleset_version (facts);

-- What such a version is. Accounts that have the same version share it.
CREATE TABLE ruleset_facts (
	digest TEXT PRIMARY KEY, -- SHA-256 of the JSON, hexadecimal
	facts  BLOB NOT NULL     -- JSON, as edge.Ruleset with what rulesets.Facts leaves, compressed with gzip
) STRICT;
`

// Version14 finds pages of the history without reading the rest of it.
const Version14 = history.SchemaPages

// Version15 keeps what a new version of a managed ruleset meant when it was seen.
const Version15 = `
CREATE TABLE ruleset_news (
	seq     INTEGER PRIMARY KEY REFERENCES ruleset_version (seq) ON DELETE CASCADE,
	news    TEXT NOT NULL, -- JSON, as radar.News with Zones
	classes BLOB NOT NULL  -- JSON, as an array of radar.Class, compressed with gzip: by these it is counted again for who may not see all zones
) STRICT;

-- The zones for which it meant something, in pages.
CREATE TABLE ruleset_news_page (
	seq   INTEGER NOT NULL REFERENCES ruleset_news (seq) ON DELETE CASCADE,
	place INTEGER NOT NULL, -- how many zones are on the pages before
	zones BLOB NOT NULL,    -- JSON, as an array of radar.Extract, compressed with gzip
	PRIMARY KEY (seq, place)
) STRICT;
`

// Version16 tells without reading it whether what people and processes have said is what it was:
// which commit is accepted, holds, approvals, the rollout, and what has left its settings. With
// each change of it the version is another number, which no other change has had, whether it was
// kept or undone.
var Version16 = `
CREATE TABLE said (
	one     INTEGER PRIMARY KEY CHECK (one = 1),
	version INTEGER NOT NULL -- random
) STRICT;

INSERT INTO said VALUES (1, 0);
` + said("accepted", ` OF "commit"`) + said("hold", "") + said("reverted", "") + said("approval", "") + said("rollout", "") + said("departures", "")

// Version17 keeps the plans of zones beside their names.
const Version17 = `
ALTER TABLE name ADD COLUMN plan TEXT NOT NULL DEFAULT ''; -- of a zone, in one word: free; empty: not known
`

// Version18 keeps what the accepted commit declares in parts, so that a commit writes those alone
// that it changes.
const Version18 = `
-- Column state of accepted names parts, by their sums one after the other, behind "parts" and a line
-- feed; or it is a whole, which gzip begins otherwise. Parts that it does not name are of a commit
-- before, and go with the next one that is kept in parts.
CREATE TABLE state_part (
	number INTEGER PRIMARY KEY,
	sum    BLOB NOT NULL UNIQUE, -- SHA-256 of data
	data   BLOB NOT NULL
) STRICT;
`

// Version19 finds what the history has of skip rules without reading the rest of it.
const Version19 = history.SchemaSkipRules

// Version20 keeps whether the ledger was put back to an earlier time.
var Version20 = `
-- One row since it was first seen that the ledger was put back to an earlier time.
CREATE TABLE put_back (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	mark  INTEGER NOT NULL, -- random, until git was looked at after that: nothing that is on record is written meanwhile; then 0
	times INTEGER NOT NULL  -- how often it was seen; it only grows, so that a row of an earlier time is told, too
) STRICT;
` + said("put_back", " OF mark")

// said are the triggers of one table, whose updates count of some columns, or of all.
func said(table, of string) (triggers string) {
	for _, event := range []string{"INSERT", "UPDATE" + of, "DELETE"} {
		name, _, _ := strings.Cut(event, " ")
		triggers += "CREATE TRIGGER said_" + table + "_" + strings.ToLower(name) + " AFTER " + event + " ON " + table +
			" BEGIN UPDATE said SET version = random(); END;\n"
	}
	return triggers
}

// migrate takes all missing steps in one transaction.
func migrate(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var have int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have == SchemaVersion {
		return nil
	}
	for next := max(have+1, FirstVersion); next <= SchemaVersion; next++ {
		if _, err := tx.ExecContext(ctx, Migrations[next-FirstVersion]); err != nil {
			return fmt.Errorf("taking the schema to version %d: %w", next, err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, SchemaVersion)
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return err
	}
	return tx.Commit()
}

const developmentHint = "move ledger.db and all files whose names begin with it out of the state folder, and start with an empty ledger: " +
	"earlier overrides of Seawall that are no longer declared then count as unmanaged, and tokens are unknown until seawall token init"

// versions is a range of schema versions.
type versions struct{ from, to int }

func exactly(v int) versions { return versions{v, v} }
func upTo(v int) versions    { return versions{FirstVersion, v} }

// check reads enough to tell a sound ledger of a fitting version from anything
// else. It writes nothing to the ledger.
func (d *disk) check(want versions, write bool) error {
	ctx := context.Background()
	var id, have int
	if err := d.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if id != applicationID {
		return Fault(ErrForeign, "it is a SQLite file of another program")
	}
	if err := d.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have >= movedVersions {
		moved, _, err := movedOf(ctx, d.db)
		if err == nil {
			err = moved.Fault()
		}
		return err
	}
	if have < 1 {
		return Fault(ErrDamaged, "it has lost the version of its schema")
	}
	if have > want.to {
		return Fault(ErrNewer, fmt.Sprintf("its schema has version %d, this program supports up to %d", have, want.to))
	}
	if have < FirstVersion {
		return &Error{
			Kind: ErrOlder, Reason: fmt.Sprintf("it was made by a development version: its schema is version %d, the first release has %d", have, FirstVersion),
			Hint: developmentHint,
		}
	}
	if have < want.from {
		return Fault(ErrOlder, fmt.Sprintf("its schema is version %d, this program reads version %d", have, want.from))
	}
	whole := d.checks.begin(d.path, write)
	if err := d.sound(ctx, whole); err != nil {
		return err
	}
	if whole {
		d.checks.passed()
	}
	return nil
}
