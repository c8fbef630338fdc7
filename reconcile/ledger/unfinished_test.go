package ledger

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestUnfinished: of each deployment the last write, where it has no result; after a
// restart too.
func TestUnfinished(t *testing.T) {
	path, ctx := newPath(t), t.Context()
	l := mustOpen(t, path)
	write := func(zone, ruleset string, trigger reconcile.Trigger) int64 {
		t.Helper()
		e := healing(0)
		e.Trigger, e.Subject.Zone, e.Subject.Scope, e.Subject.Ruleset = trigger, zone, edge.ZoneScope(edge.ZoneID("id-"+zone)), edge.RulesetID(ruleset)
		n, err := l.RecordWrite(ctx, e, nil)
		must(t, err)
		return n
	}
	conclude := func(n int64, outcome reconcile.Outcome) {
		t.Helper()
		result := concluded(n, reconcile.Subject{Zone: "z"}, "")
		result.Result.Outcome = outcome
		must(t, l.Record(ctx, result))
	}
	want := func(numbers ...int64) {
		t.Helper()
		writes, err := l.Unfinished(ctx)
		must(t, err)
		var got []int64
		for _, e := range writes {
			got = append(got, e.Number)
			if e.Declaration == "" || len(e.Members) == 0 {
				t.Errorf("entry %d has come without its content: %+v", e.Number, e)
			}
		}
		if !slices.Equal(got, numbers) {
			t.Errorf("unfinished: %v, want %v", got, numbers)
		}
	}
	want()
	proved := write("z1", "a", reconcile.TriggerSync)
	conclude(proved, reconcile.Converged)
	want()
	first := write("z1", "a", reconcile.TriggerSync)
	want(first)
	other := write("z1", "b", reconcile.TriggerSync)
	elsewhere := write("z2", "a", reconcile.TriggerManual)
	want(elsewhere, other, first)
	write("z3", "a", reconcile.TriggerRevert)
	want(elsewhere, other, first)
	second := write("z1", "a", reconcile.TriggerSweep)
	want(second, elsewhere, other)
	conclude(second, reconcile.Failed)
	want(elsewhere, other) // what followed the first is done: nothing of it can be proved
	must(t, l.Close())
	l = mustOpen(t, path)
	want(elsewhere, other)
	for i := range 1100 { // bounded
		write(fmt.Sprint("fleet-", i), "a", reconcile.TriggerSync)
	}
	writes, err := l.Unfinished(ctx)
	must(t, err)
	if len(writes) != 1000 || writes[0].Subject.Zone != "fleet-1099" {
		t.Errorf("%d writes, the first of %s", len(writes), writes[0].Subject.Zone)
	}
}

// BenchmarkUnfinished100000 is what a start reads of a full history.
func BenchmarkUnfinished100000(b *testing.B) {
	path := newPath(b)
	writeHistory(b, path, 100_000)
	l := mustOpen(b, path)
	for b.Loop() {
		if writes, err := l.Unfinished(b.Context()); err != nil || len(writes) > 0 {
			b.Fatal(len(writes), err)
		}
	}
}
