package notify

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/jobs"
	"github.com/seawall-dev/seawall/reconcile/lease"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/postgres"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// soon bounds what a test waits for. A machine may be slow.
const soon = 3 * time.Minute

// often is how often a replica looks, for what is wrong, for jobs and for what others have said.
const often = 100 * time.Millisecond

// others are replicas that notify, what is wrong, and what was sent.
type others struct {
	t   *testing.T
	url string

	mu      sync.Mutex
	outages []reconcile.Outage
	got     []Message
	refuses int // so many tries fail
	failed  map[string]bool
	ahead   time.Duration              // of the clock
	groups  map[string][]inspect.Group // that need a person, by lease
	unread  map[string]int             // zones that a replica has not read, by its name
	looks   map[string]int             // of those that run, by replica and lease
}

// looked counts a look.
func (o *others) looked(replica, lease string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, runs := o.looks[replica+"/"+lease]; runs {
		o.looks[replica+"/"+lease]++
	}
}

func (o *others) Send(_ context.Context, m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refuses > 0 {
		o.refuses--
		return errors.New("not there")
	}
	o.got = append(o.got, m)
	return nil
}

func (o *others) look() inspect.Status {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := whole(time.Now().Add(o.ahead))
	s.Outages = slices.Clone(o.outages)
	return s
}

// part is how the zones of a lease are, as a replica knows it.
func (o *others) part(replica, lease string) Part {
	return Part{
		Lease: reconcile.LeaseName(lease), Name: lease,
		Look: func(context.Context) inspect.Status {
			s := o.look()
			o.looked(replica, lease)
			o.mu.Lock()
			defer o.mu.Unlock()
			s.Outages, s.Zones.Outcomes[inspect.NotRead] = nil, o.unread[replica]
			return s
		},
		Groups: func(context.Context, map[string]string) []inspect.Group {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.unread[replica] > 0 {
				return nil
			}
			return slices.Clone(o.groups[lease])
		},
	}
}

// start starts a replica. lead has it look until the function is called that is returned.
func (o *others) start(name string) (lead func() (stop func())) {
	run := o.runs(name)
	return func() func() { return run("") }
}

// runs starts a replica. run has it tell what a lease is about, or what concerns all where that is
// empty, until the function is called that is returned.
func (o *others) runs(name string, leases ...string) (run func(lease string) (stop func())) {
	memory, err := ledger.Connect(o.t.Context(), postgres.Config{URL: o.url, Name: name})
	noError(o.t, err)
	all, err := jobs.New(jobs.Config{DB: memory.Database(), Now: time.Now, FetchEvery: often})
	noError(o.t, err)
	memory.Deliver(all.InsertDelivery)
	tell := func(failed bool) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.failed[name] = o.failed[name] || failed
	}
	service := New(Config{
		Routes: []Route{{Name: "ops", Least: Warning, Sender: o}}, Outbox: memory, Look: func() inspect.Status { o.looked(name, ""); return o.look() }, Groups: func(map[string]string) []inspect.Group { return nil },
		Failed: func(string, error) { tell(true) }, Worked: func(string) { tell(false) }, Count: func(string) {}, Log: slog.New(slog.DiscardHandler),
		every: often, // the clock of these tests goes on by leaps
	})
	service.Join(all, memory)
	var parts []Part
	for _, lease := range leases {
		parts = append(parts, o.part(name, lease))
	}
	service.Divide(func(reconcile.LeaseName) bool { return false }, parts...)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { all.Run(ctx) })
	looks := lease.New(lease.Config{DB: memory.Database(), Replica: name, Looked: func(l lease.Look, _ error) { all.Looked(l.News.Poked) }})
	running.Go(func() { looks.Run(ctx) })
	running.Go(func() {
		for hints := time.Tick(often); ; looks.LookNow() {
			select {
			case <-ctx.Done():
				return
			case <-hints:
			}
		}
	})
	o.t.Cleanup(func() { stop(); running.Wait(); _ = memory.Close() })
	return func(lease string) func() {
		o.mu.Lock()
		if o.looks != nil {
			o.looks[name+"/"+lease] = 0
		}
		o.mu.Unlock()
		leading, resign := context.WithCancel(ctx)
		ended := make(chan struct{})
		running.Go(func() {
			defer close(ended)
			if lease == "" {
				service.Run(leading)
			} else {
				service.RunPart(leading, reconcile.LeaseName(lease))
			}
		})
		return func() {
			resign()
			<-ended
			o.mu.Lock()
			defer o.mu.Unlock()
			delete(o.looks, name+"/"+lease)
		}
	}
}

func (o *others) await(what string, is func() bool) {
	o.t.Helper()
	for patient := time.Now().Add(soon); ; time.Sleep(20 * time.Millisecond) {
		o.mu.Lock()
		done := is()
		o.mu.Unlock()
		if done {
			return
		}
		if time.Now().After(patient) {
			o.t.Fatalf("%s did not come: %s", what, says(o.got))
		}
	}
}

// TestReplicasNotifyOnce: one replica looks, any sends, each message once and in order, also after
// failures, which all learn; one that looks from now on repeats nothing.
func TestReplicasNotifyOnce(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	o := &others{t: t, url: server.Pooler(t)("postgres"), refuses: 2, failed: map[string]bool{}}
	a, b := o.start("a"), o.start("b")
	stop := a()
	o.wrong(reconcile.Outage{Subject: reconcile.OutageGit, Cause: "no route", Since: time.Now().Add(-time.Minute)})
	o.await("the beginning", func() bool {
		// What has failed is tried again at once, and not when the pause is over and River looks for that.
		server.Exec(t, `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state = 'retryable' OR scheduled_at > now()`)
		return len(o.got) == 1
	})
	o.await("the failure", func() bool { return o.failed["a"] && o.failed["b"] })
	stop()
	stop = b()
	defer func() { stop() }()
	o.wrong()
	o.await("the end", func() bool { return len(o.got) == 2 })
	server.Cut(t)
	o.wrong(reconcile.Outage{Subject: reconcile.OutageGit, Cause: "no route", Since: time.Now().Add(-time.Minute)})
	o.await("the next beginning", func() bool { return len(o.got) == 3 })
	o.mu.Lock()
	defer o.mu.Unlock()
	if want := "outage/git/ begins, outage/git/ ends, outage/git/ begins"; says(o.got) != want {
		t.Errorf("sent: %s", says(o.got))
	}
}

func (o *others) wrong(outages ...reconcile.Outage) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.outages = outages
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lostLease is the outbox of a process whose lease another one has.
type lostLease struct{ Forgetful }

func (lostLease) Post(context.Context, string, string, json.RawMessage, []reconcile.Posted) error {
	return reconcile.ErrLeaseLost
}

// TestLostLeaseIsSilent: who has lost the lease sends nothing more, though it cannot keep it.
func TestLostLeaseIsSilent(t *testing.T) {
	route, _ := routeTo(t, lostLease{}, answers{})
	route.learn(t.Context(), whole(at), []Cause{{Key: "outage/git/", About: AboutOutage, Severity: Critical, Since: at.Add(-patience)}})
	if m, ok := route.first(); ok {
		t.Errorf("%s is sent", m.ID)
	}
}
