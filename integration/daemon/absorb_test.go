package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/harness"
)

// TestAdoptedFleetIsAbsorbed: each change by hand can be taken over, whatever it is, and no
// other zone is declared otherwise. Each is made in two zones of different tiers, of two fleets.
func TestAdoptedFleetIsAbsorbed(t *testing.T) {
	t.Parallel()
	for first := range 2 {
		t.Run(fmt.Sprint("from change ", first), func(t *testing.T) {
			t.Parallel()
			isAbsorbed(t, adopt(t, hands(0, first)))
		})
	}
}

func isAbsorbed(t *testing.T, a *adoption) {
	t.Helper()
	a.changeByHand()
	left := 0
	for _, h := range a.hands {
		name := a.nameOf(h.zone)
		o := harness.Run(t, nil, "absorb", name, "--dir", a.Repo.Dir, "--config", a.ConfigFile())
		o.Want(t, 0, name)
		if strings.Contains(o.Stderr, "leaves _") {
			left++
		}
	}
	harness.Run(t, nil, "plan", "--dir", a.Repo.Dir, "--config", a.ConfigFile(), "--detailed-exitcode").Want(t, 0, a.inSync())
	if left != 3 { // the ruleset off beside a paranoia level, no level at all, no overrides
		t.Errorf("%d zones left their tier", left)
	}
	if text := a.Repo.Git("diff"); strings.Contains(text, "} // id") {
		t.Errorf("a comment is behind a block:\n%s", text)
	}
	text := a.Repo.Git("diff", "-U0")
	for i := len(a.hands) + 1; i <= len(a.hands)+unchanged; i++ {
		if strings.Contains(text, a.nameOf(mem.FleetZone(i))) {
			t.Errorf("%s was declared otherwise:\n%s", a.nameOf(mem.FleetZone(i)), text)
		}
	}
}
