// Package decisions keeps, in the ledger's database, what people decided and how far a rollout
// is: holds (table hold), holds that a revert sets (reverted), approvals (approval), the waves
// of a commit (rollout, wave), and which settings of the configuration zones and accounts are
// under until a person lets them leave (remembered, bound, departures).
package decisions

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/zones"
)

var _ interface {
	reconcile.Control
	reconcile.Reverts
} = (*Decisions)(nil)

// Decisions are the records of decisions. They are safe for concurrent use.
type Decisions struct {
	file  *store.File
	zones *zones.Zones
	said  said
	// standing is told which approvals are spent: a commit of a fleet has one for each zone.
	standing *store.Cached[reconcile.Standing]
}

// In returns the records of decisions in a ledger, of which standing has what was read last.
func In(file *store.File, owned *zones.Zones, standing *store.Cached[reconcile.Standing]) *Decisions {
	return &Decisions{file: file, zones: owned, standing: standing}
}

// Approve implements [reconcile.Control]. An override is on record and spent.
func (d *Decisions) Approve(ctx context.Context, approvals []reconcile.Approval) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return d.Agree(ctx, tx, approvals) })
}

// Agree is Approve in a change of the caller's. What a commit carries, or a review has approved, counts
// once.
func (d *Decisions) Agree(ctx context.Context, tx *sql.Tx, approvals []reconcile.Approval) error {
	said := saidOnce{}
	for _, a := range approvals {
		a.Who, a.Reason = edge.Redact(a.Who), edge.Redact(a.Reason)
		once, known, err := said.before(ctx, tx, a)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		counts := a.Kind == reconcile.Approved
		added, err := putApproval(ctx, tx, a, counts, sql.NullString{})
		if err == nil && !added && once { // another word was there first, and counts for both
			_, err = putApproval(ctx, tx, a, false, d.file.Stamp())
		}
		if err != nil {
			return err
		}
		if !added {
			continue
		}
		e := reconcile.Entry{
			Kind: reconcile.EntryDecision, Action: reconcile.ActionApprove,
			Asked: reconcile.Asked{User: a.Who}, Subject: a.Subject, Digest: a.Digest, Reason: a.Reason,
		}
		if a.Kind == reconcile.Overridden {
			e.Action = reconcile.ActionOverride
		}
		if _, err := d.file.Enter(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// putApproval puts an approval on record, and reports whether it was not there. One that does not
// count is always put there.
func putApproval(ctx context.Context, tx *sql.Tx, a reconcile.Approval, counts bool, spent sql.NullString) (added bool, err error) {
	return rows.Changed(ctx, tx, `
		INSERT INTO approval (digest, kind, who, reason, at, counts, used, spent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT DO NOTHING`,
		a.Digest, a.Kind, a.Who, a.Reason, store.OptionalTime(a.At), rows.Bit(counts), rows.Bit(a.Used), spent)
}

// counting selects approvals that are not spent, in the words by which each database finds the index
// of these: SQLite compares them with the condition of the index, which names the column alone, and
// in PostgreSQL a number is no condition. Comments nest in PostgreSQL only: SQLite reads what stands
// between the two, and PostgreSQL what stands behind.
const counting = "/* /* */ counts -- */ counts = 1\n"

const spendApproval = `UPDATE approval SET counts = 0, spent = $1 WHERE digest = $2 AND ` + counting

// Spend implements [reconcile.Control]. A digest that is not on record is no
// error.
func (d *Decisions) Spend(ctx context.Context, digests []string) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return d.standing.Step(ctx, tx, digests, func() error { return d.spend(ctx, tx, digests) })
	})
}

func (d *Decisions) spend(ctx context.Context, tx *sql.Tx, digests []string) error {
	return rows.Exec(ctx, tx, spendApproval, digests, func(digest string) []any { return []any{d.file.Stamp(), digest} })
}

// Withdraw implements [reconcile.Control]. A digest that is not on record is no error.
func (d *Decisions) Withdraw(ctx context.Context, digests []string, reason string) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return d.withdraw(ctx, tx, digests, reason) })
}

func (d *Decisions) withdraw(ctx context.Context, tx *sql.Tx, digests []string, reason string) error {
	for _, digest := range digests {
		ended, err := rows.Changed(ctx, tx, spendApproval, d.file.Stamp(), digest)
		if err != nil {
			return err
		}
		if !ended {
			continue
		}
		e := reconcile.Entry{Kind: reconcile.EntryDecision, Action: reconcile.ActionWithdraw, Digest: digest, Reason: reason}
		if _, err := d.file.Enter(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// Use implements [reconcile.Control]. A digest that is not on record is no error.
func (d *Decisions) Use(ctx context.Context, digests []string) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return rows.Exec(ctx, tx, `UPDATE approval SET used = 1 WHERE digest = $1 AND `+counting, digests, func(digest string) []any { return []any{digest} })
	})
}

// SpentTrailers returns the digests of approvals that a commit has carried, and that are spent or were
// withdrawn, or that another approval counted for. text stands for what was signed of it. To move the
// branch back to the commit says nothing new.
func (d *Decisions) SpentTrailers(ctx context.Context, commit, text string) (digests []string, err error) {
	reason, end := reconcile.ReasonsOfTrailer(commit, text)
	const query = `SELECT DISTINCT digest FROM approval WHERE counts = 0 AND ` + ofTrailer + ` ORDER BY digest`
	err = d.file.Read(ctx, func(tx *sql.Tx) error {
		digests, err = rows.All(ctx, tx, query, func(row *sql.Rows, digest *string) error { return row.Scan(digest) }, reason, end)
		return err
	})
	return digests, err
}

// RecallApprovals reads the approvals that are not spent.
func RecallApprovals(ctx context.Context, tx *sql.Tx) ([]reconcile.Approval, error) {
	const query = `SELECT digest, kind, who, reason, at, used FROM approval WHERE counts = 1 ORDER BY seq`
	return rows.All(ctx, tx, query, func(row *sql.Rows, a *reconcile.Approval) (err error) {
		var at sql.NullString
		if err := row.Scan(&a.Digest, &a.Kind, &a.Who, &a.Reason, &at, &a.Used); err != nil {
			return err
		}
		if a.At, err = store.ParseOptional(at); err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the time of the approval of %s: %v", a.Digest, err))
		}
		return nil
	})
}

// Roll implements [reconcile.Control]: it reads, changes and writes in one
// transaction, so that a daemon and a person who resumes the waves never undo
// each other's word. Rows of zones that stay the same are not written.
func (d *Decisions) Roll(ctx context.Context, change func(reconcile.Rollout) reconcile.Rollout) error {
	return d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		have, err := recallRollout(ctx, tx)
		if err != nil {
			return err
		}
		return writeRollout(ctx, tx, have, change(have))
	})
}

// Resume lets a halted rollout go on, and reports whether one was halted.
func (d *Decisions) Resume(ctx context.Context) (halted bool, err error) {
	err = d.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		have, err := recallRollout(ctx, tx)
		if halted = have.Halted != ""; err != nil || !halted {
			return err
		}
		e := d.file.Decided(reconcile.ActionResume, reconcile.Subject{})
		e.Asked.Commit, e.Reason = have.Commit, have.Halted
		if _, err := d.file.Enter(ctx, tx, e); err != nil {
			return err
		}
		return writeRollout(ctx, tx, have, have.Resumed())
	})
	return halted, err
}

// PutRollout records a rollout in the place of the one on record, by [reconcile.Rollout.TakesPlaceOf].
func PutRollout(ctx context.Context, tx *sql.Tx, next reconcile.Rollout) error {
	have, err := recallRollout(ctx, tx)
	if err == nil {
		err = next.TakesPlaceOf(have)
	}
	if err != nil {
		return err
	}
	return writeRollout(ctx, tx, have, next)
}

func writeRollout(ctx context.Context, tx *sql.Tx, have, next reconcile.Rollout) error {
	next.Halted = edge.Redact(next.Halted)
	if next.Equal(have) {
		return nil
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO rollout (one, "commit", wave, since, halted) VALUES (1, $1, $2, $3, $4)
		ON CONFLICT (one) DO UPDATE SET "commit" = excluded."commit", wave = excluded.wave, since = excluded.since, halted = excluded.halted`,
		next.Commit, next.Wave, store.OptionalTime(next.Since), next.Halted)
	if err != nil {
		return err
	}
	return writeWaves(ctx, tx, have.Zones, next.Zones)
}

func writeWaves(ctx context.Context, tx *sql.Tx, have, next map[edge.Scope]reconcile.RolloutZone) error {
	var gone, changed []edge.Scope
	for id := range have {
		if _, stays := next[id]; !stays {
			gone = append(gone, id)
		}
	}
	for id, zone := range next {
		if known, ok := have[id]; !ok || known != zone {
			changed = append(changed, id)
		}
	}
	if err := rows.Exec(ctx, tx, `DELETE FROM wave WHERE zone_id = $1`, gone, func(id edge.Scope) []any { return []any{id.Text()} }); err != nil {
		return err
	}
	return rows.Exec(ctx, tx, `
		INSERT INTO wave (zone_id, wave, outcome) VALUES ($1, $2, $3)
		ON CONFLICT (zone_id) DO UPDATE SET wave = excluded.wave, outcome = excluded.outcome`, changed,
		func(id edge.Scope) []any { return []any{id.Text(), next[id].Wave, string(next[id].Outcome)} })
}

// RecallRolling reads a rollout without its zones.
func RecallRolling(ctx context.Context, tx *sql.Tx) (o reconcile.Rollout, found bool, err error) {
	var since sql.NullString
	row := tx.QueryRowContext(ctx, `SELECT "commit", wave, since, halted FROM rollout`)
	if found, err = rows.Found(row.Scan(&o.Commit, &o.Wave, &since, &o.Halted)); err != nil || !found {
		return o, false, err
	}
	if o.Since, err = store.ParseOptional(since); err != nil {
		return o, false, store.Fault(store.ErrDamaged, fmt.Sprintf("the time since which wave %d soaks: %v", o.Wave, err))
	}
	return o, true, nil
}

func recallRollout(ctx context.Context, tx *sql.Tx) (reconcile.Rollout, error) {
	o, found, err := RecallRolling(ctx, tx)
	if err != nil || !found {
		return o, err
	}
	o.Zones, err = rows.Map(ctx, tx, `SELECT zone_id, wave, outcome FROM wave`, func(row *sql.Rows, id *edge.Scope, zone *reconcile.RolloutZone) error {
		return row.Scan(id, &zone.Wave, &zone.Outcome)
	})
	return o, err
}

// Recall reads all of it into a record.
func (d *Decisions) Recall(ctx context.Context, tx *sql.Tx, r *reconcile.Record) error {
	return rows.Parts(ctx, tx,
		rows.Into(&r.Holds, RecallHolds),
		rows.Into(&r.Approvals, RecallApprovals),
		rows.Into(&r.Memory.Kept, recallKept),
		rows.Into(&r.Memory.Bound, recallBound),
		rows.Into(&r.Departures, RecallDepartures),
		rows.Into(&r.PutBack, RecallPutBack),
		rows.Into(&r.Rollout, recallRollout))
}
