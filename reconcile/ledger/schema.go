package ledger

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID marks a SQLite file as a ledger: "SWLL" (PRAGMA application_id).
const applicationID = 0x53574c4c

// migrations are the steps from each version of the schema to the next; the
// version of a file is the number of steps it has seen (PRAGMA user_version).
// A step that was released is never changed; a change is another step.
var migrations = []string{version1, version2, version3, version4, version5}

// schemaVersion is the version this program reads and writes.
var schemaVersion = len(migrations)

// version1 holds what a run must know of earlier ones.
//
// Times are RFC 3339 in UTC, NULL where the ledger had no clock. They and the
// commits of applied and accepted are for people: no decision rests on them.
const version1 = `
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
`

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
	if have == schemaVersion {
		return nil
	}
	for step := have; step < schemaVersion; step++ {
		if _, err := tx.ExecContext(ctx, migrations[step]); err != nil {
			return fmt.Errorf("taking the schema to version %d: %w", step+1, err)
		}
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion)
	if _, err := tx.ExecContext(ctx, mark); err != nil {
		return err
	}
	return tx.Commit()
}

// versions is a range of schema versions.
type versions struct{ from, to int }

func exactly(v int) versions { return versions{v, v} }
func upTo(v int) versions    { return versions{1, v} }

// check reads enough to tell a sound ledger of a fitting version from anything
// else. It writes nothing.
func (l *Ledger) check(want versions) error {
	ctx := context.Background()
	var id, have int
	if err := l.db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	if id != applicationID {
		return fault(ErrForeign, "it is a SQLite file of another program")
	}
	if err := l.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return err
	}
	if have < 1 {
		return fault(ErrDamaged, "it has lost the version of its schema")
	}
	if have > want.to {
		return fault(ErrNewer, fmt.Sprintf("its schema is version %d, this program knows up to %d", have, want.to))
	}
	if have < want.from {
		return fault(ErrOlder, fmt.Sprintf("its schema is version %d, this program reads version %d", have, want.from))
	}
	var sound string
	if err := l.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&sound); err != nil {
		return err
	}
	if sound != "ok" {
		return fault(ErrDamaged, sound)
	}
	return nil
}
