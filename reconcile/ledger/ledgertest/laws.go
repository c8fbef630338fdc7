package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// testLaws: after any calls a store says what [reconcile.Forgetful] says after the same,
// reopened in between or not.
func testLaws(t *testing.T, open func(t *testing.T) Fixture) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		f, twin := open(outer), &reconcile.Forgetful{}
		for range rapid.IntRange(1, 20).Draw(t, "calls") {
			name := rapid.SampledFrom(callNames).Draw(t, "call")
			if name == "reopen" {
				if f.Reopen != nil {
					f = f.Reopen(outer)
				}
				continue
			}
			do := draw(t, name)
			must(outer, do(outer.Context(), f.Store))
			must(outer, do(outer.Context(), twin))
		}
		want, err := twin.Restore(outer.Context())
		must(outer, err)
		check(outer, f.Store, want)
		if outer.Failed() {
			t.Fatal("the store and its twin differ")
		}
	})
}

var callNames = []string{
	"accept", "accept", "prove", "prove", "prove", "widen", "widen", "nonconvergent", "forget", "drifted", "approve", "spend", "depart", "roll", "reopen",
}

// draw makes up a call of so few values that calls meet.
func draw(t *rapid.T, name string) call {
	d := drawing{t}
	switch name {
	case "accept":
		a := reconcile.Acceptance{
			Commit: d.of("commit", "c1", "c2"), Size: guard.Size{Zones: d.number()}, Gone: d.zones(), Keep: d.keep(),
			Approvals: d.approvals(), Rollout: d.rollout(),
		}
		if d.number() > 0 {
			m := d.memory()
			a.Memory = &m
		}
		if d.number() > 0 {
			a.State = []byte(d.of("state", "s1", "s2"))
		}
		return func(ctx context.Context, s Store) error {
			if err := accept(a)(ctx, s); !errors.Is(err, reconcile.ErrSuperseded) { // the waves are halted
				return err
			}
			return nil
		}
	case "prove":
		return prove(d.of("commit", "c1", "c2"), d.proofs(), d.settled())
	case "widen":
		return widen(d.settled())
	case "nonconvergent":
		return nonConvergent(d.id(), d.of("print", "n1", "n2"))
	case "forget":
		return forget([]diff.ID{d.id(), d.id()})
	case "drifted":
		return drifted(d.drifts(), noon.Add(time.Duration(d.number())))
	case "approve":
		return approve(d.approvals()...)
	case "spend":
		return spend(d.of("digest", "d1", "d2", "d3"))
	case "depart":
		m, digests := d.memory(), []string{d.of("digest", "d1", "d2", "d3")}
		return func(ctx context.Context, s Store) error { return s.Depart(ctx, m, digests) }
	default:
		if o := d.rollout(); o != nil {
			return roll(func(reconcile.Rollout) reconcile.Rollout { return *o })
		}
		return roll(reconcile.Rollout.Resumed)
	}
}

type drawing struct{ *rapid.T }

func (d drawing) of(what string, values ...string) string {
	return rapid.SampledFrom(values).Draw(d.T, what)
}

func (d drawing) memory() reconcile.Memory {
	m := reconcile.Memory{Kept: map[edge.Scope][]guard.Selection{}, Bound: map[edge.AccountID]guard.Binding{}}
	for range d.number() {
		id := d.zone()
		m.Kept[id] = nil
		for range d.number() / 2 {
			m.Kept[id] = append(m.Kept[id], guard.Selection{Account: edge.AccountID(d.of("account", "", "a1")), Labels: guard.Labels{"tier": d.of("tier", "gold", "free")}})
		}
	}
	for range d.number() / 2 {
		m.Bound[edge.AccountID(d.of("account", "a1", "a2"))] = guard.Binding{Key: d.of("key", "prod", "test"), Configured: d.number() > 1}
	}
	return m
}

func (d drawing) number() int { return rapid.IntRange(0, 3).Draw(d.T, "number") }

func (d drawing) zone() edge.Scope {
	return edge.ParseScope(d.of("zone", "z1", "z2", anAccount.String()))
}

func (d drawing) zones() (all []edge.Scope) {
	for range d.number() / 2 {
		all = append(all, d.zone())
	}
	return all
}

func (d drawing) id() diff.ID {
	id := diff.ID{Scope: d.zone(), Ruleset: edge.RulesetID(d.of("ruleset", "r1", "r2"))}
	if id.Scope == anAccount {
		id.Ref = d.of("ref", "eu", "us/2")
	}
	return id
}

func (d drawing) settled() (all []diff.Settled) {
	for range d.number() {
		s := diff.Settled{ID: d.id(), Removed: d.number() == 0}
		if !s.Removed && d.number() == 0 {
			s.Prune = &diff.Prunable{Account: "prod", Deployment: d.of("deployment", "core", "other"), Rule: "rule"}
		}
		for range d.number() {
			s.Owned = append(s.Owned, diff.Member(d.of("member", "a", "b", "c", "d")))
		}
		all = append(all, s)
	}
	return all
}

func (d drawing) proofs() (all []reconcile.Proof) {
	for range d.number() {
		all = append(all, proof(d.zone(), d.of("fingerprint", "f1", "f2"), fmt.Sprint("p", d.number()), guard.Labels{"l": d.of("label", "1", "2")}))
	}
	return all
}

func (d drawing) approvals() (all []reconcile.Approval) {
	for range d.number() {
		a := said(d.of("digest", "d1", "d2", "d3"), d.of("who", "kim", "lee"))
		if d.number() == 0 {
			a.Kind = reconcile.Overridden
		}
		all = append(all, a)
	}
	return all
}

func (d drawing) drifts() (all []reconcile.Drift) {
	for range d.number() {
		all = append(all, reconcile.Drift{Scope: d.zone(), At: noon.Add(time.Duration(d.number())), Weakens: d.number() == 0})
	}
	return all
}

func (d drawing) rollout() *reconcile.Rollout {
	if d.number() == 0 {
		return nil
	}
	o := &reconcile.Rollout{Commit: d.of("commit", "c1", "c2"), Wave: d.number(), Halted: d.of("halted", "", "why"), Zones: map[edge.Scope]reconcile.RolloutZone{}}
	if d.number() == 0 {
		o.Since = noon
	}
	for range d.number() {
		o.Zones[d.zone()] = reconcile.RolloutZone{Wave: 1 + d.number(), Outcome: reconcile.ZoneOutcome(d.of("outcome", "", "failed", "done"))}
	}
	return o
}

func (d drawing) keep() (ids []diff.ID) {
	for range d.number() / 2 {
		ids = append(ids, d.id())
	}
	return ids
}
