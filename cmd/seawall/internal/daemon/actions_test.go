package daemon

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

func core(tags ...string) desired.Deployment {
	return reconciletest.Removing(reconciletest.Core(tags...))
}

func tagsOff(h *house, i int) string { return strings.Join(h.Off(i), ",") }

// A hold keeps a commit from being written at once, and its release has it written at once.
func TestHoldAndRelease(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, reconcile.Guards{}, reconciletest.Zones(2, core("xss")), func(t *testing.T, h *house) {
		who, zone := operatorOf(), mem.FleetZone(1)
		for _, bad := range []struct {
			length time.Duration
			reason string
		}{{0, "x"}, {-time.Hour, "x"}, {31 * 24 * time.Hour, "x"}, {time.Hour, " "}} {
			if _, err := h.Hold(t.Context(), who, zone, bad.length, bad.reason); refused(err) != 400 {
				t.Errorf("held for %s because of %q: %v", bad.length, bad.reason, err)
			}
		}
		said, err := h.Hold(t.Context(), who, zone, 2*time.Hour, "INC-1")
		if err != nil || !strings.Contains(said, "zone-00001.example is held until") {
			t.Fatalf("%s %v", said, err)
		}
		h.push("c2", reconciletest.Zones(2, core("sqli"))...)
		if tagsOff(h, 1) != "xss" || tagsOff(h, 2) != "sqli" {
			t.Errorf("written: %s, %s", tagsOff(h, 1), tagsOff(h, 2))
		}
		if _, err := h.Release(t.Context(), who, zone); err != nil {
			t.Fatal(err)
		}
		h.pass(200 * time.Millisecond)
		if tagsOff(h, 1) != "sqli" {
			t.Errorf("not written after the release: %s", tagsOff(h, 1))
		}
		if _, err := h.Release(t.Context(), who, zone); refused(err) != 409 {
			t.Errorf("released twice: %v", err)
		}
		for _, action := range []string{reconcile.ActionHold, reconcile.ActionRelease} {
			if e := h.entries(action); len(e) != 1 || e[0].Asked.User != who.Name || e[0].Subject.Zone != reconciletest.ZoneKey(1) {
				t.Errorf("%s: %+v", action, e)
			}
		}
	})
}

// A right by labels is one by those that are declared and by those that were proved.
func TestRightsByLabels(t *testing.T) {
	t.Parallel()
	gold := []desired.Zone{labelled(reconciletest.Zone(1, core("xss")), "tier", "gold"), labelled(reconciletest.Zone(2, core("xss")), "tier", "plain")}
	inBubble(t, 2, reconcile.Guards{}, gold, func(t *testing.T, h *house) {
		who, one, two := operatorOf("tier", "gold"), mem.FleetZone(1), mem.FleetZone(2)
		read := func(who login.Person, zones ...edge.Scope) int {
			h.pass(time.Minute)
			_, err := h.ReadNow(t.Context(), who, zones)
			return refused(err)
		}
		seer := login.Person{Name: "proxy:sam", Grants: []login.Grant{{Role: login.Viewer, Labels: map[string]string{"tier": "gold"}}}}
		for name, got := range map[string][2]int{
			"own zone": {read(who, one), 0}, "another": {read(who, two), 404}, "both": {read(who, one, two), 404}, "as a viewer": {read(seer, one), 403},
			"unknown": {read(operatorOf(), edge.ZoneScope("x")), 404}, "none": {read(operatorOf()), 400}, "all": {read(operatorOf(), one, two), 0},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %d, want %d", name, got[0], got[1])
			}
		}
		// A commit relabels both, and neither can be proved.
		h.hand.hear(func(string, edge.Scope) error { return reconciletest.ErrDown })
		h.push("c2", labelled(reconciletest.Zone(1, core("xss")), "tier", "plain"), labelled(reconciletest.Zone(2, core("xss")), "tier", "gold"))
		if a, b := read(who, one), read(who, two); a != 404 || b != 404 {
			t.Errorf("after a commit that was not proved: %d, %d", a, b)
		}
		if _, err := h.Hold(t.Context(), who, two, time.Hour, "x"); refused(err) != 404 {
			t.Errorf("held: %v", err)
		}
		h.hand.hear(nil)
		h.pass(time.Hour)
		if a, b := read(who, one), read(who, two); a != 404 || b != 0 {
			t.Errorf("once it was proved: %d, %d", a, b)
		}
	})
}

// A hold is by name. One who may not act on all zones that it concerns does not set or end it.
func TestHoldOfOtherZones(t *testing.T) {
	zones := []desired.Zone{labelled(reconciletest.Zone(1, core("xss")), "team", "a"), labelled(reconciletest.Zone(2, core("xss")), "team", "b")}
	inBubble(t, 2, reconcile.Guards{}, zones, func(t *testing.T, h *house) {
		a, b := operatorOf("team", "a"), operatorOf("team", "b")
		if _, err := h.Hold(t.Context(), a, mem.FleetZone(1), time.Hour, "INC-1"); err != nil {
			t.Fatal(err)
		}
		// The zones swap their names: team b has the name that is held, and team a the zone.
		one, two := labelled(reconciletest.Zone(1, core("xss")), "team", "a"), labelled(reconciletest.Zone(2, core("xss")), "team", "b")
		one.Key, two.Key = two.Key, one.Key
		h.push("c2", one, two)
		if _, err := h.Hold(t.Context(), b, mem.FleetZone(2), time.Minute, "mine"); refused(err) != 403 {
			t.Errorf("the hold of another team is replaced: %v", err)
		}
		if _, err := h.Release(t.Context(), b, mem.FleetZone(2)); refused(err) != 403 {
			t.Errorf("the hold of another team is ended: %v", err)
		}
		if _, err := h.Release(t.Context(), operatorOf(), mem.FleetZone(1)); err != nil {
			t.Error(err)
		}
	})
}

// One zone is read at most once in a while, all together within a bound, and each reading that
// was ordered is in the history.
func TestReadNow(t *testing.T) {
	t.Parallel()
	const n = 250
	inBubble(t, n, reconcile.Guards{}, reconciletest.Zones(n, core("xss")), func(t *testing.T, h *house) {
		h.pass(time.Minute)
		reads, mu := map[edge.Scope]int{}, sync.Mutex{}
		h.hand.hear(func(_ string, zone edge.Scope) error {
			mu.Lock()
			defer mu.Unlock()
			reads[zone]++
			return nil
		})
		who := operatorOf()
		for range 5 {
			_, err := h.ReadNow(t.Context(), who, []edge.Scope{mem.FleetZone(1), mem.FleetZone(1)})
			must.Do(t, err)
		}
		h.pass(time.Second)
		if reads[mem.FleetZone(1)] != 1 || len(reads) != 1 || len(h.entries(reconcile.ActionRead)) != 1 {
			t.Errorf("%v, history %v", reads, h.entries(reconcile.ActionRead))
		}
		h.pass(time.Minute)
		clear(reads)
		all := []edge.Scope{}
		for i := range n {
			all = append(all, mem.FleetZone(i+1))
		}
		said, err := h.ReadNow(t.Context(), who, all)
		h.pass(time.Second)
		if err != nil || !strings.HasPrefix(said, "200 of 250 zones") || len(reads) != 200 || len(h.entries(reconcile.ActionRead)) != 201 {
			t.Errorf("%s %v: %d read", said, err, len(reads))
		}
	})
}

// An approval is of what waits in this zone, now, and not by the author of the commit.
func TestApprove(t *testing.T) {
	t.Parallel()
	guards := reconcile.Guards{Rules: []guard.Rule{{Name: "calm", Approve: guard.ApproveAll}}}
	inBubble(t, 3, guards, nil, func(t *testing.T, h *house) {
		h.push("c2", reconciletest.Zones(3, core("xss"))...)
		first, second := h.digest(1), h.digest(2)
		if first == "" || second == "" || first == second {
			t.Fatalf("nothing waits: %q, %q", first, second)
		}
		who := operatorOf()
		approve := func(who login.Person, zone int, digest, reason string) int {
			_, err := h.Approve(t.Context(), who, mem.FleetZone(zone), digest, reason)
			return refused(err)
		}
		ada := login.Person{Name: "oidc:ADA@example.com", Grants: who.Grants}
		for name, got := range map[string][2]int{
			"another zone's": {approve(who, 1, second, ""), 409}, "nothing": {approve(who, 1, "", ""), 409}, "unknown": {approve(who, 1, "sha256:1", ""), 409},
			"by the author": {approve(ada, 1, first, ""), 403}, "no such zone": {approve(who, 9, first, ""), 404},
		} {
			if got[0] != got[1] {
				t.Errorf("%s: %d, want %d", name, got[0], got[1])
			}
		}
		if tagsOff(h, 1) != "" {
			t.Fatal("written without an approval")
		}
		if got := approve(who, 1, first, "review of pull request 7"); got != 0 {
			t.Fatalf("refused: %d", got)
		}
		if got := approve(who, 1, first, "twice"); got != 0 {
			t.Errorf("the same form once more: %d", got)
		}
		h.pass(200 * time.Millisecond)
		if tagsOff(h, 1) != "xss" || tagsOff(h, 2) != "" {
			t.Errorf("written: %q, %q", tagsOff(h, 1), tagsOff(h, 2))
		}
		e := h.entries(reconcile.ActionApprove)
		if len(e) != 1 || e[0].Asked.User != who.Name || e[0].Digest != first || e[0].Subject.Scope != mem.FleetZone(1) || e[0].Reason != "on the page: review of pull request 7" {
			t.Errorf("history: %+v", e)
		}
		if got := approve(who, 1, first, ""); got != 409 {
			t.Errorf("what is made is approved: %d", got)
		}
		// It is another change by now.
		h.push("c3", append(reconciletest.Zones(1, core("xss")), reconciletest.Zone(2, core("sqli")), reconciletest.Zone(3, core("xss")))...)
		if got := approve(who, 2, second, ""); got != 409 {
			t.Errorf("a digest of an earlier commit: %d", got)
		}
	})
}

func TestIsAuthor(t *testing.T) {
	for _, c := range []struct {
		person, author string
		want           bool
	}{
		{"oidc:ada@example.com", "Ada Lovelace <ada@example.com>", true},
		{"oidc:ADA@Example.com", "Ada Lovelace <ada@example.com>", true},
		{"proxy:ada", "Ada Lovelace <ada@example.com>", true},
		{"certificate:Ada Lovelace", "Ada Lovelace <ada@example.com>", true},
		{"oidc:bob@example.com", "Ada Lovelace <ada@example.com>", false},
		{"oidc:ada@example.org", "Ada Lovelace <ada@example.com>", false},
		{"oidc:ada@example.com", "", false},
		{"", "", false},
		{"oidc:", " <>", false},
	} {
		if got := isAuthor(c.person, c.author); got != c.want {
			t.Errorf("%q is the author %q: %v", c.person, c.author, got)
		}
	}
}

var errAny = errors.New("any")

// Orders that come before the daemon works are refused.
func TestNoHeart(t *testing.T) {
	inBubble(t, 1, reconcile.Guards{}, reconciletest.Zones(1, core("xss")), func(t *testing.T, h *house) {
		heart := h.heart
		h.heart = nil
		defer func() { h.heart = heart }()
		_, read := h.ReadNow(t.Context(), operatorOf(), []edge.Scope{mem.FleetZone(1)})
		_, held := h.Hold(t.Context(), operatorOf(), mem.FleetZone(1), time.Hour, "x")
		if got := []int{refused(read), refused(held), refused(errAny)}; !slices.Equal(got, []int{503, 503, -1}) {
			t.Errorf("%v", got)
		}
	})
}
