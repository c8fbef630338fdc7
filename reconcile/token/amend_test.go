package token

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
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
		must.Do(t, err)
		wider := live.TokenSpec
		wider.Policies = append(declare("x", zoneA).Spec().Policies, declare("x", zoneB).Spec().Policies...)
		if _, err := f.platform.truth.UpdateToken(t.Context(), id, live.Update(wider)); err != nil {
			t.Fatal(err)
		}
		c := f.converge().Plan.Changes
		f.wantTaken("list", "put", "get", "amend")
		if len(c) != 1 || c[0].Action() != diff.ActionUpdate || c[0].Direction != diff.Strengthens {
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

// Another suffix is another name of the same declaration, and is recorded alike.
func TestNameThatWasNotRecorded(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.NameSuffix = " ({intent})"
	f.fail["amend"] = errDiskFull
	f.work()
	clear(f.fail)
	f.converge()
	f.wantTaken("list", "amend")
	f.converge()
	f.wantTaken("list")
}

// Of a token that a person brought and that rotates the end is the platform's to
// know; it is recorded when it is seen.
func TestEndOfAnAdoptedToken(t *testing.T) {
	f := newExtended(t)
	f.push(rotating("ci-dns"))
	f.converge()
	end := f.records()[0].Spec.ExpiresOn
	f.records()[0].Spec.ExpiresOn = ""
	f.converge()
	f.wantTaken("list", "amend")
	if got := f.records()[0].Spec.ExpiresOn; got != end {
		t.Errorf("it ends at %q, want %q", got, end)
	}
}

// What was sent is proved and recorded when the work is told to stop.
func TestStoppedWhileWriting(t *testing.T) {
	for name, c := range map[string]struct {
		then  []desired.Token
		taken []string
	}{
		"an update":  {[]desired.Token{pruned(declare("a", zoneB))}, []string{"list", "put", "get", "amend"}},
		"a deletion": {nil, []string{"list", "delete", "gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newExtended(t)
			f.push(pruned(declare("a", zoneA)))
			f.converge()
			f.push(c.then...)
			f.taken = nil
			ctx, stop := context.WithCancel(t.Context())
			f.Writer = stopping{f.Writer, stop}
			if o := f.converged(f.Work(ctx, f.scope, f.guard)); len(o.Results) != 1 {
				t.Errorf("results %v", results(o))
			}
			f.wantTaken(c.taken...)
		})
	}
}

// stopping is a platform that answers when the work is told to stop.
type stopping struct {
	edge.TokenWriter
	stop func()
}

func (s stopping) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	s.stop()
	if err := ctx.Err(); err != nil {
		return edge.Token{}, err
	}
	return s.TokenWriter.UpdateToken(ctx, id, body)
}

func (s stopping) DeleteToken(ctx context.Context, id edge.TokenID) error {
	s.stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.TokenWriter.DeleteToken(ctx, id)
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
	f.Unkept()[diff.ID{Scope: edge.CredentialScope(""), Token: f.records()[0].ID}] = "" // a copy
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
