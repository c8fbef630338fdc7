package controller

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/control"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

// written are records that note each write which counts for a limit.
type written struct {
	*reconciletest.Records

	mu  sync.Mutex
	all []writtenZone
}

type writtenZone struct {
	zone   edge.Scope
	commit string // empty: a drift
	at     time.Time
}

func (w *written) RecordWrite(ctx context.Context, e reconcile.Entry, owned []diff.Settled) (int64, error) {
	number, err := w.Records.RecordWrite(ctx, e, owned)
	if err != nil || e.Asked.Approver != "" {
		return number, err
	}
	one := writtenZone{zone: e.Subject.Scope, at: time.Now()}
	if e.CountsForCommit() {
		one.commit = e.Asked.Commit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, one)
	return number, nil
}

// most are the most zones that were written for one commit, and within the time for which drifts count.
func (w *written) most(lasts time.Duration) (ofCommit, ofDrift int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	commits := map[string]map[edge.Scope]bool{}
	for i, one := range w.all {
		if one.commit != "" {
			if commits[one.commit] == nil {
				commits[one.commit] = map[edge.Scope]bool{}
			}
			commits[one.commit][one.zone] = true
			ofCommit = max(ofCommit, len(commits[one.commit]))
			continue
		}
		zones := map[edge.Scope]bool{}
		for _, later := range w.all[i:] {
			if later.commit == "" && later.at.Sub(one.at) < lasts {
				zones[later.zone] = true
			}
		}
		ofDrift = max(ofDrift, len(zones))
	}
	return ofCommit, ofDrift
}

// limitStep is one step of a story: a commit that changes some zones, drifts in some, a lease that
// goes to another process, or time.
type limitStep struct {
	Kind  int
	Zones []int
	Lease int
	To    int
}

func drawLimitSteps(t *rapid.T, n int) []limitStep {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) limitStep {
		return limitStep{
			Kind: rapid.IntRange(0, 4).Draw(t, "kind"), Zones: rapid.SliceOfNDistinct(rapid.IntRange(1, 2*n), 1, 2*n, rapid.ID).Draw(t, "zones"),
			Lease: rapid.IntRange(0, 2).Draw(t, "lease"), To: rapid.IntRange(0, 2).Draw(t, "to"),
		}
	}), 1, 8).Draw(t, "steps")
}

// However many processes change zones at the same time, no limit is ever passed: neither that of a
// commit nor that of drifts.
func TestLimitsHoldOverProcesses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const n = 4
		var commit, drift int
		limit, steps := rapid.IntRange(1, n+1).Draw(rt, "limit"), drawLimitSteps(rt, n)
		synctest.Test(t, func(t *testing.T) {
			r := newReplicas(t, n)
			names := []string{"r0", "r1", "r2"}
			leases := []reconcile.LeaseName{reconcile.LeaseCommits, leaseA, leaseB}
			for i, name := range leases {
				r.leases.Give(names[i], name)
			}
			r.push("c0", "xss")
			for _, name := range names {
				r.run(name)
			}
			r.pass(soon + ticked)
			for _, name := range names {
				r.all[name].stop()
			}
			r.Guards = reconcile.Guards{Rules: []guard.Rule{{Name: "most", Changes: &guard.Limit{Count: &limit}}}}
			over := &written{Records: r.records}
			r.keep = func() control.Records { return over }
			for _, name := range names {
				r.run(name)
			}
			r.pass(soon + ticked)
			r.play(steps, names, leases)
			commit, drift = over.most(interval)
		})
		if commit > limit || drift > limit {
			rt.Fatalf("with a limit of %d zones, %d were written for one commit, and %d drifts were corrected in %s", limit, commit, drift, interval)
		}
	})
}

// play plays a story.
func (r *replicas) play(steps []limitStep, names []string, leases []reconcile.LeaseName) {
	tags := map[int]string{}
	for i, step := range steps {
		tag := []string{"sqli", "php", "rce"}[i%3]
		switch step.Kind {
		case 0, 1:
			for _, zone := range step.Zones {
				tags[zone] = tag
			}
			name := fmt.Sprintf("c%d", i+1)
			state := r.state(name, "xss")
			for a := range state.Accounts {
				for z, declared := range state.Accounts[a].Zones {
					zone := 0
					for k := 1; k <= 2*r.n; k++ {
						if declared.Scope == mem.FleetZone(k) {
							zone = k
						}
					}
					if tags[zone] != "" {
						state.Accounts[a].Zones[z] = zoneOf(zone, core(tags[zone]))
					}
				}
			}
			r.repo.Commit(name, commit{State: state})
			for _, one := range r.all {
				one.source.Poke()
			}
		case 2:
			for _, zone := range step.Zones {
				r.click(zone)
			}
			r.pass(interval)
		case 3:
			r.leases.Move(names[step.To], leases[step.Lease])
		case 4:
			r.leases.Give(names[step.To], leases[step.Lease])
		}
		r.pass(soon + ticked)
	}
	r.pass(interval)
}
