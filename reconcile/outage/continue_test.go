package outage

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// What lasts when the configuration is reloaded is told once, and ends once; of what nothing is heard
// any more, no one waits for ever.
func TestAReloadGoesOnWithAnOutage(t *testing.T) {
	h := newHistory(1)
	fail := func() {
		h.Failed(reconcile.OutageGit, "", "fetch", errors.New("no route to host"))
		h.Lane("a", "accounts.a").Failed(reconcile.OutageAccount, "a", "list", errDenied)
	}
	fail()
	h.Failed(reconcile.OutageRoute, "removed", "send", errors.New("no such host"))
	h.told = nil
	before := h.Outages()
	var told []string
	h.Continue(func(e Event) { told = append(told, fmt.Sprintf("%s %s", e.Kind, e.Outage.Subject)) })
	h.pass(time.Minute)
	fail()
	if after := h.Outages(); len(after) != 3 || len(told) > 0 || !after[0].Since.Equal(before[0].Since) {
		t.Errorf("after the reload: %q, %+v; before it: %+v", told, after, before)
	}
	h.Worked(reconcile.OutageGit, "", "fetch")
	h.Lane("a", "accounts.a").Worked(reconcile.OutageAccount, "a", "list")
	if h.pass(settle); len(told) != 2 || len(h.Outages()) != 1 {
		t.Errorf("once it works: %q, %+v", told, h.Outages())
	}
	if h.pass(continued); len(told) != 3 || len(h.Outages()) != 0 {
		t.Errorf("what nothing is heard of: %q, %+v", told, h.Outages())
	}
	h.want(t) // by the daemon of before
	h.Declare(1, func(edge.Scope) bool { return true })
}

// What is not tried any more after a reload, such as git for reviews that were removed, does not keep an
// outage whose other parts go on failing for a while.
func TestAReloadLetsGoOfWhatIsNotTried(t *testing.T) {
	h := newHistory(1)
	fail := func(what string) { h.Failed(reconcile.OutageGit, "", what, errors.New("no route to host")) }
	fail("fetch")
	fail("pull requests")
	h.Continue(func(Event) {})
	for range 5 {
		h.pass(continued / 4)
		fail("fetch")
	}
	h.Worked(reconcile.OutageGit, "", "fetch")
	if h.pass(settle); len(h.Outages()) != 0 {
		t.Errorf("it lasts: %+v", h.Outages())
	}
}
