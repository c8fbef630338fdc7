package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seawall-dev/seawall/diff"
)

// What one revert holds is one line, however many zones there are; what a person holds is not
// in it.
func TestPutBacks(t *testing.T) {
	hold := func(zone, reason string) diff.Hold {
		return diff.Hold{Zone: zone, Declaration: "d", Commit: "0123456789abcdef", Reason: reason}
	}
	byHand := diff.Hold{Zone: "b", Reason: "INC-1"}
	one, two := "revert of commit 01 (lee)", "revert of writes since noon (kim)"
	reverts, others := diff.PutBacks([]diff.Hold{hold("a", one), byHand, hold("b", one), hold("x", two), hold("c", one), hold("d", one)})
	var lines []string
	for _, r := range reverts {
		lines = append(lines, r.String())
	}
	want := []string{
		"4 zones are put back by revert of commit 01 (lee), until a new commit changes the zone: a, b, c and 1 more",
		"1 zone is put back by revert of writes since noon (kim), until a new commit changes the zone: x",
	}
	if d := cmp.Diff(want, lines); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]diff.Hold{byHand}, others); d != "" {
		t.Errorf("others (-want +got):\n%s", d)
	}
}
