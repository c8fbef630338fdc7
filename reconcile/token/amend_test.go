package token

import (
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
)

func TestTokenDriftIsHealed(t *testing.T) {
	for _, quirks := range [][]string{nil, {"reorder"}} {
		f := newExtended(t, quirks...)
		f.push(declare("ci-dns", zoneA))
		f.converge()
		f.wantCalls("list", "groups", "verify", "create")
		f.converge()
		f.wantTaken("list") // and nothing else: what the platform filled in is no drift

		id := f.records()[0].ID
		live, err := f.platform.truth.UserToken(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		wider := live.TokenSpec
		wider.Policies = append(declare("x", zoneA).Spec().Policies, declare("x", zoneB).Spec().Policies...)
		if _, err := f.platform.truth.UpdateToken(t.Context(), id, live.Update(wider)); err != nil {
			t.Fatal(err)
		}
		c := f.converge().Plan.Changes
		f.wantTaken("list", "put", "get", "amend")
		if len(c) != 1 || c[0].Action != diff.ActionUpdate || c[0].Direction != diff.Strengthens {
			t.Errorf("changes %+v", c)
		}
		f.converge()
		f.wantTaken("list")
	}
}

func TestChangedDeclarationUpdatesInPlace(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	changed := declare("ci-dns", zoneB)
	changed.Name = "renamed"
	f.push(changed)
	f.converge()
	f.wantTaken("list", "put", "get", "amend")
	f.wantMade("renamed")
	f.wantHolder("ci-dns", 1)
	if r := f.records()[0]; !strings.Contains(r.Spec.Name, "renamed ["+r.Intent) || len(f.records()) != 1 {
		t.Errorf("on record %+v", f.records())
	}
	// Without the extended calls the same record means the same token.
	f.document()
	if c := f.converge().Plan.Changes; len(c) != 0 {
		t.Errorf("changes %+v", c)
	}
}

// An update is judged by what is read back, whatever became of its answer.
func TestUpdateOfUnknownOutcome(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(declare("ci-dns", zoneB))
	f.lost["put"] = true
	f.converge()
	f.wantTaken("list", "put", "get", "amend")
}

// One that had no effect says nothing about what the platform keeps, and is sent
// again.
func TestLostUpdateIsSentAgain(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(declare("ci-dns", zoneB))
	f.platform.fate = "before put"
	if o := f.work(); count(o, reconcile.Failed) != 1 || len(f.Unkept()) != 0 {
		t.Errorf("results %v", results(o))
	}
	f.converge()
	f.wantTaken("list", "put", "get", "amend")
}

// A refused update, and one that cannot be read back, fail.
func TestUpdateThatFails(t *testing.T) {
	for _, step := range []string{"put", "get"} {
		f := newExtended(t)
		f.push(declare("ci-dns", zoneA))
		f.converge()
		f.push(declare("ci-dns", zoneB))
		f.fail[step] = errDown
		if o := f.work(); count(o, reconcile.Failed) != 1 || !o.Unfinished()["ci-dns"] {
			t.Errorf("%s: results %v", step, results(o))
		}
		clear(f.fail)
		f.converge()
		f.wantMade("ci-dns")
	}
}

// A process that died between the update and its record: the next one finds the
// token as declared, and writes down that it is.
func TestUpdateThatWasNotRecorded(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(declare("ci-dns", zoneB))
	f.fail["amend"] = errDiskFull
	if o := f.work(); count(o, reconcile.Failed) != 1 {
		t.Errorf("results %v", results(o))
	}
	if o := f.work(); o.Err == nil {
		t.Error("what a token is was not recorded, and nothing is said")
	}
	clear(f.fail)
	hash := f.records()[0].Hash
	f.converge()
	f.wantTaken("list", "amend")
	if f.records()[0].Hash == hash {
		t.Error("the record was not brought up to date")
	}
	f.converge()
	f.wantTaken("list")
}

func TestUpdateThePlatformDoesNotKeep(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(declare("ci-dns", zoneB))
	f.platform.keeps = false
	o := f.work()
	if count(o, reconcile.NonConvergent) != 1 || len(o.Results[0].Left) != 1 || o.Results[0].Left[0].Path != "policies" {
		t.Errorf("results %v", results(o))
	}
	f.wantTaken("list", "put", "get")
	if got := refusals(f.work()); !slices.Equal(got, []string{"non_convergent"}) {
		t.Errorf("refused %v", got)
	}
	f.wantTaken("list")
	f.Unkept()[f.records()[0].ID] = "" // a copy
	if len(refusals(f.work())) != 1 {
		t.Error("what was not kept can be changed from outside")
	}
	f.platform.keeps, f.retry = true, true
	f.converge()
	if len(f.Unkept()) != 0 {
		t.Errorf("unkept %v", f.Unkept())
	}
}

// A sink that is down does not keep a token from being narrowed.
func TestUpdateDoesNotWaitForASink(t *testing.T) {
	f := newExtended(t)
	f.push(declare("a", zoneA))
	f.fail["deliver"] = errSinkDown
	f.work()
	narrow := declare("a", zoneA)
	narrow.Condition = &desired.Condition{In: []string{"192.0.2.0/24"}}
	f.push(narrow)
	f.work()
	f.wantCalls("list", "put", "get")
	delete(f.fail, "deliver")
	if c := f.converge().Plan.Changes; len(c) != 0 {
		t.Errorf("changes %+v", c)
	}
}
