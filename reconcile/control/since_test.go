package control

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// Whatever two replicas do to zones and with commits, and whatever people say meanwhile: what a replica
// knows after a reload, which reads what is new alone, is what a process knows that begins now and reads
// everything.
func TestNewsIsWhatAllOnRecordIs(t *testing.T) {
	soak.Draws(t, 12) // each has a database
	partly, caughtUp := 0, 0
	pooled := pgtest.Shared(t).Pooler(t) // whose connections know their tables: many processes begin
	rapid.Check(t, func(rt *rapid.T) {
		l := newSharedLife(t, rt, pooled)
		for n := range rapid.IntRange(1, 6).Draw(rt, "commits") {
			l.push(n)
			for range rapid.IntRange(0, 8).Draw(rt, "steps") {
				l.step(l.all[rapid.IntRange(0, 1).Draw(rt, "replica")])
			}
		}
		for _, c := range l.all {
			l.reload(c)
		}
		partly, caughtUp = partly+l.partly, caughtUp+l.caughtUp
	})
	if partly == caughtUp || caughtUp == 0 {
		t.Errorf("each reload has read everything, or nothing was caught up with: %d of %d reads of what is new", caughtUp, partly)
	}
}

// sharedLife is that of two replicas, of which the first decides about commits.
type sharedLife struct {
	*rapid.T
	test   *testing.T
	url    string
	random *rand.Rand
	all    []*Control
	state  desired.State
	now    time.Time
	partly int // reads of what is new alone
	// caughtUp are those of them that no reload has made.
	caughtUp int
}

func newSharedLife(t *testing.T, rt *rapid.T, pooled func(database string) string) *sharedLife {
	url := pooled(pgtest.Name(pgtest.Filled(t, "begun", postgres.Migrate)))
	l := &sharedLife{T: rt, test: t, url: url, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1)), now: time.Unix(1e9, 0), state: firstDrawn()}
	l.all = []*Control{l.begin(true), l.begin(false)}
	return l
}

// partial are records that tell how often not all was read.
type partial struct {
	*ledger.Ledger
	of *sharedLife
}

func (p partial) RestoreSince(ctx context.Context, known reconcile.Known) (reconcile.Record, error) {
	r, err := p.Ledger.RestoreSince(ctx, known)
	if r.Only != nil {
		p.of.partly++
	}
	return r, err
}

func (l *sharedLife) begin(leads bool) *Control {
	memory, err := ledger.Connect(l.Context(), postgres.Config{URL: l.url})
	l.must(err)
	l.Cleanup(func() { _ = memory.Close() })
	c, err := New(l.Context(), Config{
		Records: partial{memory, l}, Guards: movedGuards(), Now: func() time.Time { return l.now }, DriftFor: time.Hour, Shared: true,
		Leads:   func() (reconcile.Lease, bool) { return reconcile.Lease{}, leads },
		Foresee: func(t zone.Task) (diff.Plan, bool) { return diff.Plan{}, len(t.Zone().Scope.ID)%5 > 0 },
	})
	l.must(err)
	return c
}

func (l *sharedLife) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// push has the first replica decide about the next commit, as a controller does.
func (l *sharedLife) push(n int) {
	first := l.all[0]
	l.reload(first)
	before := l.state
	l.state = drawn(l.random, l.state, n)
	d, err := first.Propose(l.Context(), reconcile.Proposal{Commit: l.state.Commit, State: l.state})
	l.must(err)
	if d.Held != nil { // it shrinks
		l.state = before
		return
	}
	if rapid.IntRange(0, 4).Draw(l.T, "its declarations are late") > 0 {
		l.must(first.SaveState(l.Context(), first.Current()))
	}
}

// step lets something become of a zone that a replica works on, or has someone say something.
func (l *sharedLife) step(c *Control) {
	g := c.Current()
	if g == nil {
		l.reload(c)
		return
	}
	zones := slices.Collect(g.Zones())
	id := zones[l.random.IntN(len(zones))]
	t, _ := c.Task(g, id)
	change := diff.Change{
		Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: t.Account().Key, Zone: t.Zone().Key, Scope: id, Deployment: "core",
		Direction: rapid.SampledFrom([]diff.Direction{diff.Weakens, diff.Strengthens}).Draw(l.T, "direction"),
	}
	records := c.Records.(partial)
	switch rapid.SampledFrom([]string{"prove", "prove", "prove", "read", "write", "not kept", "hold", "approve", "time", "save", "reload", "reload", "catch up", "catch up"}).Draw(l.T, "step") {
	case "prove":
		l.must(c.Proved(l.Context(), t, allSettled(t)))
	case "read":
		c.Read(id)
	case "write":
		_, err := c.Permit(l.Context(), t, change, change)
		if _, elsewhere := errors.AsType[*reconcile.ElsewhereError](err); err != nil && !elsewhere && !errors.Is(err, reconcile.ErrSuperseded) {
			l.Fatal(err)
		}
	case "not kept":
		_, err := c.NotKept(l.Context(), t, change)
		l.must(err)
	case "hold":
		l.must(records.Hold(l.Context(), diff.Hold{Zone: t.Zone().Key, Scopes: []edge.Scope{id}, Reason: "r", Until: l.now.Add(time.Hour)}, "kim"))
	case "approve":
		digest := "sha256:1"
		if leaving := c.state.zones.memory.leaving; len(leaving) > 0 {
			digest = leaving[0].Digest
		}
		l.must(records.Approve(l.Context(), []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "ann", At: l.now}}))
		_, err := l.all[0].Tick(l.Context())
		l.must(err)
	case "time":
		l.now = l.now.Add(25 * time.Minute)
	case "save":
		l.must(l.all[0].SaveState(l.Context(), l.all[0].Current()))
	case "reload":
		l.reload(c)
	case "catch up":
		before, partly := countsOf(c), l.partly
		l.must(c.CatchUp(l.Context()))
		if after := countsOf(c); !reflect.DeepEqual(before, after) {
			l.Fatalf("catching up, it counts by\n%+v, before by\n%+v", after, before)
		}
		l.caughtUp += l.partly - partly
	}
}

// reload has a replica take in what is new, and compares it with one that begins.
func (l *sharedLife) reload(c *Control) {
	l.Helper()
	_, err := c.Reload(l.Context())
	l.must(err)
	fresh := l.begin(false)
	g, want := c.Current(), fresh.Current()
	if want == nil || g == nil {
		return // its declarations are not on record
	}
	if g.State.Commit != want.State.Commit {
		l.Fatalf("commit %s is in force, want %s", g.State.Commit, want.State.Commit)
	}
	for id, z := range c.state.zones.records {
		if z.read { // here, which is not on record
			fresh.Read(id)
		}
	}
	for what, pair := range map[string][2]any{
		"declarations": {g.prints, want.prints}, "labels": {g.labels, want.labels}, "what was before": {g.earlier, want.earlier},
		"the accepted commit": {c.state.accepted, fresh.state.accepted}, "another commit": {c.state.overtaken, fresh.state.overtaken},
		"proofs": {proofsOf(c), proofsOf(fresh)}, "owned": {ownedBy(c), ownedBy(fresh)}, "not kept": {unkeptOf(c), unkeptOf(fresh)},
		"the memory": {c.state.zones.memory, fresh.state.zones.memory}, "departures": {c.state.zones.departed, fresh.state.zones.departed},
		"the base of drift": {c.state.limits.driftBase, fresh.state.limits.driftBase}, "the base of the commit": {c.state.limits.commitBase, fresh.state.limits.commitBase},
		"the tally of drift": {c.state.limits.drift, fresh.state.limits.drift}, "the last drifts": {c.state.limits.newest, fresh.state.limits.newest},
		"what was sent": {c.state.limits.sent, fresh.state.limits.sent}, "waves": {c.state.rollout.have, fresh.state.rollout.have},
		"holds": {c.Holds(), fresh.Holds()}, "approvals": {c.state.approvals.known, fresh.state.approvals.known},
		"commit work": {c.state.zones.commitWork(g), fresh.state.zones.commitWork(want)}, "what is not declared": {undeclaredOf(c), undeclaredOf(fresh)},
	} {
		if v := reflect.ValueOf(pair[0]); v.Kind() == reflect.Map && v.Len() == 0 && reflect.ValueOf(pair[1]).Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(pair[0], pair[1]) {
			l.Fatalf("commit %s: %s is\n%+v, want\n%+v", g.State.Commit, what, pair[0], pair[1])
		}
	}
}

// undeclaredOf are the zones that are to be forgotten, but for those of which nothing is on record.
func undeclaredOf(c *Control) []edge.Scope {
	list := slices.DeleteFunc(c.state.zones.undeclared(c.Current()), func(id edge.Scope) bool {
		z := c.state.zones.records[id]
		return z.proof.Fingerprint == "" && len(z.applied)+len(z.unkept) == 0
	})
	return slices.SortedFunc(slices.Values(list), edge.Scope.Compare)
}

func proofsOf(c *Control) map[edge.Scope]reconcile.Proof {
	all := map[edge.Scope]reconcile.Proof{}
	for id, z := range c.state.zones.records {
		if z.proof.Fingerprint != "" {
			all[id] = z.proof
		}
	}
	return all
}

func ownedBy(c *Control) map[diff.ID]string {
	all := map[diff.ID]string{}
	for _, z := range c.state.zones.records {
		for _, a := range z.applied {
			all[a.id] = fmt.Sprint(a.value)
		}
		for id, p := range z.prunable {
			all[id] += " " + p.Deployment
		}
	}
	return all
}

func unkeptOf(c *Control) map[diff.ID]string {
	all := map[diff.ID]string{}
	for _, z := range c.state.zones.records {
		for id, u := range z.unkept {
			all[id] = u.fingerprint
		}
	}
	return all
}

// allSettled has all that a zone declares agree.
func allSettled(t zone.Task) (settled []diff.Settled) {
	for _, d := range t.Zone().Deployments {
		s := diff.Settled{ID: diff.ID{Scope: t.Zone().Scope, Ruleset: edge.RulesetID("id-" + d.Ruleset)}}
		if d.Prune {
			s.Prune = &diff.Prunable{Deployment: d.Name()}
		}
		settled = append(settled, s)
	}
	for _, o := range t.Zone().Others {
		s := diff.Settled{ID: diff.ID{Kind: o.Kind, Scope: t.Zone().Scope, Ref: o.Key}}
		if o.Prune {
			s.Prune = &diff.Prunable{Deployment: o.Key}
		}
		settled = append(settled, s)
	}
	return settled
}
