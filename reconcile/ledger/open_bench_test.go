package ledger

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// BenchmarkOpenHistory100000 opens a ledger with a history of 100,000 rows, as full as the
// default bound allows: for writing and for reading, and after a process that was killed.
func BenchmarkOpenHistory100000(b *testing.B) {
	path := newPath(b)
	writeHistory(b, path, 100_000)
	if info, err := os.Stat(path); err == nil {
		b.Logf("%d MiB", info.Size()>>20)
	}
	for name, open := range map[string]func(string) (*Ledger, error){"write": Open, "read": OpenReadOnly} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				must(b, closed(open(path)))
			}
		})
	}
}

// writeHistory has a history of n rows, writes and their results, and closes the ledger.
func writeHistory(tb testing.TB, path string, n int) {
	tb.Helper()
	l, err := Open(path)
	must(tb, err)
	for number := 1; number <= n; number += 1000 {
		entries := make([]reconcile.Entry, 0, 1000)
		for i := number; i < number+1000; i += 2 {
			e := healing(i % 10_000)
			result := concluded(int64(i), e.Subject, "8")
			result.Trigger = e.Trigger
			entries = append(entries, e, result)
		}
		must(tb, l.Record(tb.Context(), entries...))
	}
	must(tb, l.Close())
}

// healing is the entry of a write that heals drift, as large as a usual one.
func healing(n int) reconcile.Entry {
	e := reconcile.Entry{
		Kind: reconcile.EntryWrite, Action: "update", Trigger: reconcile.TriggerSweep,
		Asked:       reconcile.Asked{Commit: "1a2b3c4d5e6f1a2b3c4d5e6f1a2b3c4d5e6f1a2b", Author: "Ada <ada@example.com>"},
		Subject:     reconcile.Subject{Account: "prod", Zone: fmt.Sprintf("shop-%d.example", n), Scope: edge.ZoneScope(edge.ZoneID(fmt.Sprintf("zone-%d", n))), Deployment: "core", Ruleset: "ruleset"},
		Declaration: "9b74c9897bac770ffc029102a200c5de9b74c9897bac770ffc029102a200c5de", Direction: diff.Weakens,
	}
	for i := range 6 {
		e.Members = append(e.Members, reconcile.MemberChange{
			Path: diff.Member(fmt.Sprintf(`overrides.rules["6179ae15870a4bb7b2d480d4843b323%x"].action`, i)),
			Old:  json.RawMessage(`"log"`), New: json.RawMessage(`"block"`), Owned: true,
		})
	}
	return e
}
