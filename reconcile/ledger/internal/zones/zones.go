// Package zones keeps, in the ledger's database, what is known of zones: which declaration was
// proved last (table proved), what it owns (applied), changes that the platform did not keep
// (nonconvergent), drifts that count for limits (drift), and how far the sweep is (sweep).
package zones

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"unique"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Zones are the records of zones. They are safe for concurrent use.
type Zones struct {
	file   *store.File
	claims claims
}

// In returns the records of zones in a ledger.
func In(file *store.File) *Zones { return &Zones{file: file} }

// Frequent are the statements that are run for each zone of a commit, for [store.Open].
var Frequent = []string{beforeProof, rememberOwned, forgetNonConvergent, rememberProof, ownedMembers, widenOwned, rememberWritten, beforeWrite, takeClaim, endClaim, addDrift, dropDrifts}

// Recall reads all of it into a record, or what there is of the zones of [reconcile.Record.Only] and all
// that there is not one of for each zone.
func Recall(ctx context.Context, tx *sql.Tx, r *reconcile.Record) error {
	of := ofZones(r.Only)
	return rows.Parts(ctx, tx,
		rows.Into(&r.Applied, of.recallApplied),
		rows.Into(&r.Prunable, of.recallPrunable),
		rows.Into(&r.NonConvergent, of.recallNonConvergent),
		rows.Into(&r.Tries, of.recallTries),
		rows.Into(&r.Proofs, of.recallProofs),
		rows.Into(&r.Drifts, recallDrifts),
		rows.Into(&r.Written, recallWritten),
		rows.Into(&r.Swept, recallSwept))
}

func (of some) recallApplied(ctx context.Context, tx *sql.Tx) (diff.Applied, error) {
	known := map[string][]diff.Member{} // most zones of a fleet are alike
	return byDeployment(ctx, tx, of, `SELECT zone_id, ruleset_id, members FROM applied WHERE true`, func(id diff.ID, text string) (members []diff.Member, err error) {
		members, ok := known[text]
		if !ok {
			members, err = parseMembers(id, text)
			known[text] = members
		}
		return members, err
	})
}

func parseMembers(id diff.ID, text string) (members []diff.Member, err error) {
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return nil, store.Fault(store.ErrDamaged, fmt.Sprintf("the members of ruleset %s in zone %s: %v", rulesetText(id), id.Scope, err))
	}
	for i, m := range members { // they stay in memory, and most zones of a fleet own nearly the same
		members[i] = unique.Make(m).Value()
	}
	return members, nil
}

func (of some) recallNonConvergent(ctx context.Context, tx *sql.Tx) (map[diff.ID]string, error) {
	return byDeployment(ctx, tx, of, `SELECT zone_id, ruleset_id, fingerprint FROM nonconvergent WHERE true`, func(_ diff.ID, fingerprint string) (string, error) {
		return fingerprint, nil
	})
}

// byDeployment returns what parse makes of each row of a query for a deployment and a text.
func byDeployment[V any](ctx context.Context, tx *sql.Tx, of some, query string, parse func(diff.ID, string) (V, error)) (map[diff.ID]V, error) {
	return rows.Map(ctx, tx, of.query(query), func(row *sql.Rows, id *diff.ID, value *V) (err error) {
		var zone edge.Scope
		var ruleset, text string
		if err := row.Scan(&zone, &ruleset, &text); err != nil {
			return err
		}
		*id = deploymentOf(zone, ruleset)
		*value, err = parse(*id, text)
		return err
	}, of.args...)
}

// NonConvergent implements [reconcile.Records]. A fingerprint that is known
// already keeps its time.
func (z *Zones) NonConvergent(ctx context.Context, id diff.ID, fingerprint string) error {
	return z.file.Exec(ctx, `
		INSERT INTO nonconvergent (zone_id, ruleset_id, fingerprint, since) VALUES ($1, $2, $3, $4)
		ON CONFLICT (zone_id, ruleset_id) DO UPDATE SET fingerprint = excluded.fingerprint, since = excluded.since
		WHERE nonconvergent.fingerprint <> excluded.fingerprint`,
		id.Scope.Text(), rulesetText(id), fingerprint, z.file.Stamp())
}

// Forget implements [reconcile.Records].
func (z *Zones) Forget(ctx context.Context, ids []diff.ID) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return forget(ctx, tx, ids...) })
}

func forget(ctx context.Context, tx *sql.Tx, ids ...diff.ID) error {
	for _, table := range []string{"applied", "nonconvergent"} {
		err := rows.Exec(ctx, tx, `DELETE FROM `+table+` WHERE zone_id = $1 AND ruleset_id = $2`, ids, func(id diff.ID) []any {
			return []any{id.Scope.Text(), rulesetText(id)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ForgetZones drops all that is on record of zones that no commit declares any more.
func ForgetZones(ctx context.Context, tx *sql.Tx, zones []edge.Scope) error {
	for _, table := range []string{"applied", "nonconvergent", "proved", "given", "claim"} {
		if err := rows.Exec(ctx, tx, `DELETE FROM `+table+` WHERE zone_id = $1`, zones, func(zone edge.Scope) []any { return []any{zone.Text()} }); err != nil {
			return err
		}
	}
	return nil
}
