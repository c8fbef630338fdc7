package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

var _ reconcile.Records = (*Ledger)(nil)

// Restore implements [reconcile.Records]. A row that cannot be read fails the
// whole, with [ErrDamaged].
func (l *Ledger) Restore(ctx context.Context) (reconcile.Record, error) {
	if l.db == nil {
		return reconcile.Record{}, nil
	}
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return reconcile.Record{}, explain("reading", l.path, err)
	}
	defer func() { _ = tx.Rollback() }()
	r, err := restore(ctx, tx)
	if err != nil {
		return reconcile.Record{}, explain("reading", l.path, err)
	}
	return r, nil
}

func restore(ctx context.Context, tx *sql.Tx) (r reconcile.Record, err error) {
	if r.Applied, err = recallApplied(ctx, tx); err != nil {
		return r, err
	}
	if r.NonConvergent, err = recallNonConvergent(ctx, tx); err != nil {
		return r, err
	}
	if r.Holds, err = recallHolds(ctx, tx); err != nil {
		return r, err
	}
	if r.Approvals, err = recallApprovals(ctx, tx); err != nil {
		return r, err
	}
	if r.Rollout, err = recallRollout(ctx, tx); err != nil {
		return r, err
	}
	if r.Accepted, err = recallAccepted(ctx, tx); err != nil {
		return r, err
	}
	if r.Proofs, err = recallProofs(ctx, tx); err != nil {
		return r, err
	}
	if r.Drifts, err = recallDrifts(ctx, tx); err != nil {
		return r, err
	}
	r.Swept, err = recallSwept(ctx, tx)
	return r, err
}

// Standing implements [reconcile.Records]. While nobody writes to the file it is read
// once.
func (l *Ledger) Standing(ctx context.Context) (reconcile.Standing, error) {
	if l.db == nil {
		return reconcile.Standing{}, nil
	}
	s, err := l.standing.read(ctx, l.path, recallStanding)
	if err != nil {
		return reconcile.Standing{}, explain("reading", l.path, err)
	}
	s.Holds, s.Approvals = slices.Clone(s.Holds), slices.Clone(s.Approvals)
	return s, nil
}

func recallStanding(ctx context.Context, tx *sql.Tx) (s reconcile.Standing, err error) {
	err = tx.QueryRowContext(ctx, `SELECT "commit" FROM accepted`).Scan(&s.Commit)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s, err
	}
	if s.Holds, err = recallHolds(ctx, tx); err != nil {
		return s, err
	}
	if s.Approvals, err = recallApprovals(ctx, tx); err != nil {
		return s, err
	}
	o, _, err := recallRolling(ctx, tx)
	s.RolloutCommit, s.RolloutHalted, s.RolloutWave = o.Commit, o.Halted, o.Wave
	return s, err
}

const isLate = `SELECT "commit" <> ? FROM accepted`

// Prove implements [reconcile.Records].
func (l *Ledger) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		late := false
		err := l.group.prepared.row(ctx, tx, isLate, commit).Scan(&late)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err := l.settle(ctx, tx, commit, late, settled); err != nil {
			return err
		}
		for _, p := range proofs {
			if err := l.prove(ctx, tx, p, late); err != nil {
				return err
			}
		}
		_, err = l.enter(ctx, tx, results...)
		return err
	})
}

const rememberProof = `
	INSERT INTO proved (zone_id, fingerprint, labels, "commit", at) SELECT ?1, ?2, ?3, ?4, ?5
	WHERE NOT ?6 OR EXISTS (SELECT 1 FROM proved WHERE zone_id = ?1)
	ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, labels = excluded.labels,
		"commit" = excluded."commit", at = excluded.at
	WHERE (fingerprint, labels) <> (excluded.fingerprint, excluded.labels)`

func (l *Ledger) prove(ctx context.Context, tx *sql.Tx, p reconcile.Proof, late bool) error {
	labels := guard.Labels{}
	maps.Copy(labels, p.Labels) // {}, never null
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	return l.group.prepared.exec(ctx, tx, rememberProof, p.Zone, p.Fingerprint, string(text), p.Commit, l.stamp(), late)
}

func recallProofs(ctx context.Context, tx *sql.Tx) (map[edge.ZoneID]reconcile.Proof, error) {
	rows, err := tx.QueryContext(ctx, `SELECT zone_id, fingerprint, labels, "commit" FROM proved`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	proofs := map[edge.ZoneID]reconcile.Proof{}
	for rows.Next() {
		var p reconcile.Proof
		var labels string
		if err := rows.Scan(&p.Zone, &p.Fingerprint, &labels, &p.Commit); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(labels), &p.Labels); err != nil {
			return nil, fault(ErrDamaged, fmt.Sprintf("the labels of zone %s: %v", p.Zone, err))
		}
		proofs[p.Zone] = p
	}
	return proofs, rows.Err()
}

// Widen implements [reconcile.Records]. What is stored keeps its order.
func (l *Ledger) Widen(ctx context.Context, owned []diff.Settled) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range owned {
			if err := l.widen(ctx, tx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	ownedMembers = `SELECT members FROM applied WHERE zone_id = ? AND ruleset_id = ?`
	widenOwned   = `
		INSERT INTO applied (zone_id, ruleset_id, members, "commit") VALUES (?, ?, ?, '')
		ON CONFLICT DO UPDATE SET members = excluded.members, "commit" = ''`
)

func (l *Ledger) widen(ctx context.Context, tx *sql.Tx, s diff.Settled) error {
	var text string
	var union []diff.Member
	row := l.group.prepared.row(ctx, tx, ownedMembers, s.ID.Zone, s.ID.Ruleset)
	err := row.Scan(&text)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if known := err == nil; known {
		if union, err = parseMembers(s.ID, text); err != nil {
			return err
		}
	}
	for _, member := range s.Owned {
		if !slices.Contains(union, member) {
			union = append(union, member)
		}
	}
	wider, err := membersText(union)
	if err != nil || wider == text {
		return err
	}
	return l.group.prepared.exec(ctx, tx, widenOwned, s.ID.Zone, s.ID.Ruleset, wider)
}

// driftTime is the form of the time of a drift: text that sorts as time does.
const driftTime = "2006-01-02T15:04:05.000000000Z"

// Drifted implements [reconcile.Records].
func (l *Ledger) Drifted(ctx context.Context, drifts []reconcile.Drift, before time.Time) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, d := range drifts {
			_, err := tx.ExecContext(ctx, `
				INSERT INTO drift (zone_id, at, weakens) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET weakens = 1 WHERE excluded.weakens > weakens`,
				d.Zone, d.At.UTC().Format(driftTime), d.Weakens)
			if err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM drift WHERE at < ?`, before.UTC().Format(driftTime))
		return err
	})
}

func recallDrifts(ctx context.Context, tx *sql.Tx) (drifts []reconcile.Drift, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT zone_id, at, weakens FROM drift ORDER BY at, zone_id`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var d reconcile.Drift
		var at string
		if err := rows.Scan(&d.Zone, &at, &d.Weakens); err != nil {
			return nil, err
		}
		if d.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
			return nil, fault(ErrDamaged, fmt.Sprintf("the time of a drift in zone %s: %v", d.Zone, err))
		}
		drifts = append(drifts, d)
	}
	return drifts, rows.Err()
}
