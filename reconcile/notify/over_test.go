package notify

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// TestCommitIsSeenOver: a look at git that goes on keeps no end back, unless it is the one that
// has fetched: looks may fall on each moment at which causes are looked at.
func TestCommitIsSeenOver(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		source inspect.Source
		want   bool
	}{
		"nothing was fetched":      {inspect.Source{}, false},
		"it has ended":             {inspect.Source{LastSuccess: at}, true},
		"it is not decided":        {inspect.Source{LastSuccess: at, Looking: at.Add(-time.Second)}, false},
		"another look has begun":   {inspect.Source{LastSuccess: at, Looking: at.Add(time.Second)}, true},
		"the first look is on way": {inspect.Source{Looking: at}, false},
	} {
		if got := seenOver(Open{About: AboutCommit}, inspect.Status{Source: test.source}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
