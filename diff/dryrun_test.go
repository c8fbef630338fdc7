package diff_test

import (
	"testing"

	"github.com/seawall-dev/seawall/diff"
)

func TestDryRunText(t *testing.T) {
	for want, d := range map[string]diff.DryRun{
		"dry run: the platform was asked about 1 change":                                           {Tried: 1},
		"dry run: the platform was asked about 2 changes; not about a, b, c and 1 more: no reason": {Tried: 2, NotTried: []string{"a", "b", "c", "d"}, Reason: "no reason"},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
