package controller

import (
	"context"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/source"
)

// replicas are several processes over the records of a split fixture, with leases that are given by
// hand.
type replicas struct {
	*split
	leases *reconciletest.Leases
	all    map[string]*replica
	// declared are the tags that commits declare, by zone, where they are others than those of the first.
	declared map[string]map[int]string
	slow     string // reads zones of others slowly
}

// replica is one of them: what it asks of the platform, and what it reports, are its own.
type replica struct {
	*Controller
	name    string
	calls   map[string]*calls // by lane
	journal *journal
	source  *source.Source
	stop    func()
}

const (
	leaseA = reconcile.LeaseName("credential accounts.a.credentials.rulesets")
	leaseB = reconcile.LeaseName("credential accounts.b.credentials.rulesets")
	// ticked is when a tick has passed at every process, and what it brought is done.
	ticked = 3 * 2 * tickEvery
)

func newReplicas(t testT, n int) *replicas {
	r := &replicas{split: newSplit(t, n), leases: reconciletest.NewLeases(), all: map[string]*replica{}, declared: map[string]map[int]string{}}
	t.Cleanup(func() {
		for _, one := range r.all {
			one.stop()
		}
	})
	return r
}

// twoReplicas are two processes that are done with a first commit: the first leads and has the zones
// of a, the second those of b.
func twoReplicas(t testT, n int, guards reconcile.Guards) (r *replicas, first, second *replica) {
	t.Helper()
	r = newReplicas(t, n)
	r.leases.Give("r1", reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA)
	r.leases.Give("r2", leaseB)
	r.commit("c1", "xss")
	first, second = r.run("r1"), r.run("r2")
	r.pass(soon + ticked)
	r.wantAll("xss")
	if guards.Rules == nil && guards.Waves == nil {
		return r, first, second
	}
	first.stop()
	second.stop()
	r.Guards = guards
	first, second = r.run("r1"), r.run("r2")
	r.pass(soon + ticked)
	return r, first, second
}

// run begins a process.
func (r *replicas) run(name string) *replica {
	r.t.Helper()
	one := &replica{name: name, calls: map[string]*calls{}, journal: &journal{}}
	config := r.Config
	config.Records, config.Leases, config.Reporters = r.records, r.leases.Of(name), []reconcile.Reporter{one.journal}
	if r.keep != nil {
		config.Records = r.keep()
	}
	config.Lanes.All = slices.Clone(config.Lanes.All)
	for i, lane := range config.Lanes.All {
		own := owned{&calls{Platform: r.Platform, latency: latency}, lane.Name, r.owner, func(text string) { r.t.Errorf("%s", text) }}
		config.Lanes.All[i].Reader, config.Lanes.All[i].Writer = own, own
		one.calls[lane.Name] = own.calls
		if name == r.slow {
			r.slowly(one, lane.Name)
		}
	}
	one.source = source.New(source.Config{Source: r.repo, Compiler: r.repo, Agreed: r.repo.Agreed, Schedule: r.sync, Now: time.Now})
	config.Source = one.source
	ctx, cancel := context.WithCancel(r.t.Context())
	heart, err := New(ctx, config)
	if err != nil {
		cancel()
		r.t.Fatalf("%v", err)
	}
	one.Controller = heart
	done := make(chan struct{})
	go func() { defer close(done); heart.Run(ctx) }()
	one.stop = func() { cancel(); <-done }
	r.all[name] = one
	return one
}

// end ends a process, which is told so, and gives its leases to another.
func (r *replicas) end(one *replica, next string) {
	one.stop()
	r.leases.Give(next, reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA, leaseB)
}

// push makes a commit the head, and has it looked at.
func (r *replicas) push(name string, tags ...string) {
	r.repo.Commit(name, commit{State: r.state(name, tags...)})
	for _, one := range r.all {
		one.source.Poke()
	}
}

func (r *replicas) wantAll(tags string) {
	r.t.Helper()
	if a, b := r.have("a", tags), r.have("b", tags); a != r.n || b != r.n {
		r.t.Errorf("of %d zones each, %d of a and %d of b have %q off", r.n, a, b, tags)
	}
}

// quiet fails where a process has reported a failure, or tries something again.
func (r *replicas) quiet() {
	r.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(r.all)) {
		one := r.all[name]
		if errs := failures(one.journal.all()); len(errs) > 0 {
			r.t.Errorf("%s reports %v", name, errs)
		}
		if n := one.retries.len(); n > 0 {
			r.t.Errorf("%s tries %d zones again", name, n)
		}
		for _, report := range one.journal.all() {
			for _, result := range report.Results {
				if result.Outcome == reconcile.Failed {
					r.t.Errorf("%s reports that %s failed: %v", name, result.Change.Name(), result.Err)
				}
			}
		}
	}
}

// What one process accepts another applies, within a few ticks, without looking at git.
func TestCommitReachesTheOtherProcess(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 5, reconcile.Guards{})
		r.push("c2", "sqli")
		r.pass(ticked)
		r.wantAll("sqli")
		if at := second.source.Progress().Success; !at.IsZero() {
			t.Error("a process that does not lead has looked at git")
		}
		if first.Leads() == second.Leads() {
			t.Error("both lead, or none")
		}
		if n := len(who(slices.Concat(first.calls["b"].take(), second.calls["a"].take()))); n > 0 {
			t.Errorf("%d zones of another process were asked about", n)
		}
		r.quiet()
	})
}

// A process that gets a lease reads what the one before has come to: it writes nothing twice, and
// goes on with the sweep where it was.
func TestTakeOver(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 5, reconcile.Guards{})
		r.pass(interval / 2)
		for _, c := range []*calls{first.calls["a"], second.calls["a"], second.calls["b"]} {
			c.take()
		}
		r.end(first, "r2")
		r.pass(soon)
		if n := len(only(second.calls["a"].take(), "read")); n > 1 { // one may have been due a moment before
			t.Errorf("%d zones are read for it", n)
		}
		r.pass(interval / 2)
		if n := len(only(second.calls["a"].take(), "read")); n < 1 || n > 5 {
			t.Errorf("%d reads of 5 zones in half an interval", n)
		}
		if !second.Leads() {
			t.Error("the process that is left does not lead")
		}
		r.push("c2", "sqli")
		r.pass(soon)
		r.wantAll("sqli")
		r.quiet()
	})
}

// A lease that is gone keeps what waits from being sent, and nothing has failed.
func TestLostLeaseSendsNothing(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 3, reconcile.Guards{})
		first.calls["a"].set(func(_ context.Context, c call) error {
			if c.verb == "write" {
				time.Sleep(10 * time.Second) // as for the request budget
			}
			return nil
		})
		r.push("c2", "sqli")
		r.pass(2 * time.Second)
		r.leases.Give("r2", leaseA)
		r.pass(time.Minute)
		r.wantAll("sqli")
		if n := len(only(second.calls["a"].take(), "write")); n != 3 {
			t.Errorf("the other process has written %d zones", n)
		}
		for i := 1; i <= 3; i++ {
			if v := r.Entry(i).Version; v != "3" { // one for each commit
				t.Errorf("zone %d has version %s", i, v)
			}
		}
		r.quiet()
	})
}

// A request ends before its lease does.
func TestRequestEndsBeforeItsLease(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, _ := twoReplicas(t, 1, reconcile.Guards{})
		r.leases.Ends(leaseA, 3*time.Second)
		took := make(chan time.Duration, 1) // of the first request
		first.calls["a"].answerBy(func(call, func() (*edge.Ruleset, error)) (*edge.Ruleset, error) {
			return nil, edge.ErrOutcomeUnknown
		})
		first.calls["a"].wait = func(ctx context.Context) {
			began := time.Now()
			<-ctx.Done()
			select {
			case took <- time.Since(began):
			default:
			}
		}
		r.push("c2", "sqli")
		r.pass(time.Minute)
		if ended := <-took; ended != 3*time.Second {
			t.Errorf("the request was ended after %s", ended)
		}
	})
}

// A lease is given up in good order: what has begun is finished first, and the other begins then.
func TestHandOver(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 3, reconcile.Guards{})
		busy := make(chan struct{})
		first.calls["a"].set(func(_ context.Context, c call) error {
			if c.verb == "write" && c.who == "1" {
				<-busy
			}
			return nil
		})
		r.push("c2", "sqli")
		r.pass(soon)
		r.leases.Move("r2", leaseA)
		r.pass(soon)
		if r.leases.Holder(leaseA) != "r1" {
			t.Fatal("the lease was given up while a write was on its way")
		}
		close(busy)
		synctest.Wait()
		r.pass(soon)
		if r.leases.Holder(leaseA) != "r2" {
			t.Fatal("the lease was not given up")
		}
		r.drift(1)
		second.look1(t)
		r.wantAll("sqli")
		r.quiet()
	})
}

// A process says of zones that another works on neither that they wait nor that they are as declared,
// and does not answer for git where another looks at it.
func TestStatusOfOneOfSeveral(t *testing.T) {
	run(t, func(t *testing.T) {
		r, first, second := twoReplicas(t, 3, reconcile.Guards{})
		r.push("c2", "sqli")
		r.pass(ticked)
		for _, one := range []*replica{first, second} {
			s := one.Status()
			if s.Zones.Outcomes[inspect.NotRead] != 3 || s.Zones.Outcomes[inspect.InSync] != 3 || len(s.Zones.Notable) > 0 {
				t.Errorf("%s says %v of zones", one.name, s.Zones.Outcomes)
			}
			if s.Commit.InForce != "c2" || s.Commit.Wanted != "c2" {
				t.Errorf("%s says %+v of commits", one.name, s.Commit)
			}
		}
		r.pass(time.Hour)
		if age := second.Status().Source.AgeSeconds; age != 0 {
			t.Errorf("a process that does not look at git says that it was fetched %g seconds ago", age)
		}
		list, _ := second.Zones(zoneKey(1)) // of the first
		if z := list.Zones[0]; z.Outcome != inspect.NotRead || z.Next != nil || len(z.Decisions) > 0 {
			t.Errorf("it says of a zone of another: %+v", z)
		}
		r.leases.Give("r2", leaseA)
		r.pass(interval)
		if n := second.Status().Zones.Outcomes[inspect.InSync]; n != 6 {
			t.Errorf("%d zones are in sync for a process that has all", n)
		}
		if n := first.Status().Zones.Outcomes[inspect.NotRead]; n != 6 {
			t.Errorf("%d zones were not read by a process that has none", n)
		}
	})
}

// A process tells of the zones that it works on, and of no others: neither that they are in sync nor
// that it waits for them. What it has counted of them for a limit is not how they are.
func TestReportsOfOneOfSeveral(t *testing.T) {
	run(t, func(t *testing.T) {
		few := reconcile.Guards{Rules: []guard.Rule{{Name: "default", Weakening: &guard.Limit{Count: new(1)}}}}
		r, first, second := twoReplicas(t, 3, few)
		for _, one := range []*replica{first, second} {
			one.journal.take()
		}
		r.push("c2", "xss", "sqli") // weakens all of them
		r.pass(2 * interval)
		for _, one := range []*replica{first, second} {
			sweeps := 0
			for _, report := range one.journal.take() {
				if s := report.Plan.Summary; report.Sum && (s.Zones != 3 || s.InSync != 0) {
					t.Errorf("%s tells of %d zones by %s, %d of them in sync; 3 are its own, which are refused", one.name, s.Zones, report.Trigger, s.InSync)
				}
				if report.Sum && report.Full {
					sweeps++
				}
			}
			if sweeps == 0 {
				t.Errorf("%s does not tell of a sweep", one.name)
			}
			if s := one.Status().Zones; s.Outcomes[inspect.NotRead] != 3 || s.Outcomes[inspect.Refused] != 3 || len(s.Notable) != 3 {
				t.Errorf("%s says %v of zones, and %d stand out", one.name, s.Outcomes, len(s.Notable))
			}
		}
		r.leases.Give("r2", reconcile.LeaseCommits, reconcile.LeaseTokens, leaseA)
		r.pass(2 * interval)
		for _, report := range first.journal.take() {
			if report.Sum {
				t.Errorf("a process without work tells of %d zones by %s", report.Plan.Summary.Zones, report.Trigger)
			}
		}
	})
}

// look1 has every zone of a process looked at.
func (one *replica) look1(t *testing.T) {
	t.Helper()
	one.ticks.poked.Poke()
	one.lanes.sooner(one.control.Current(), itemsOf(slices.Collect(one.control.Current().Zones()), 0, "requested")...)
	time.Sleep(soon)
	synctest.Wait()
}

// What people say reaches every process: holds and freezes, approvals, and a wave that the process
// that leads has opened.
func TestDecisionsReachEveryProcess(t *testing.T) {
	t.Run("hold", func(t *testing.T) {
		run(t, func(t *testing.T) {
			r, _, _ := twoReplicas(t, 2, reconcile.Guards{})
			r.records.Hold(diff.Hold{Zone: zoneKey(4), Reason: "by hand", Until: time.Now().Add(time.Hour)})
			r.push("c2", "sqli")
			r.pass(ticked)
			if b := r.have("b", "sqli"); b != 1 || r.off(4) != "xss" {
				t.Errorf("%d zones of b are written, and the held one has %q off", b, r.off(4))
			}
			r.pass(time.Hour)
			r.wantAll("sqli")
		})
	})
	t.Run("approval", func(t *testing.T) {
		run(t, func(t *testing.T) {
			r, _, second := twoReplicas(t, 2, reconcile.Guards{Rules: []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}})
			r.push("c2", "sqli")
			r.pass(ticked)
			if b := r.have("b", "sqli"); b != 0 {
				t.Fatalf("%d zones of b are written without an approval", b)
			}
			var given []reconcile.Approval
			for id := range second.control.Current().Zones() {
				for _, d := range second.decisionsOf(id) {
					given = append(given, reconcile.Approval{Digest: d, Kind: reconcile.Approved, Who: "ann", At: time.Now()})
				}
			}
			if err := r.records.Approve(t.Context(), given); err != nil {
				t.Fatal(err)
			}
			r.pass(ticked)
			if b := r.have("b", "sqli"); b != 2 {
				t.Errorf("%d of 2 zones of b are written with %d approvals", b, len(given))
			}
		})
	})
	t.Run("approval of the whole commit", func(t *testing.T) {
		run(t, func(t *testing.T) {
			r, first, _ := twoReplicas(t, 2, reconcile.Guards{Rules: []guard.Rule{{Name: "all", Approve: guard.ApproveAll}}})
			r.push("c2", "sqli")
			r.pass(ticked)
			digest := first.heldBack()
			if digest == "" {
				t.Fatal("the process that leads does not know the whole commit")
			}
			if err := r.records.Approve(t.Context(), []reconcile.Approval{{Digest: digest, Kind: reconcile.Approved, Who: "ann", At: time.Now()}}); err != nil {
				t.Fatal(err)
			}
			r.pass(2 * ticked)
			r.wantAll("sqli")
		})
	})
	t.Run("waves", func(t *testing.T) {
		run(t, func(t *testing.T) {
			waves := []reconcile.Wave{{Count: 1, Soak: 10 * time.Minute, Halt: reconcile.Halt{FailedPercent: 0}}}
			r, _, _ := twoReplicas(t, 2, reconcile.Guards{Waves: waves})
			r.push("c2", "sqli")
			r.pass(ticked)
			if a, b := r.have("a", "sqli"), r.have("b", "sqli"); a+b != 1 {
				t.Fatalf("%d zones of the first wave are written", a+b)
			}
			r.pass(10*time.Minute + ticked)
			r.wantAll("sqli")
		})
	})
}

// decisionsOf are the digests of the changes that wait in a zone.
func (one *replica) decisionsOf(id edge.Scope) (digests []string) {
	t, ok := one.control.Task(one.control.Current(), id)
	if !ok {
		return nil
	}
	plan, _ := one.seen.plan(t)
	for _, c := range plan.Changes {
		digests = append(digests, c.ApprovalDigest())
	}
	return digests
}

// heldBack is the digest of all changes that are known, as one plan; empty where zones are missing.
func (one *replica) heldBack() string {
	var changes []diff.Change
	g := one.control.Current()
	for id := range g.Zones() {
		t, _ := one.control.Task(g, id)
		plan, seen := one.seen.plan(t)
		if !seen {
			return ""
		}
		changes = append(changes, plan.Changes...)
	}
	diff.SortChanges(changes)
	return diff.ApprovalDigest(changes)
}
