package notify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// later has the clock go on between two looks of all that run.
func (o *others) later(d time.Duration) {
	o.t.Helper()
	o.again()
	o.mu.Lock()
	o.ahead += d
	o.mu.Unlock()
	o.again()
}

// again waits until all that run have looked from now on, and are done with that.
func (o *others) again() {
	o.t.Helper()
	o.mu.Lock()
	for one := range o.looks {
		o.looks[one] = 0
	}
	o.mu.Unlock()
	o.await("a look of each", func() bool {
		for _, n := range o.looks {
			if n < 2 {
				return false
			}
		}
		return true
	})
}

func (o *others) told(want ...string) {
	o.t.Helper()
	o.await(strings.Join(want, ", "), func() bool { return len(o.got) >= len(want) })
	o.mu.Lock()
	defer o.mu.Unlock()
	var got []string
	for _, m := range o.got {
		got = append(got, m.Cause+" "+string(m.State))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		o.t.Fatalf("sent: %q, want %q", got, want)
	}
}

// TestPartsAreToldOnce: each replica tells of what it has the lease of. What was told is not told
// again by the next holder, and has not ended because that one has read nothing yet; its end is told
// by whoever sees it, once. What was told of a credential that is not configured any more ends with
// the leader.
func TestPartsAreToldOnce(t *testing.T) {
	t.Parallel()
	o := &others{t: t, url: pgtest.Database(t), failed: map[string]bool{}, groups: map[string][]inspect.Group{}, unread: map[string]int{}, looks: map[string]int{}}
	wrong := []inspect.Group{{Outcome: inspect.Refused, By: "limits", Count: 1, First: []string{"shop"}, Since: time.Now()}}
	a, b := o.runs("a", "credential x", "credential y", "tokens"), o.runs("b", "credential x", "credential y", "tokens")
	leading, x, y := a(""), a("credential x"), b("credential y")
	o.mu.Lock()
	o.groups["credential x"], o.groups["credential y"] = wrong, wrong
	o.mu.Unlock()
	o.later(2 * steady)
	begun := []string{"zones/refused/limits@x begins", "zones/refused/limits@y begins"}
	o.told(begun...)
	o.mu.Lock()
	if text := o.got[0].Text + o.got[1].Text; !strings.Contains(text, "Of credential credential x.") || !strings.Contains(text, "Of credential credential y.") {
		t.Errorf("the texts do not say which credential: %q", text)
	}
	o.unread["b"] = 3
	o.mu.Unlock()

	leading() // the first is gone
	x()
	leading, x = b(""), b("credential x")
	o.later(2 * inherited)
	o.told(begun...)
	o.mu.Lock()
	o.unread["b"] = 0
	o.mu.Unlock()
	o.later(2 * steady)
	o.told(begun...)

	o.mu.Lock()
	o.groups["credential y"] = nil
	o.mu.Unlock()
	o.later(2 * steady)
	ended := append(slices.Clone(begun), "zones/refused/limits@y ends")
	o.told(ended...)
	x()
	y()
	x, y = a("credential x"), a("credential y") // and back: nothing has happened
	o.later(2 * steady)
	o.told(ended...)

	leading()
	x()
	y()
	c := o.runs("c", "credential y") // the other credential is not configured any more
	leading = c("")
	defer func() { leading() }()
	o.again() // it was taken over after the first look
	o.later(2 * steady)
	o.told(append(slices.Clone(ended), "zones/refused/limits@x ends")...)
}
