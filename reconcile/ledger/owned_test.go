package ledger

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

// What is recorded as owned before a write only grows, though it is said in parts.
func TestOwnedInParts(t *testing.T) {
	ctx := t.Context()
	l := clocked(t, newPath(t))
	must(t, l.AcceptCommit(ctx, reconcile.Acceptance{Commit: "c1"}))
	write := writeOf("shop", "1")
	id := write.Subject.ID()
	_, err := l.RecordWrite(ctx, write, []diff.Settled{{ID: id, Owned: []diff.Member{"a"}}, {ID: id, Owned: []diff.Member{"b"}}})
	must(t, err)
	record, err := l.Restore(ctx)
	must(t, err)
	if owned := record.Applied[id]; len(owned) != 2 {
		t.Errorf("owned are %v", owned)
	}
}
