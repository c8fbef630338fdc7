package ledger

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/reconcile"
)

// Names survive the process, and each save takes the place of the one before.
func TestNames(t *testing.T) {
	path := newPath(t)
	l := mustOpen(t, path)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	must(t, l.SaveNames(t.Context(), []reconcile.Name{{Account: "a", ID: "z0", Name: "old.example", At: at}}))
	want := []reconcile.Name{
		{Key: "prod", ID: "a", Name: "Production", At: at},
		{Account: "a", ID: "z1", Name: "Shop.example", At: at, Gone: true},
		{Account: "a", ID: "z2", Name: "Shop.example", Plan: "free", At: at.Add(time.Hour)},
	}
	must(t, l.SaveNames(t.Context(), want))
	must(t, l.Close())
	read := mustRead(t, path)
	got, err := read.Names(t.Context())
	must(t, err)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantFault(t, read.SaveNames(t.Context(), nil), ErrReadOnly, "")
	must(t, read.Close())
	none := mustRead(t, newPath(t))
	if got, err := none.Names(t.Context()); len(got) > 0 || err != nil {
		t.Errorf("of nothing: %v, %v", got, err)
	}
}
