package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/login"
	"github.com/seawall-dev/seawall/reconcile/page"
	"github.com/seawall-dev/seawall/reconcile/reconciletest"
)

const lawZones = 4

// step is one thing that happens in a history.
type step struct {
	What                      string
	Person, Zone, Other, Turn int
}

var steps = rapid.Custom(func(t *rapid.T) step {
	return step{
		What:   rapid.SampledFrom([]string{"label", "change", "change", "rename", "rename", "rename", "drop", "down", "up", "up", "pass", "read", "hold", "hold", "hold", "hold", "release", "release", "release", "approve", "approve", "approve", "approve", "plan", "revert"}).Draw(t, "what"),
		Person: rapid.IntRange(0, 4).Draw(t, "person"), Zone: rapid.IntRange(1, lawZones).Draw(t, "zone"),
		Other: rapid.IntRange(1, lawZones).Draw(t, "other"), Turn: rapid.IntRange(0, 2).Draw(t, "turn"),
	}
})

// rightsDrawn are the grants of persons.
var rightsDrawn = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) login.Grant {
	g := login.Grant{Role: rapid.SampledFrom([]login.Role{login.Operator, login.Operator, login.Operator, login.Viewer}).Draw(t, "role")}
	g.Labels = rapid.SampledFrom([]map[string]string{{"team": "a"}, {"team": "a"}, {"team": "b"}, {"team": "a", "tier": "gold"}, {"tier": "gold"}, nil}).Draw(t, "labels")
	return g
}), 1, 2)

// TestNoOneActsWithoutARight: whatever commits change in labels and names, no zone is acted on
// by a person whose grants do not hold there, by the labels that are declared and by those that
// were proved; and what took effect is in the history, with who did it.
func TestNoOneActsWithoutARight(t *testing.T) {
	soak.Draws(t, 10) // each writes to a disk many times
	dir, n := t.TempDir(), 0
	did := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		script := rapid.SliceOfN(steps, 30, 40).Draw(rt, "steps")
		var people []login.Person
		for i := range 5 {
			people = append(people, login.Person{Name: fmt.Sprintf("oidc:p%d@example.com", i), Grants: rightsDrawn.Draw(rt, "grants")})
		}
		n++
		var wrong []string
		inTime(t, func(*testing.T) {
			l := newLaw(t, filepath.Join(dir, fmt.Sprint(n)), people)
			defer l.stop()
			for _, s := range script {
				l.play(s)
			}
			wrong = l.wrong
			for what, times := range l.did {
				did[what] += times
			}
		})
		if len(wrong) > 0 {
			rt.Fatalf("%s", strings.Join(wrong, "\n"))
		}
	})
	t.Logf("%d histories: %v", n, did)
}

// law is a house with what should be so.
type law struct {
	*house
	people []login.Person
	zones  []desired.Zone
	commit int
	down   sync.Map // a set of [edge.Scope]: workers read it while a step changes it
	wrong  []string
	did    map[string]int
}

func newLaw(t reconciletest.T, dir string, people []login.Person) *law {
	l := &law{people: people, did: map[string]int{}, commit: 1}
	for i := range lawZones {
		l.zones = append(l.zones, labelled(reconciletest.Zone(i+1, core("xss")), "team", "ab"[i%2:i%2+1], "tier", []string{"gold", "plain"}[i/2]))
	}
	guards := reconcile.Guards{Rules: []guard.Rule{{Name: "calm", Labels: guard.Labels{"team": "a"}, Approve: guard.ApproveAll}}}
	l.house = newHouse(t, dir, lawZones, guards, slices.Clone(l.zones)...)
	l.hand.hear(func(_ string, zone edge.Scope) error {
		if _, down := l.down.Load(zone); down {
			return reconciletest.ErrDown
		}
		return nil
	})
	return l
}

// play has a step happen, and looks at what it has done.
func (l *law) play(s step) {
	i := s.Zone - 1
	switch s.What {
	case "label":
		l.zones[i].Labels = map[string]string{"team": []string{"a", "a", "b"}[s.Turn], "tier": []string{"gold", "plain"}[s.Other%2]}
	case "change":
		l.zones[i].Deployments = []desired.Deployment{core([]string{"xss", "sqli", "rfi"}[s.Turn])}
	case "rename":
		j := s.Other - 1
		l.zones[i].Key, l.zones[j].Key = l.zones[j].Key, l.zones[i].Key
	case "drop":
		l.zones[i].Labels = nil
	case "down", "up":
		if s.What == "down" {
			l.down.Store(mem.FleetZone(s.Zone), true)
		} else {
			l.down.Delete(mem.FleetZone(s.Zone))
		}
		return
	case "pass":
		l.pass(time.Duration(1+s.Turn) * 40 * time.Second)
		return
	default:
		l.order(s)
		return
	}
	l.commit++
	l.push(fmt.Sprintf("c%d", l.commit), slices.Clone(l.zones)...)
}

// seen is what an order may change.
type seen struct {
	holds     []diff.Hold
	approvals []reconcile.Approval
	newest    int64
}

func (l *law) look() seen {
	standing, err := l.memory.Standing(context.Background())
	must.Do(l.t, err)
	return seen{diff.Active(standing.Holds, time.Now(), nil), standing.Approvals, standing.Newest}
}

// may says by records alone whether a person may act on a zone.
func (l *law) may(who login.Person, id edge.Scope) bool {
	record, err := l.memory.Restore(context.Background())
	must.Do(l.t, err)
	state, _ := l.heart.InForce()
	var declared map[string]string
	for _, z := range state.EachZone() {
		if z.Scope == id {
			declared = z.Labels
		}
	}
	for _, g := range who.Grants {
		holds := g.Role == login.Operator
		for key, value := range g.Labels {
			holds = holds && declared[key] == value && record.Proofs[id].Labels[key] == value
		}
		if holds {
			return true
		}
	}
	return false
}

func (l *law) order(s step) {
	who, id, ctx := l.people[s.Person], mem.FleetZone(s.Zone), context.Background()
	if s.What == "approve" && l.digest(s.Zone) == "" {
		change := s
		change.What = "change"
		l.play(change)
	}
	l.pass(time.Second)
	before, may := l.look(), l.may(who, id)
	var err error
	action := s.What
	switch s.What {
	case "read":
		l.pass(10 * time.Second)
		_, err = l.ReadNow(ctx, who, []edge.Scope{id})
	case "hold":
		_, err = l.Hold(ctx, who, id, time.Duration(1+s.Turn)*time.Hour, "INC")
	case "release":
		_, err = l.Release(ctx, who, id)
	case "approve":
		digest := l.digest([]int{s.Zone, s.Zone, s.Other}[s.Turn])
		_, err = l.Approve(ctx, who, id, digest, "")
	case "plan":
		action = reconcile.ActionRead
		_, err = l.PlanRevert(ctx, who, fmt.Sprintf("c%d", l.commit))
	case "revert":
		going := l.Reverting()
		if going.Plan == nil {
			return
		}
		_, err = l.Revert(ctx, who, going.Commit, going.Plan.Digest)
		if err == nil && going.Stage != page.RevertPlanned {
			return // it was begun before
		}
	}
	fleet := s.What == "plan" || s.What == "revert"
	if err == nil && (!may && !fleet || fleet && !who.MayAll(login.Operator)) {
		l.fail("%+v: %s with %+v did that without a right", s, who.Name, who.Grants)
	}
	l.pass(0)
	l.judge(s, who, action, before, err)
	if err == nil {
		l.did[s.What]++
	}
}

// judge compares what there is with what was before an order.
func (l *law) judge(s step, who login.Person, action string, before seen, done error) {
	after := l.look()
	mine := 0
	_, err := l.memory.History(context.Background(), reconcile.HistoryFilter{}, func(e reconcile.Entry) error {
		if e.Number > before.newest && e.Asked.User == who.Name && e.Kind == reconcile.EntryDecision {
			if mine++; e.Action != action {
				l.fail("%+v is in the history as %s", s, e.Action)
			}
		}
		return nil
	})
	must.Do(l.t, err)
	known := slices.ContainsFunc(before.approvals, func(a reconcile.Approval) bool { return s.What == "approve" && a.Digest == l.digest(s.Zone) })
	switch {
	case done != nil && mine > 0 && s.What != "plan":
		l.fail("%+v was refused (%v), and the history has %d entries of it", s, done, mine)
	case done == nil && mine == 0 && !known:
		l.fail("%+v was done, and the history does not have it", s)
	}
	if s.What == "revert" {
		return
	}
	for i := range lawZones {
		id := mem.FleetZone(i + 1)
		if l.held(before.holds, id) != l.held(after.holds, id) && !l.may(who, id) {
			l.fail("%+v: %s with %+v has changed the hold of zone %d", s, who.Name, who.Grants, i+1)
		}
	}
}

// held says how a zone is held.
func (l *law) held(holds []diff.Hold, id edge.Scope) string {
	state, _ := l.heart.InForce()
	for _, z := range state.EachZone() {
		if z.Scope == id {
			if h, held := diff.HoldOn(holds, z.Key, id); held {
				return h.String()
			}
		}
	}
	return ""
}

func (l *law) fail(format string, args ...any) {
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
}
