package control

import (
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

func labelled(commit string, zones ...desired.Zone) desired.State {
	return desired.State{Commit: commit, Accounts: []desired.Account{{Key: "prod", ID: "a1", Zones: zones}}}
}

func goldZone(id edge.Scope) desired.Zone {
	return desired.Zone{Key: id.String(), Scope: id, Labels: map[string]string{"tier": "gold"}}
}

// TestMemoryIsBounded: nothing is kept where no setting selects by labels, nothing once the
// proof says the same, and no more than a row for a zone whatever its labels were.
func TestMemoryIsBounded(t *testing.T) {
	gold := guarded
	gold.Observe, gold.Accounts = nil, guard.Accounts{}
	bare := desired.Zone{Key: "z", Scope: edge.ZoneScope("z")}
	proofs := func(labels guard.Labels) proved {
		return func(edge.Scope) (guard.Labels, bool) { return labels, labels != nil }
	}
	for name, c := range map[string]struct {
		guards reconcile.Guards
		have   map[edge.Scope][]guard.Selection
		proved proved
		state  desired.State
		want   int
	}{
		"no setting":                   {reconcile.Guards{}, nil, proofs(nil), labelled("c", goldZone(edge.ZoneScope("z"))), 0},
		"a new zone":                   {gold, nil, proofs(nil), labelled("c", goldZone(edge.ZoneScope("z"))), 1},
		"a proved zone":                {gold, nil, proofs(guard.Labels{"tier": "gold"}), labelled("c", goldZone(edge.ZoneScope("z"))), 0},
		"a zone without labels":        {gold, nil, proofs(nil), labelled("c", bare), 0},
		"the label is gone":            {gold, nil, proofs(guard.Labels{"tier": "gold"}), labelled("c", bare), 1},
		"it has left":                  {gold, map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): {}}, proofs(guard.Labels{"tier": "gold"}), labelled("c", bare), 1},
		"it has left, and is proved":   {gold, map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): {}}, proofs(guard.Labels{}), labelled("c", bare), 0},
		"the label is back":            {gold, map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): {{Labels: guard.Labels{"tier": "gold"}}}}, proofs(guard.Labels{"tier": "gold"}), labelled("c", goldZone(edge.ZoneScope("z"))), 0},
		"nothing selects by it":        {reconcile.Guards{}, map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): {{Labels: guard.Labels{"tier": "gold"}}}}, proofs(nil), labelled("c", bare), 0},
		"it is not declared":           {gold, map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): {{Labels: guard.Labels{"tier": "gold"}}}}, proofs(nil), labelled("c"), 1},
		"the id is not known":          {gold, nil, proofs(nil), labelled("c", goldZone(edge.ZoneScope(desired.SoughtZone("prod", "z")))), 0},
		"not declared, and no setting": {reconcile.Guards{}, map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): {{Labels: guard.Labels{"tier": "gold"}}}}, proofs(nil), labelled("c"), 0},
	} {
		m := remembered(c.guards, reconcile.Memory{Kept: c.have}, c.state, declaring(c.state), nil, c.proved)
		if got := len(m.record.Kept); got != c.want {
			t.Errorf("%s: %d rows, want %d: %v", name, got, c.want, m.record.Kept)
		}
	}
}

// TestAZoneOfASkippedAccountStaysOut: it may not be written once it is declared in another
// account, until a person agrees.
func TestAZoneOfASkippedAccountStaysOut(t *testing.T) {
	guards := reconcile.Guards{
		Observe:  []guard.Observe{{Setting: "accounts.prod.skip", Account: "prod"}},
		Accounts: guard.Accounts{Settings: map[string]guard.AccountSettings{"prod": {Skip: true}}},
	}
	lanes := reconcile.Lanes{Skip: map[string]bool{"prod": true}}
	z := desired.Zone{Key: "z", Scope: edge.ZoneScope("z")}
	first := lanes.Within(labelled("c1", z))
	if len(first.Accounts) != 0 || len(first.LeftOut) != 1 {
		t.Fatalf("the account is not left out: %+v", first)
	}
	m := remembered(guards, reconcile.Memory{}, first, declaring(first), nil, none)
	moved := desired.State{Commit: "c2", Accounts: []desired.Account{{Key: "test", ID: "a2", Zones: []desired.Zone{z}}}}
	next := remembered(guards, m.record, moved, declaring(moved), nil, none)
	if len(next.leaving) != 1 || next.leaving[0].Left[0].Setting != "accounts.prod.skip" || len(next.under[edge.ZoneScope("z")]) != 1 {
		t.Errorf("it leaves %+v, and is under %v", next.leaving, next.under)
	}
	data, err := EncodeState(first)
	must.Do(t, err)
	if back, err := DecodeState(data); err != nil || len(back.LeftOut) != 1 {
		t.Errorf("on record: %+v, %v", back, err)
	}
}

// TestAnApprovalBesideADaemonIsTaken: what another process has let leave is not brought back
// by the next commit that this one accepts.
func TestAnApprovalBesideADaemonIsTaken(t *testing.T) {
	records := &reconcile.Forgetful{}
	c, err := New(t.Context(), Config{Records: records, Guards: guarded, Now: time.Now})
	must.Do(t, err)
	propose := func(state desired.State) {
		t.Helper()
		if _, err := c.Propose(t.Context(), reconcile.Proposal{State: state, Commit: state.Commit}); err != nil {
			t.Fatal(err)
		}
	}
	z, anchor := desired.Zone{Key: "z", Scope: edge.ZoneScope("z")}, desired.Zone{Key: "anchor", Scope: edge.ZoneScope("anchor")}
	propose(labelled("c1", anchor, goldZone(edge.ZoneScope("z"))))
	propose(labelled("c2", anchor, z))
	record, err := records.Restore(t.Context())
	must.Do(t, err)
	leaving, _ := Departures(record, guarded, c.Current().State)
	if len(leaving) != 1 {
		t.Fatalf("leaving %+v", leaving)
	}
	must.Do(t, records.Depart(t.Context(), reconcile.Memory{Kept: map[edge.Scope][]guard.Selection{edge.ZoneScope("z"): c.state.zones.memory.declared[edge.ZoneScope("z")]}}, nil))
	propose(labelled("c3", anchor, z))
	if left := c.state.zones.memory.leaving; len(left) != 0 {
		t.Errorf("after an approval beside it, it still leaves %+v", left)
	}
}
