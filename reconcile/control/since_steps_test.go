package control

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// read is what a database was asked: how many statements, and how many rows these have returned or
// changed.
type read struct{ statements, rows int64 }

// countedFleet is one of so many zones, all of them proved, over two replicas.
type countedFleet struct {
	*testing.T
	server       *pgtest.Server
	first, other *Control
}

func newCountedFleet(t *testing.T, server *pgtest.Server, zones int) *countedFleet {
	t.Helper()
	f := &countedFleet{T: t, server: server}
	url := server.Filled(t, "begun", postgres.Migrate)
	f.first, f.other = f.begin(url, true), f.begin(url, false)
	state, _ := oneOtherZone(zones)
	f.accept(reconcile.Proposal{Commit: state.Commit, State: state})
	g := f.first.Current()
	var proofs []reconcile.Proof
	for id := range g.Zones() {
		proofs = append(proofs, reconcile.Proof{Scope: id, Fingerprint: g.declaration(id), Commit: state.Commit})
	}
	must.Do(t, f.first.Records.Prove(t.Context(), state.Commit, proofs, nil))
	f.reload(f.first)
	f.reload(f.other)
	return f
}

func (f *countedFleet) begin(url string, leads bool) *Control {
	f.Helper()
	memory, err := ledger.Connect(f.Context(), postgres.Config{URL: url})
	must.Do(f.T, err)
	f.Cleanup(func() { _ = memory.Close() })
	guards := reconcile.Guards{Rules: []guard.Rule{{Name: "all", Changes: &guard.Limit{Percent: new(50)}}}}
	c, err := New(f.Context(), Config{
		Records: memory, Guards: guards, Now: time.Now, Shared: true, Leads: func() (reconcile.Lease, bool) { return reconcile.Lease{}, leads },
	})
	must.Do(f.T, err)
	return c
}

func (f *countedFleet) accept(p reconcile.Proposal) {
	f.Helper()
	d, err := f.first.Propose(f.Context(), p)
	must.Do(f.T, err)
	if d.Accepted == nil {
		f.Fatalf("%+v", d.Held)
	}
	must.Do(f.T, f.first.SaveState(f.Context(), d.Accepted))
}

func (f *countedFleet) reload(c *Control) {
	f.Helper()
	_, err := c.Reload(f.Context())
	must.Do(f.T, err)
}

// push pushes to one zone, as the controllers of two replicas do, and returns what each step has
// asked of the database.
func (f *countedFleet) push(n int) map[string]read {
	f.Helper()
	spent := map[string]read{}
	measure := func(what string, do func()) {
		f.Helper()
		before := f.asked()
		do()
		after := f.asked()
		spent[what] = read{after.statements - before.statements - 1, after.rows - before.rows - 1}
	}
	g := f.first.Current()
	next := g.State
	next.Commit = fmt.Sprint("push-", n)
	next.Accounts = slices.Clone(next.Accounts)
	next.Accounts[0].Zones = slices.Clone(next.Accounts[0].Zones)
	z := &next.Accounts[0].Zones[7]
	z.Deployments = []desired.Deployment{{Ruleset: "core", Paranoia: &desired.Declared[int]{Value: 2 + n}}}
	measure("accepts", func() {
		f.reload(f.first)
		f.accept(reconcile.Proposal{Commit: next.Commit, State: next})
	})
	measure("takes over", func() { f.reload(f.other) })
	measure("proves", func() {
		t, ok := f.other.Task(f.other.Current(), z.Scope)
		if !ok || !f.other.CommitWork(f.other.Current(), z.Scope) {
			f.Fatalf("the zone is no work of commit %s", next.Commit)
		}
		must.Do(f.T, f.other.Proved(f.Context(), t, allSettled(t)))
	})
	measure("leads on", func() { f.reload(f.first) })
	if f.first.CommitWork(f.first.Current(), z.Scope) {
		f.Fatal("what the other replica has proved is not known to the first")
	}
	return spent
}

func (f *countedFleet) asked() (r read) {
	f.Helper()
	rows, err := f.server.Ask(f.Context(), `SELECT sum(calls)::bigint, sum(rows)::bigint FROM pg_stat_statements WHERE toplevel`)
	must.Do(f.T, err)
	for i, to := range []*int64{&r.statements, &r.rows} {
		*to, err = strconv.ParseInt(rows[0][i], 10, 64)
		must.Do(f.T, err)
	}
	return r
}

// A push of one zone asks the same of the database in any fleet, on the replica that accepts the commit
// and on the one that works on the zone.
func TestPushOfOneZoneReadsNoFleet(t *testing.T) {
	pgtest.Need(t)
	server, err := pgtest.New("shared_preload_libraries=pg_stat_statements")
	must.Do(t, err)
	t.Cleanup(server.Close)
	server.Exec(t, `CREATE EXTENSION pg_stat_statements`)
	least := map[string]read{}
	for _, zones := range []int{100, 10_000} {
		f := newCountedFleet(t, server, zones)
		f.push(1) // what is done once is done
		for name, now := range f.push(2) {
			t.Logf("%d zones: who %s asks %d statements, %d rows", zones, name, now.statements, now.rows)
			if zones == 100 {
				least[name] = now
				continue
			}
			if now.statements != least[name].statements || now.rows > least[name].rows+2 {
				t.Errorf("of %d zones, who %s asks %d statements and %d rows, of 100 %d and %d", zones, name, now.statements, now.rows, least[name].statements, least[name].rows)
			}
		}
	}
}
