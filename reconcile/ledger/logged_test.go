package ledger

import (
	"errors"
	"maps"
	"path/filepath"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

var _ reconcile.LogMemory = (*Ledger)(nil)

// What the log has of refused changes lasts over a restart.
func TestLogged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := mustOpen(t, path)
	if err := errors.Join(
		l.NoteLogged(t.Context(), edge.ZoneScope("z1"), "a"), l.NoteLogged(t.Context(), edge.ZoneScope("z1"), "b"), l.NoteLogged(t.Context(), edge.Scope{}, "c"),
		l.NoteLogged(t.Context(), edge.ZoneScope("z2"), "d"), l.NoteLogged(t.Context(), edge.ZoneScope("z2"), ""), l.Close(),
	); err != nil {
		t.Fatal(err)
	}
	got, err := mustOpen(t, path).Logged(t.Context())
	if want := map[edge.Scope]string{edge.ZoneScope("z1"): "b", {}: "c"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
