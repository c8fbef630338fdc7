package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

// Whatever is done with commits, git and replicas, and however often the database is put back to an earlier
// time: from when a replica has seen that, none writes what an older commit declares than was in force. Once
// git is looked at, all write again, without anybody's help.
func TestNoWriteOfAnOlderCommitAfterAPutBack(t *testing.T) {
	soak.Draws(t, 5) // each has a database
	server, first := pgtest.Shared(t), pgtest.Name(pgtest.Filled(t, "begun", postgres.Migrate))
	wrote, kept := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		l := newPutBackLife(t, rt, server, first)
		steps := []string{"commit", "look", "look", "cut short", "git", "lead", "restart", "keep", "put back", "put back", "see", "all see", "tick", "tick", "write", "write", "write"}
		for _, name := range append([]string{"look", "keep", "commit", "look", "git", "put back", "all see", "write"}, rapid.SliceOfN(rapid.SampledFrom(steps), 8, 24).Draw(rt, "steps")...) {
			l.step(name)
		}
		l.ends()
		wrote, kept = wrote+l.wrote, kept+l.withheld
	})
	if wrote == 0 || kept == 0 {
		t.Errorf("%d writes were made, and %d kept back", wrote, kept)
	}
}

// putBackLife is that of two replicas over a database that is put back to earlier times.
type putBackLife struct {
	*rapid.T
	test   *testing.T
	server *pgtest.Server
	all    []*putBackReplica
	leads  int  // which of them decides about commits
	git    bool // it answers
	tip    int  // the newest commit
	newest int  // that was ever in force
	kept   bool // there is something to put the database back to
	seen   atomic.Bool

	wrote, withheld int
}

// putBackReplica is one of them: what decides, over a ledger, and what looks at the database.
type putBackReplica struct {
	*Control
	memory *ledger.Ledger
	holder *lease.Holder
	db     *sql.DB
	news   atomic.Pointer[reconcile.News]
	looks  chan error
	stop   func()
}

var putBackZone = edge.ZoneScope("y")

func newPutBackLife(t *testing.T, rt *rapid.T, server *pgtest.Server, first string) *putBackLife {
	l := &putBackLife{T: rt, test: t, server: server, git: true, tip: 1}
	server.Exec(t, "DROP DATABASE IF EXISTS kept WITH (FORCE)")
	server.Copy(t, first, "live")
	l.all = []*putBackReplica{nil, nil}
	for n := range l.all {
		l.begin(n)
	}
	rt.Cleanup(func() {
		for _, r := range l.all {
			r.stop()
		}
	})
	return l
}

func (l *putBackLife) must(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

// begin has a replica begin, which knows nothing of before.
func (l *putBackLife) begin(n int) {
	url := l.server.URL("live")
	memory, err := ledger.Connect(l.test.Context(), postgres.Config{URL: url})
	l.must(err)
	db, err := postgres.Open(postgres.Config{URL: url})
	l.must(err)
	r := &putBackReplica{memory: memory, db: db, looks: make(chan error, 1)}
	r.Control, err = New(l.test.Context(), Config{
		Records: memory, Now: time.Now, Shared: true,
		Leads: func() (reconcile.Lease, bool) { return reconcile.Lease{}, l.leads == n },
		News: func() (reconcile.News, bool) {
			if news := r.news.Load(); news != nil {
				return *news, true
			}
			return reconcile.News{}, false
		},
	})
	l.must(err)
	times := int64(0)
	r.holder = lease.New(lease.Config{DB: db, Replica: fmt.Sprint("r", n), Forgot: ledger.Forgot, Looked: func(look lease.Look, err error) {
		if err == nil {
			if look.News.PutBack != times {
				times = look.News.PutBack
				l.seen.Store(true)
			}
			r.news.Store(&look.News)
		} else {
			r.news.Store(nil)
		}
		select {
		case r.looks <- err:
		default:
		}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); r.holder.Run(ctx) }()
	r.stop = func() { cancel(); <-ended; _ = db.Close(); _ = memory.Close() }
	l.all[n] = r
	l.see(r)
}

// see has a replica look at the database.
func (l *putBackLife) see(r *putBackReplica) {
	for good := 0; good < 2; { // the first may have begun before
		r.holder.LookNow()
		select {
		case err := <-r.looks:
			if good++; err != nil {
				good = 0
			}
		case <-time.After(time.Minute):
			l.Fatal("a replica does not look at the database")
		}
	}
}

func (l *putBackLife) any() *putBackReplica { return l.all[rapid.IntRange(0, 1).Draw(l.T, "replica")] }

func (l *putBackLife) step(name string) {
	leader := l.all[l.leads]
	switch name {
	case "commit":
		l.tip++
	case "look":
		l.look(leader, true)
	case "cut short":
		l.look(leader, false)
	case "git":
		l.git = !l.git
	case "lead":
		l.leads = 1 - l.leads
		l.all[l.leads].Anew()
		_, err := l.all[l.leads].Reload(l.test.Context())
		l.must(err)
	case "restart":
		n := rapid.IntRange(0, 1).Draw(l.T, "replica")
		l.all[n].stop()
		l.begin(n)
	case "keep":
		l.copy("live", "kept")
		l.kept = true
	case "put back":
		if l.kept {
			l.seen.Store(false)
			l.copy("kept", "live")
		}
	case "see":
		l.see(l.any())
	case "all see":
		for _, r := range l.all {
			l.see(r)
			l.tick(r)
		}
	case "tick":
		l.tick(l.any())
	case "write":
		l.write(l.any())
	}
}

// copy makes one database what another is.
func (l *putBackLife) copy(from, to string) {
	l.server.Exec(l.test, "ALTER DATABASE "+from+" ALLOW_CONNECTIONS false")
	l.server.CutFrom(l.test, from)
	l.server.Copy(l.test, from, to)
	l.server.Exec(l.test, "ALTER DATABASE "+from+" ALLOW_CONNECTIONS true")
}

// look looks at git, as the source and the controller do; where it is cut short, it ends once a commit is on
// record.
func (l *putBackLife) look(r *putBackReplica, whole bool) {
	unlooked, ctx := r.Unlooked(), l.test.Context()
	if !l.git {
		return
	}
	state := labelled(fmt.Sprint("c", l.tip), desired.Zone{
		Key: "y", Scope: putBackZone, Deployments: []desired.Deployment{{Ruleset: "core", Paranoia: &desired.Declared[int]{Value: l.tip}}},
	})
	g := r.Current()
	p := reconcile.Proposal{Commit: state.Commit, State: state}
	if p.Same = g != nil && g.State.Commit == state.Commit && r.Accepted() == state.Commit; !p.Same {
		_, err := r.Reload(ctx)
		l.must(err)
	}
	d, err := r.Propose(ctx, p)
	l.must(err)
	if d.Held != nil {
		l.Fatalf("%+v", d.Held)
	}
	if l.newest = l.tip; !whole {
		return
	}
	l.must(r.LookedAt(ctx, unlooked, p.Commit))
	if d.Accepted != nil {
		l.must(r.SaveState(ctx, d.Accepted))
	}
}

// tick has a replica take in what is on record, as the controller does.
func (l *putBackLife) tick(r *putBackReplica) {
	ticked, err := r.Tick(l.test.Context())
	l.must(err)
	if ticked.PutBack || ticked.Overtaken != "" || r.Behind() {
		_, err := r.Reload(l.test.Context())
		l.must(err)
	}
}

// write has a replica ask whether it may write the zone, and reports whether it may.
func (l *putBackLife) write(r *putBackReplica) bool {
	ctx, g := l.test.Context(), r.Current()
	if g == nil {
		return false
	}
	t, _ := r.Task(g, putBackZone)
	change := diff.Change{
		Operation: diff.RuleOperation{Do: diff.ActionUpdate}, Account: t.Account().Key, Zone: t.Zone().Key, Scope: putBackZone, Deployment: "core",
		Direction: diff.Neutral,
	}
	refused, err := r.Permit(ctx, t, change, change)
	defer func() { l.must(r.Records.Unclaim(ctx, putBackZone, "")) }() // as each look at a zone ends, also where another was at work
	_, elsewhere := errors.AsType[*reconcile.ElsewhereError](err)
	switch {
	case errors.Is(err, reconcile.ErrPutBack), refused != nil && refused.Reason == diff.ReasonPutBack:
		l.withheld++
		return false
	case refused != nil, errors.Is(err, reconcile.ErrSuperseded), elsewhere:
		return false
	}
	l.must(err)
	l.wrote++
	if n := t.Zone().Deployments[0].Paranoia.Value; n < l.newest && l.seen.Load() {
		l.Fatalf("the state of commit %d is written, after commit %d", n, l.newest)
	}
	return true
}

// ends: git answers, and after some looks at it all write what it has. Each process that finds with a
// write of its own that entries are missing has git looked at once more.
func (l *putBackLife) ends() {
	l.git = true
	for range 3 + 2*len(l.all) {
		l.step("all see")
		leader := l.all[l.leads]
		l.look(leader, true)
		l.must(leader.SaveState(l.test.Context(), leader.Current()))
		l.step("all see")
		for _, r := range l.all {
			l.write(r)
		}
	}
	for n, r := range l.all {
		wrote := false
		for range 2 { // once another has written, a zone is read again
			wrote = wrote || l.write(r)
		}
		if g := r.Current(); g == nil || g.State.Commit != fmt.Sprint("c", l.tip) || r.Unlooked() != 0 || !wrote {
			l.Fatalf("replica %d of %d does not write, put back: %d, in force: %v", n, l.leads, r.Unlooked(), g != nil)
		}
	}
}
