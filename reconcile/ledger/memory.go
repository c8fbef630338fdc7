package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/diff"
)

func recallApplied(ctx context.Context, tx *sql.Tx) (diff.Applied, error) {
	applied, known := diff.Applied{}, map[string][]diff.Member{} // most zones of a fleet are alike
	err := each(ctx, tx, `SELECT zone_id, ruleset_id, members FROM applied`, func(id diff.DeploymentID, text string) error {
		members, ok := known[text]
		if !ok {
			var err error
			if members, err = parseMembers(id, text); err != nil {
				return err
			}
			known[text] = members
		}
		applied[id] = members
		return nil
	})
	return applied, err
}

func parseMembers(id diff.DeploymentID, text string) (members []diff.Member, err error) {
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, fault(ErrDamaged, fmt.Sprintf("the members of ruleset %s in zone %s: %v", id.Ruleset, id.Zone, err))
	}
	return members, nil
}

func recallNonConvergent(ctx context.Context, tx *sql.Tx) (map[diff.DeploymentID]string, error) {
	prints := map[diff.DeploymentID]string{}
	err := each(ctx, tx, `SELECT zone_id, ruleset_id, fingerprint FROM nonconvergent`, func(id diff.DeploymentID, fingerprint string) error {
		prints[id] = fingerprint
		return nil
	})
	return prints, err
}

// each calls take with every row of a query for a deployment and a text.
func each(ctx context.Context, tx *sql.Tx, query string, take func(diff.DeploymentID, string) error) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id diff.DeploymentID
		var text string
		if err := rows.Scan(&id.Zone, &id.Ruleset, &text); err != nil {
			return err
		}
		if err := take(id, text); err != nil {
			return err
		}
	}
	return rows.Err()
}

const rememberOwned = `
	INSERT INTO applied (zone_id, ruleset_id, members, "commit") SELECT ?1, ?2, ?3, ?4
	WHERE NOT ?5 OR EXISTS (SELECT 1 FROM applied WHERE zone_id = ?1 AND ruleset_id = ?2)
	ON CONFLICT DO UPDATE SET members = excluded.members, "commit" = excluded."commit"
	WHERE members <> excluded.members OR "commit" = '' AND excluded."commit" <> ''`

const forgetNonConvergent = `DELETE FROM nonconvergent WHERE zone_id = ? AND ruleset_id = ?`

// settle writes what deployments own, and only rows that differ. A late record adds no
// row.
func (l *Ledger) settle(ctx context.Context, tx *sql.Tx, commit string, late bool, settled []diff.Settled) error {
	often := l.group.prepared
	for _, s := range settled {
		members, err := membersText(s.Owned)
		if err != nil {
			return err
		}
		if err := often.exec(ctx, tx, rememberOwned, s.ID.Zone, s.ID.Ruleset, members, commit, late); err != nil {
			return err
		}
		if err := often.exec(ctx, tx, forgetNonConvergent, s.ID.Zone, s.ID.Ruleset); err != nil {
			return err
		}
	}
	return nil
}

// membersText is a list of members as a row holds it: [], never null.
func membersText(members []diff.Member) (string, error) {
	text, err := json.Marshal(append([]diff.Member{}, members...))
	return string(text), err
}

// NonConvergent implements [reconcile.Records]. A fingerprint that is known
// already keeps its time.
func (l *Ledger) NonConvergent(ctx context.Context, id diff.DeploymentID, fingerprint string) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO nonconvergent (zone_id, ruleset_id, fingerprint, since) VALUES (?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, since = excluded.since
			WHERE fingerprint <> excluded.fingerprint`,
			id.Zone, id.Ruleset, fingerprint, l.stamp())
		return err
	})
}

// Forget implements [reconcile.Records].
func (l *Ledger) Forget(ctx context.Context, ids []diff.DeploymentID) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, id := range ids {
			for _, table := range []string{"applied", "nonconvergent"} {
				if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE zone_id = ? AND ruleset_id = ?`, id.Zone, id.Ruleset); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// stamp is the time as a row holds it.
func (l *Ledger) stamp() sql.NullString {
	if l.Now == nil {
		return sql.NullString{}
	}
	return sql.NullString{String: l.Now().UTC().Format(time.RFC3339), Valid: true}
}

// Swept implements [reconcile.Records].
func (l *Ledger) Swept(ctx context.Context, until time.Time) error {
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO sweep (one, at) VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at`,
			until.UTC().Format(time.RFC3339Nano))
		return err
	})
}

func recallSwept(ctx context.Context, tx *sql.Tx) (until time.Time, err error) {
	var at string
	switch err := tx.QueryRowContext(ctx, `SELECT at FROM sweep`).Scan(&at); {
	case errors.Is(err, sql.ErrNoRows):
		return until, nil
	case err != nil:
		return until, err
	}
	if until, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return until, fault(ErrDamaged, fmt.Sprintf("the time of the sweep: %v", err))
	}
	return until, nil
}
