package setup

import (
	"testing"

	"github.com/seawall-dev/seawall/edge"
)

// What a command is for says how its requests share the budget: what only reads never takes
// what is kept for pushes, whoever forgets to say what it is for included.
func TestClassesOfPurposes(t *testing.T) {
	for why, want := range map[Purpose]edge.Class{
		ToPlan: edge.Question, Settings{}.why: edge.Question, ToApply: edge.Bulk, ToServe: edge.Bulk, toObserve: edge.Bulk, ToRevert: edge.Urgent,
	} {
		if got := why.class(); got != want {
			t.Errorf("purpose %d: %v, want %v", why, got, want)
		}
	}
	if !ToRevert.writes() || ToRevert.serves() {
		t.Error("a revert is one run that writes")
	}
}
