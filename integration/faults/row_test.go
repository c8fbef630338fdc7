package main

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/harness"
)

// TestOneRow measures a row over a fault that the program hardly feels, with the
// real binary. It looks at what happened, and not at how long that took.
func TestOneRow(t *testing.T) {
	t.Parallel()
	s := quirkScenario("reorder")
	s.shape = shape{zones: 20, sweep: time.Second}
	s.drift = drifts{count: 4, settle: time.Millisecond}
	s.patience = time.Minute
	r := options{binary: harness.Seawall(t)}.measure(t.Context(), s, t.TempDir())
	if r.err != nil {
		t.Fatal(r.err)
	}
	if got := len(r.undisturbed.drift.took); got != undisturbedDrifts {
		t.Errorf("%d drifts healed undisturbed, want %d", got, undisturbedDrifts)
	}
	if got := len(r.disturbed.drift.took); got != 4 || r.disturbed.drift.missing != 0 {
		t.Errorf("%d drifts healed with the fault, want 4", got)
	}
	if len(r.undisturbed.pushes.took) != pushCount || len(r.disturbed.pushes.took) != pushCount {
		t.Errorf("pushes were live: %d undisturbed and %d with the fault, want %d", len(r.undisturbed.pushes.took), len(r.disturbed.pushes.took), pushCount)
	}
	if !r.recovered || r.restarted || r.writes != 0 {
		t.Errorf("recovered %t, restarted %t, %d writes too many", r.recovered, r.restarted, r.writes)
	}
}
