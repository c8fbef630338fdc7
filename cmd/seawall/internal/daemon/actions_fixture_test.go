package daemon

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/controller"
	"github.com/seawall-dev/seawall/reconcile/inspect"
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
	"github.com/seawall-dev/seawall/reconcile/revert"
	"github.com/seawall-dev/seawall/reconcile/source"
)

func TestMain(m *testing.M) { os.Exit(soak.Main(m, 0)) }

// house is a controller over a ledger in a file and a platform in memory, with what people can
// order of it.
type house struct {
	reconciletest.Fleet
	*actions
	t      reconciletest.T
	repo   *reconciletest.Repo
	git    *source.Source
	heart  *controller.Controller
	hand   *hand
	author string // of all commits
	stop   func()
}

// hand is the platform; before is called before each answer to a write, and before a read is
// made, and what it returns is the answer if it is an error.
type hand struct {
	*mem.Platform
	before atomic.Pointer[func(call string, zone edge.Scope) error]
}

// hear sets what is called; nil for nothing. Workers may be at work.
func (h *hand) hear(before func(call string, zone edge.Scope) error) { h.before.Store(&before) }

func (h *hand) tell(call string, zone edge.Scope) error {
	if before := h.before.Load(); before != nil && *before != nil {
		return (*before)(call, zone)
	}
	return nil
}

func (h *hand) EntryPoint(ctx context.Context, zone edge.Scope, phase edge.Phase) (edge.Ruleset, error) {
	if err := h.tell("read", zone); err != nil {
		return edge.Ruleset{}, err
	}
	return h.Platform.EntryPoint(ctx, zone, phase)
}

func (h *hand) Send(ctx context.Context, w edge.Write) (*edge.Ruleset, error) {
	answer, err := h.Platform.Send(ctx, w)
	if err == nil {
		err = h.tell("write", w.Scope)
	}
	return answer, err
}

const soon = 5 * time.Second

// newHouse runs over n zones with the first commit of the repository.
func newHouse(t reconciletest.T, dir string, n int, guards reconcile.Guards, zones ...desired.Zone) *house {
	fleet := reconciletest.NewFleet(t, mem.Config{Seed: mem.Fleet(n)})
	h := &house{Fleet: fleet, t: t, repo: reconciletest.NewRepo(), hand: &hand{Platform: fleet.Platform}, author: "Ada <ada@example.com>"}
	h.repo.Push("c1", zones...)
	memory, err := ledger.Open(filepath.Join(dir, "ledger.db"))
	must.Do(t, err)
	memory.Now = time.Now
	h.git = source.New(source.Config{
		Source: h.repo, Compiler: h.repo, Agreed: h.repo.Agreed, Schedule: cron.Every(time.Minute), Now: time.Now,
		Author: func(context.Context, string) (string, string, error) { return h.author, "a change", nil },
	})
	lanes := reconcile.OneLane(reconcile.Lane{Reader: h.hand, Writer: h.hand})
	ctx, cancel := context.WithCancel(context.Background())
	h.heart, err = controller.New(ctx, controller.Config{
		Source: h.git, Records: memory, Rulesets: memory, Guards: guards, Lanes: lanes, Sweep: cron.Every(2 * time.Hour), Interval: 2 * time.Hour,
	})
	must.Do(t, err)
	log := slog.New(slog.DiscardHandler)
	h.actions = &actions{heart: func() *controller.Controller { return h.heart }, memory: memory, reverts: newReverts(), ask: (*peers)(nil).ask, now: time.Now, log: log}
	needs := revertNeeds{
		read: memory, done: h.heart.Heed, log: log,
		open: func() (*ledger.Ledger, error) {
			again, err := ledger.Open(filepath.Join(dir, "ledger.db"))
			if err == nil {
				again.Now = time.Now
			}
			return again, err
		},
		run: func(records any, show reconcile.Progress) (*revert.Run, error) {
			return &revert.Run{Records: records.(revert.Records), Guards: guards, Lanes: lanes, Progress: show, Now: time.Now}, nil
		},
	}
	ended, served := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); h.heart.Run(ctx) }()
	go func() { defer close(served); h.reverts.serve(ctx, needs) }()
	h.stop = func() { cancel(); <-ended; <-served; must.Do(t, memory.Close()) }
	h.pass(soon)
	return h
}

func (h *house) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (h *house) push(name string, zones ...desired.Zone) {
	h.repo.Push(name, zones...)
	h.git.Poke()
	h.pass(soon)
}

// entries are the decisions that the history has of an action, with who made them.
func (h *house) entries(action string) (found []reconcile.Entry) {
	_, err := h.memory.History(context.Background(), reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
		if e.Kind == reconcile.EntryDecision && e.Action == action {
			found = append(found, e)
		}
		return nil
	})
	must.Do(h.t, err)
	return found
}

// digest is what a zone waits for.
func (h *house) digest(i int) string {
	list, _ := h.heart.Zones(mem.FleetZone(i).String())
	for _, z := range list.Zones {
		for _, d := range z.Decisions {
			if d.Approve != "" {
				return d.Approve
			}
		}
	}
	return ""
}

func operatorOf(labels ...string) login.Person {
	p := login.Person{Name: "oidc:olga@example.com", Grants: []login.Grant{{Role: login.Operator}}}
	for i := 0; i+1 < len(labels); i += 2 {
		p.Grants[0].Labels = map[string]string{labels[i]: labels[i+1]}
	}
	return p
}

// labelled is a zone with labels.
func labelled(z desired.Zone, labels ...string) desired.Zone {
	z.Labels = map[string]string{}
	for i := 0; i+1 < len(labels); i += 2 {
		z.Labels[labels[i]] = labels[i+1]
	}
	return z
}

// inBubble runs a test with a house in the time of a bubble.
func inBubble(t *testing.T, n int, guards reconcile.Guards, zones []desired.Zone, test func(*testing.T, *house)) {
	t.Helper()
	dir := t.TempDir()
	inTime(t, func(t *testing.T) {
		h := newHouse(t, dir, n, guards, zones...)
		defer h.stop()
		test(t, h)
	})
}

// refused reports how an action was refused: by a status of HTTP, 0 where it was done.
func refused(err error) int {
	if r, ok := errors.AsType[*page.RefusedError](err); ok {
		return r.Status
	}
	if errors.Is(err, inspect.ErrNoZone) {
		return http.StatusNotFound
	}
	if err != nil {
		return -1
	}
	return 0
}

// inTime runs a test in the time of a bubble.
func inTime(t *testing.T, test func(*testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}
