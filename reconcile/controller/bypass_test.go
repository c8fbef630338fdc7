package controller

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// chronicle are records that note what is found.
type chronicle struct {
	*reconciletest.Records
	mu    sync.Mutex
	found []string
}

func (c *chronicle) Record(ctx context.Context, entries ...reconcile.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range entries {
		if e.Kind == reconcile.EntryFound && e.Action == reconcile.ActionChanged {
			c.found = append(c.found, inspect.EntryWhat(e)+" "+string(e.Direction))
		}
	}
	return c.Records.Record(ctx, entries...)
}

func (c *chronicle) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.found
	c.found = nil
	return found
}

// skip puts a skip rule before the execute rule of a zone, as a person in a dashboard does; an
// empty expression takes it away.
func (f *fixture) skip(zone int, expression string) {
	f.t.Helper()
	entry := f.Entry(zone)
	entry.Rules = slices.DeleteFunc(entry.Rules, func(r edge.Rule) bool { return r.Action == edge.ActionSkip })
	if expression != "" {
		entry.Rules = slices.Insert(entry.Rules, 0, edge.Rule{
			ID: "5e1f0000000000000000000000000001", Action: edge.ActionSkip, Expression: expression, Enabled: new(true),
			ActionParameters: &edge.ActionParameters{Extra: map[string]json.RawMessage{"ruleset": json.RawMessage(`"current"`)}},
		})
	}
	must.Do(f.t, f.Platform.SetEntryPoint(mem.FleetZone(zone), entry))
}

// A skip rule that comes after the proof makes the zone bypassed at the next look: status, why
// and the page name it, and so does the history, once. When it goes, the zone is in sync.
func TestABypassedZone(t *testing.T) {
	run(t, func(t *testing.T) {
		f := newFixture(t, 2)
		records := &chronicle{Records: f.records}
		f.keep = func() control.Records { return records }
		f.repo.Push("c1", fleet(2, "xss")...)
		f.start()
		f.skip(1, "true")
		f.lookNow()
		f.lookNow()
		s := f.Status().Judged()
		if s.Zones.Outcomes[inspect.Bypassed] != 1 || s.Zones.Outcomes[inspect.InSync] != 1 || s.Verdict != inspect.Attention || !slices.Contains(s.Reasons, "1 zone is bypassed: "+zoneKey(1)) {
			t.Errorf("outcomes %v, verdict %s: %q", s.Zones.Outcomes, s.Verdict, s.Reasons)
		}
		page, err := f.ZonePage(mem.FleetZone(1))
		must.Do(t, err)
		if len(page.Bypasses) != 1 || page.Bypasses[0].State != diff.BypassNew || !page.Bypasses[0].Always || page.Outcome != inspect.Bypassed {
			t.Errorf("bypasses %+v", page.Bypasses)
		}
		text := strings.Join(page.Why, "\n")
		if !strings.Contains(text, " is bypassed: ") || strings.Count(text, "5e1f0000…") != 1 || !strings.Contains(text, "to accept it as it is, declare accepted: ") {
			t.Errorf("why:\n%s", text)
		}
		if got := records.take(); len(got) != 1 || !strings.HasPrefix(got[0], "changed outside Seawall: skip rule 5e1f0000000000000000000000000001 of ") || !strings.HasSuffix(got[0], " weakens") {
			t.Errorf("found %q", got)
		}
		f.skip(1, "")
		f.lookNow()
		if got := f.Status().Zones.Outcomes; got[inspect.InSync] != 2 {
			t.Errorf("outcomes %v", got)
		}
		if got := records.take(); len(got) != 1 || !strings.HasSuffix(got[0], " strengthens") {
			t.Errorf("found %q", got)
		}
	})
}
