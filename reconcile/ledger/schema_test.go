package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/reconcile"
)

// Each change of what was said has another version in its transaction, which no other process sees
// before the end of it, or ever, where it is undone.
func TestVersionOfWhatWasSaid(t *testing.T) {
	t.Parallel()
	l := connected(t, begun(t), "").Ledger
	seen := map[int64]string{}
	look := func(what string, row *sql.Row) (version int64) {
		t.Helper()
		must(t, row.Scan(&version))
		if was, ok := seen[version]; ok {
			t.Errorf("%s has the version of %s", what, was)
		}
		seen[version] = what
		return version
	}
	const said, change = `SELECT version FROM said`, `INSERT INTO hold VALUES ($1, 'r', 'u', 'w', '', '[]')`
	before := look("the beginning", l.Database().QueryRow(said))
	changes := func(kept error) func(context.Context, *sql.Tx) error {
		return func(ctx context.Context, tx *sql.Tx) error {
			for n := range 3 {
				_, err := tx.ExecContext(ctx, change, fmt.Sprint(kept, n))
				must(t, err)
				look(fmt.Sprint("change ", n, ", ", kept), tx.QueryRow(said))
			}
			var others int64
			must(t, l.Database().QueryRow(said).Scan(&others))
			if others != before {
				t.Errorf("others see %s", seen[others])
			}
			return kept
		}
	}
	if err := l.file.Write(t.Context(), changes(errUndo)); !errors.Is(err, errUndo) {
		t.Fatal(err)
	}
	must(t, l.file.Write(t.Context(), changes(nil)))
	_, err := l.Database().Exec(`INSERT INTO hold SELECT 'z' || n, 'r', 'u', 'w', '', '[]' FROM generate_series(1, 2500) AS n`)
	must(t, err)
	look("many changes", l.Database().QueryRow(said))
	var rows int
	must(t, l.Database().QueryRow(`SELECT count(*) FROM said_change`).Scan(&rows))
	if rows > 1000 {
		t.Errorf("%d changes are kept", rows)
	}
}

// What statements read of an entry is the same in both databases, whatever its texts are.
func TestMembersOfEntriesAreTheSame(t *testing.T) {
	t.Parallel()
	file, server := mustOpen(t, newPath(t)), connected(t, begun(t), "").Ledger
	texts := []string{"plain", "", `"zone_id":"x","kind":"y"`, `\`, `a\"b`, `}],"members":[{`, "<kim@example.com>", "é\U0001F600", `","token":"t`}
	change := reconcile.MemberChange{Path: "x", Old: []byte(`{"zone_id":"x","kind":"commit","result":{"write":7,"outcome":"converged"},"token":"t"}`), New: []byte(`"\u00e9 \" \\u0000"`)}
	for _, text := range texts {
		write := writeOf(text, "1")
		write.Asked.Commit, write.Asked.Author, write.Reason, write.Subject.Token, write.Subject.Attempt = text, text, text, text, text
		token := reconcile.Entry{Kind: reconcile.EntryWrite, Action: "create", Subject: reconcile.Subject{Token: text, Attempt: text}}
		found := write
		found.Kind, found.Action, found.Trigger, found.Members = reconcile.EntryFound, "changed", "", []reconcile.MemberChange{change}
		for _, e := range []reconcile.Entry{write, token, found, resultOf(1, text, "2"), {Kind: reconcile.EntryCommit, Action: "accept", Reason: text}} {
			e.At = noon.Add(time.Nanosecond * time.Duration(len(text)))
			must(t, file.Record(t.Context(), e))
			must(t, server.Record(t.Context(), e))
		}
	}
	read := []string{"seconds", "zone", "token", `"commit"`, "write"}
	for _, text := range textsIn(t, "history") {
		for _, path := range regexp.MustCompile(`json_extract\([a-z.]*body, ('\$[^']*')\)`).FindAllStringSubmatch(text, -1) {
			read = append(read, "json_extract(body, "+path[1]+")")
		}
	}
	slices.Sort(read)
	for _, what := range slices.Compact(read) {
		query := `SELECT coalesce(CAST(` + what + ` AS TEXT), 'NULL') FROM history ORDER BY number`
		if want, got := column(t, file.file.DB, query), column(t, server.Database(), query); len(want) != 5*len(texts) || !cmp.Equal(want, got) {
			t.Errorf("%s (-file +PostgreSQL): %s", what, cmp.Diff(want, got))
		}
	}
}

func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.Query(query)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		var value string
		must(t, rows.Scan(&value))
		values = append(values, value)
	}
	must(t, rows.Err())
	return values
}
