package history

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

const (
	// selectBegun selects any entry of a zone.
	selectBegun = `SELECT 1 FROM history WHERE zone = $1 AND json_extract(body, '$.subject.zone_id') = $2 LIMIT 1`
	// selectFound selects the newest entry of a zone that says that something was changed, and
	// was proved after that, or that it was changed: it reads no further back. Of a proof nobody
	// needs the body.
	selectFound = `
		SELECT number, CASE WHEN json_extract(body, '$.result.outcome') IS NULL THEN body ELSE '' END,
			coalesce(json_extract(body, '$.result.outcome'), '') FROM history WHERE zone = $1 AND (
			json_extract(body, '$.result.outcome') = 'converged' AND ($3 <> '' OR coalesce(json_extract(body, '$.subject.ref'), '') = $4)
			OR json_extract(body, '$.kind') = 'found' AND json_extract(body, '$.action') = 'changed' AND json_extract(body, '$.subject.zone_id') = $2
				AND coalesce(json_extract(body, '$.subject.ruleset_id'), '') = $3 AND coalesce(json_extract(body, '$.subject.ref'), '') = $4)
		ORDER BY number DESC LIMIT 1`
)

// OnRecord reports whether an entry of kind [reconcile.EntryFound] says nothing new: the
// history of the zone has begun, or the same change was found before, and nothing was proved
// in the zone since; of what is no deployment, nothing of its own. A version of a managed ruleset that is entered is always new.
func (l *Log) OnRecord(ctx context.Context, tx *sql.Tx, e reconcile.Entry) (bool, error) {
	if e.Action == reconcile.ActionPublished {
		return false, nil
	}
	if e.Action == reconcile.ActionBegin {
		var one int
		return rows.Found(l.statement(ctx, tx, selectBegun).QueryRowContext(postgres.Late(ctx), e.Subject.Zone, e.Subject.Scope.Text()).Scan(&one))
	}
	var number int64
	var text, outcome string
	row := l.statement(ctx, tx, selectFound).QueryRowContext(postgres.Late(ctx), e.Subject.Zone, e.Subject.Scope.Text(), e.Subject.Ruleset, e.Subject.Ref)
	if found, err := rows.Found(row.Scan(&number, &text, &outcome)); err != nil || !found || outcome != "" {
		return false, err
	}
	last, err := decode(number, text, sql.NullString{})
	_, skipRule := e.SkipRule() // what it was before is not known after a restart
	same := slices.EqualFunc(last.Members, e.Members, func(a, b reconcile.MemberChange) bool {
		return a.Path == b.Path && (skipRule || bytes.Equal(a.Old, b.Old)) && bytes.Equal(a.New, b.New)
	})
	return err == nil && same, err
}

// SchemaSkipRules finds the entries of skip rules without reading the others.
const SchemaSkipRules = `
CREATE INDEX history_skip_rule ON history (number)
	WHERE json_extract(body, '$.kind') = 'found' AND json_extract(body, '$.subject.kind') = 'exception';
`

const selectSkipRules = `SELECT number, body FROM history
	WHERE json_extract(body, '$.kind') = 'found' AND json_extract(body, '$.subject.kind') = 'exception' ORDER BY number DESC`

// SkipRules returns entries as [reconcile.Records] says, never nil where they were read, and which of
// them are unreadable.
func SkipRules(ctx context.Context, tx *sql.Tx) (entries []reconcile.Entry, unreadable, err error) {
	type skipRule struct {
		zone edge.Scope
		ref  string
	}
	seen := map[skipRule]bool{}
	entries = []reconcile.Entry{}
	err = rows.Each(ctx, tx, selectSkipRules, func(row *sql.Rows) error {
		var number int64
		var text string
		if err := row.Scan(&number, &text); err != nil {
			return err
		}
		e, bad := decode(number, text, sql.NullString{})
		unreadable = errors.Join(unreadable, bad)
		if bad == nil && e.OfSkipRule() {
			of := skipRule{e.Subject.Scope, e.Subject.Ref}
			if _, there := e.SkipRule(); there && !seen[of] {
				entries = append(entries, e)
			}
			seen[of] = true
		}
		return nil
	})
	return entries, unreadable, err
}
