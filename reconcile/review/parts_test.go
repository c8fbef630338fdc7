package review

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// inParts has a pull request of n zones open, and room for some at once.
func inParts(t *testing.T, n, room int) *fixture {
	t.Helper()
	f := newFixture(t, n)
	f.Lanes.All[0].Room = func(edge.Class, int) int { return room }
	f.converge("c1", zones(n, core("xss"))...)
	f.open(1, "p1", zones(n, core("xss", "sqli"))...)
	return f
}

func (f *fixture) wantReads(want int) {
	f.t.Helper()
	if got := f.reads(); got != want {
		f.t.Errorf("%d zones were read, want %d", got, want)
	}
}

// A pull request of more zones than there is room to read is read in parts, after the
// others, and nothing of it twice.
func TestReviewInParts(t *testing.T) {
	f := inParts(t, 60, 25)
	f.round()
	f.wantReads(25)
	f.clock.Advance(time.Minute)
	f.open(2, "p2", zonesBut(60, 60, core("sqli"))...) // not read by the first yet
	f.forge.pulls[1].Fork = true                       // and comes last otherwise
	f.round()
	if first := f.calls.Calls()[2]; reconciletest.Shorten(first) != "read 60" { // after a list and a managed ruleset
		t.Errorf("%s comes first", first)
	}
	f.wantReads(1 + 25)
	if f.forge.comments[1] != "" || f.forge.comments[2] == "" {
		t.Errorf("comments %v", f.forge.comments)
	}
	f.clock.Advance(time.Minute)
	f.round()
	f.wantReads(60 - 2*25 - 1) // the other's read counts for it, too
	if text := f.forge.comments[1]; !strings.Contains(text, "60 to change") || !strings.Contains(text, "61 requests used") {
		t.Errorf("comment\n%.3000s", text)
	}
	if n := strings.Count(f.log.String(), "read in parts"); n != 1 || strings.Contains(f.log.String(), "not reviewed") {
		t.Errorf("log\n%s", f.log)
	}
	if len(f.kept.reads) != 0 || len(f.parts) != 0 || len(f.late) != 0 {
		t.Errorf("%d reads are kept for nobody, late are %v", len(f.kept.reads), f.late)
	}
}

// Without any room nothing is evaluated again and again; a pull request of few zones
// needs none.
func TestReviewWithoutRoom(t *testing.T) {
	f := inParts(t, 40, 0)
	for range 3 {
		f.round()
	}
	f.wantReads(0)
	if n := f.heads.compiled["p1"]; n != 1 {
		t.Errorf("evaluated %d times", n)
	}
	f.open(1, "p2", zonesBut(40, 1, core("sqli"))...)
	f.round()
	f.wantReads(1)
	if f.forge.comments[1] == "" || len(f.parts) != 0 {
		t.Errorf("comments %v", f.forge.comments)
	}
}

// A push begins anew, and so does another commit in force: what was read before may
// have been changed by it. What is closed is forgotten.
func TestPartsBeginAnew(t *testing.T) {
	f := inParts(t, 60, 30)
	f.round()
	f.wantReads(30)
	f.clock.Advance(time.Minute)
	f.open(1, "p2", zones(60, core("sqli"))...)
	f.round()
	f.wantReads(30)
	f.clock.Advance(time.Minute)
	f.converge("c2", zones(60, core("rce"))...)
	f.round()
	f.wantReads(30)
	if f.forge.comments[1] != "" {
		t.Errorf("told before all was read:\n%.3000s", f.forge.comments[1])
	}
	f.forge.pulls = nil
	f.round()
	if len(f.kept.reads) != 0 || len(f.parts) != 0 {
		t.Errorf("%d reads are kept of what is closed", len(f.kept.reads))
	}
}

// A pull request whose reads take long goes on where its time was over.
func TestReviewOfSlowZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, 8)
		f.Now = time.Now
		f.kept.now = time.Now
		f.converge("c1", zones(8, core("xss"))...)
		f.open(1, "p1", zones(8, core("sqli"))...)
		f.tamper.read = func(ctx context.Context, _ edge.Scope) error {
			select {
			case <-time.After(50 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		for range 3 {
			f.round() // two and a half
		}
		if f.forge.comments[1] != "" {
			t.Error("told before all was read")
		}
		f.round()
		if !strings.Contains(f.forge.comments[1], "8 to change") {
			t.Errorf("comment\n%s", f.forge.comments[1])
		}
		if lists := strings.Count(strings.Join(f.calls.Calls(), "\n"), "/accounts/"); lists != 2 {
			t.Errorf("%d requests for what zones share", lists)
		}
	})
}

// Zones that cannot be read keep no review waiting, however many they are.
func TestPartsThatCannotBeRead(t *testing.T) {
	forbidden := &edge.Error{Status: 403}
	for name, test := range map[string]struct {
		fail   func(*fixture)
		rounds int
		says   string
	}{
		"zones that are forbidden": {func(f *fixture) {
			f.tamper.read = func(_ context.Context, zone edge.Scope) error {
				if zone.Compare(mem.FleetZone(40)) <= 0 {
					return forbidden
				}
				return nil
			}
		}, 3, "40 forbidden"},
		"an account that is forbidden": {func(f *fixture) { f.tamper.list = func(context.Context) error { return forbidden } }, 1, "60 forbidden"},
		"a platform that is down": {func(f *fixture) {
			f.tamper.read = func(context.Context, edge.Scope) error { return &edge.Error{Status: 503} }
		}, 1, "60 unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			f := inParts(t, 60, 20)
			test.fail(f)
			for range test.rounds {
				if f.forge.comments[1] != "" {
					t.Error("told too early")
				}
				f.round()
			}
			if !strings.Contains(f.forge.comments[1], test.says) {
				t.Errorf("comment\n%.2000s", f.forge.comments[1])
			}
		})
	}
}

// A credential that the platform does not take is a failure of the whole: it is tried
// again from the start, and nobody else's reads fail of it.
func TestPartsAfterAFailure(t *testing.T) {
	f := inParts(t, 120, 25)
	f.open(2, "p2", zones(120, core("sqli"))...)
	f.round()
	f.wantReads(50)
	f.tamper.read = func(context.Context, edge.Scope) error { return &edge.Error{Status: 401} }
	asked := 0
	f.Lanes.All[0].Room = func(edge.Class, int) int { asked++; return max(0, 25*(3-asked)) } // for the second one alone
	f.clock.Advance(time.Minute)
	f.round()
	if !strings.Contains(f.log.String(), "number=2 error=\"reading what is live: the platform rejected the credential") {
		t.Errorf("log\n%s", f.log)
	}
	f.tamper.read, f.Lanes.All[0].Room = nil, func(edge.Class, int) int { return 25 }
	f.clock.Advance(time.Minute)
	f.calls.Reset()
	f.round()
	if calls := f.calls.Calls(); len(calls) < 3 || reconciletest.Shorten(calls[2]) != "read 1" {
		t.Errorf("the second does not begin anew: %q", calls)
	}
	f.forge.pulls = f.forge.pulls[:1]
	for range 3 {
		f.round()
	}
	if n := strings.Count(f.log.String(), "not reviewed"); n != 1 || !strings.Contains(f.forge.comments[1], "120 to change") {
		t.Errorf("log\n%s", f.log)
	}
}
