package history

import (
	"bytes"
	"context"
	"database/sql"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// OnRecord reports whether an entry of kind [reconcile.EntryFound] says nothing new: the
// history of the zone has begun, or the same change was found before, and nothing was proved
// in the zone since; of what is no deployment, nothing of its own. A version of a managed ruleset that is entered is always new.
func OnRecord(ctx context.Context, tx *sql.Tx, e reconcile.Entry) (bool, error) {
	if e.Action == reconcile.ActionPublished {
		return false, nil
	}
	if e.Action == reconcile.ActionBegin {
		var one int
		err := tx.QueryRowContext(ctx, `SELECT 1 FROM history WHERE zone = ? AND json_extract(body, '$.subject.zone_id') = ? LIMIT 1`,
			e.Subject.Zone, e.Subject.Scope.Text()).Scan(&one)
		return rows.Found(err)
	}
	var number int64
	var text string
	err := tx.QueryRowContext(ctx, `
		SELECT f.number, f.body FROM history AS f WHERE f.zone = ?1 AND json_extract(f.body, '$.kind') = 'found' AND json_extract(f.body, '$.action') = 'changed'
			AND json_extract(f.body, '$.subject.zone_id') = ?2 AND coalesce(json_extract(f.body, '$.subject.ruleset_id'), '') = ?3
			AND coalesce(json_extract(f.body, '$.subject.ref'), '') = ?4
			AND NOT EXISTS (SELECT 1 FROM history AS p WHERE p.zone = ?1 AND p.number > f.number AND json_extract(p.body, '$.result.outcome') = 'converged'
				AND (?3 <> '' OR coalesce(json_extract(p.body, '$.subject.ref'), '') = ?4))
		ORDER BY f.number DESC LIMIT 1`, e.Subject.Zone, e.Subject.Scope.Text(), e.Subject.Ruleset, e.Subject.Ref).Scan(&number, &text)
	if found, err := rows.Found(err); err != nil || !found {
		return false, err
	}
	last, err := decode(number, text, sql.NullString{})
	_, skipRule := e.SkipRule() // what it was before is not known after a restart
	same := slices.EqualFunc(last.Members, e.Members, func(a, b reconcile.MemberChange) bool {
		return a.Path == b.Path && (skipRule || bytes.Equal(a.Old, b.Old)) && bytes.Equal(a.New, b.New)
	})
	return err == nil && same, err
}

// SkipRules returns entries as [reconcile.Records] says.
func SkipRules(ctx context.Context, tx *sql.Tx, zone edge.Scope) (entries []reconcile.Entry, err error) {
	all, err := rows.All(ctx, tx, `
		SELECT number, body FROM history WHERE json_extract(body, '$.subject.zone_id') = ? AND json_extract(body, '$.kind') = 'found'
			AND json_extract(body, '$.action') = 'changed' AND json_extract(body, '$.subject.ruleset_id') IS NULL ORDER BY number DESC`,
		func(row *sql.Rows, e *reconcile.Entry) (err error) {
			var number int64
			var text string
			if err := row.Scan(&number, &text); err != nil {
				return err
			}
			*e, err = decode(number, text, sql.NullString{})
			return err
		}, zone.Text())
	newest := map[string]bool{}
	for _, e := range all {
		if _, there := e.SkipRule(); there && !newest[e.Subject.Ref] {
			entries = append(entries, e)
		}
		newest[e.Subject.Ref] = true
	}
	return entries, err
}
