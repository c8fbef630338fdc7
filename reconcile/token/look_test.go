package token

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/integration/must"
)

// revoke ends the nth token that was made, as somebody in the dashboard does.
func (f *fixture) revoke(n int) {
	f.t.Helper()
	f.platform.ended[f.platform.created[n-1]] = true
	must.Do(f.t, f.platform.truth.DeleteToken(f.t.Context(), f.platform.created[n-1]))
}

func TestTokenRevokedElsewhere(t *testing.T) {
	f := newExtended(t)
	f.push(declare("a", zoneA), declare("b", zoneB))
	f.converge()
	f.revoke(1)
	f.converge() // it is too young to be missed
	f.wantCalls("list", "get")
	f.advance(youngFor)
	o := f.converge()
	f.wantCalls("list", "get", "create")
	c := o.Plan.Changes
	if len(c) != 1 || c[0].Action() != diff.ActionReplace || c[0].Fields[len(c[0].Fields)-1].Note != "the platform no longer has it" {
		t.Errorf("changes %+v", c)
	}
	f.wantMade("a", "b")
	if len(f.records()) != 2 {
		t.Errorf("on record %d", len(f.records()))
	}
}

// A credential of another user sees none of our tokens. That must not double
// them.
func TestListWithoutAnyOfOurTokens(t *testing.T) {
	f := newExtended(t)
	f.push(declare("a", zoneA), declare("b", zoneB))
	f.converge()
	f.revoke(1)
	f.revoke(2)
	f.advance(youngFor)
	o := f.work()
	if p := o.Plan.Problems; len(p) != 2 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, "none of the 2 tokens in the ledger") {
		t.Errorf("problems %+v", p)
	}
	f.wantTaken("list", "get", "get")
	if len(f.records()) != 2 {
		t.Error("records were dropped")
	}
}

// Whether a token that is not listed still exists may not be told.
func TestTokenThatCannotBeRead(t *testing.T) {
	f := newExtended(t)
	f.push(declare("a", zoneA), declare("b", zoneB))
	f.converge()
	f.revoke(1)
	f.advance(youngFor)
	f.fail["get"] = errDown
	o := f.work()
	f.wantTaken("list", "get")
	if p := o.Plan.Problems; len(p) != 2 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, "could not read whether token") || o.Err != nil {
		t.Errorf("problems %+v, error %v", p, o.Err)
	}
}

// A plan looks and changes nothing, neither there nor on record.
func TestPlanOnlyReads(t *testing.T) {
	f := newExtended(t)
	f.push(declare("b", zoneA))
	f.lost["create"] = true
	f.work()
	clear(f.lost)
	f.push(pruned(declare("a", zoneA)), declare("b", zoneA))
	f.work()
	f.push(declare("b", zoneB))
	f.unfinished("1")
	f.plan()
	f.wantTaken("list")
}

func TestTokensThatCannotBeListed(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
		hint string
	}{
		"down":              {errDown, "could not be listed", "the next run"},
		"forbidden":         {errForbidden, "could not be listed", "must be permitted to read tokens"},
		"of another family": {&edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: 9109}}}, "could not be listed", "it must be one of a user"},
		"rejected":          {errUnauthenticated, "does not accept credentials.tokens", "check credentials.tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newExtended(t)
			f.push(declare("ci-dns", zoneA))
			f.fail["list"] = c.err
			o := f.work()
			f.wantTaken("list")
			if p := o.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, c.want) || !strings.Contains(p[0].Hint, c.hint) {
				t.Errorf("problems %+v", p)
			}
			if stopped := errors.Is(o.Err, edge.ErrUnauthenticated); stopped != (name == "rejected") {
				t.Errorf("error %v", o.Err)
			}
			if !o.Unfinished()["ci-dns"] {
				t.Error("nothing is left to be tried again")
			}
		})
	}
}

// Work that is told to stop while it lists says so, and nothing of the platform.
func TestStoppedWhileListing(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	errStop := errors.New("stop")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errStop)
	if o := f.Work(ctx, f.scope, f.guard); !errors.Is(o.Err, errStop) || len(o.Plan.Problems) != 0 {
		t.Errorf("error %v, problems %+v", o.Err, o.Plan.Problems)
	}
}

// A platform without these calls is what the reference shows, whatever the
// configuration says.
func TestPlatformThatDoesNotListTokens(t *testing.T) {
	f := newFixture(t)
	f.extend()
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.wantCalls("list", "create")
	f.converge()
	f.wantMade("ci-dns")
}

// Nothing is asked of the platform where nothing is declared and none is on record.
func TestNothingToLookAt(t *testing.T) {
	f := newExtended(t)
	f.converge()
	f.wantTaken()
}

func TestGroupsByNameAreResolved(t *testing.T) {
	f := newExtended(t)
	named := declare("ci-dns", zoneA)
	named.Policies[0].PermissionGroups = []desired.PermissionGroup{{Name: "DNS Write", Scope: "zone"}}
	f.push(named)
	f.converge()
	f.wantCalls("list", "groups", "verify", "create")
	f.converge()
	f.wantCalls("list")
	named.Policies[0].PermissionGroups = []desired.PermissionGroup{{ID: dnsGroup}}
	f.push(named)
	if c := f.converge().Plan.Changes; len(c) != 0 {
		t.Errorf("the same group by its id is a change: %+v", c)
	}
}

// What changes with releases of the platform is read once an hour.
func TestGroupsAreReadOnceAnHour(t *testing.T) {
	f := newExtended(t)
	f.push(declare("ci-dns", zoneA))
	f.fail["groups"], f.fail["verify"] = errDown, errDown
	f.work()
	clear(f.fail)
	f.converge() // what could not be read is read again
	f.wantCalls("list", "groups", "verify")
	f.advance(cachedFor - time.Second)
	f.converge()
	f.wantCalls("list")
	f.advance(time.Second)
	f.converge()
	f.wantCalls("list", "groups", "verify")
	f.advance(-time.Hour) // somebody set the clock back
	f.converge()
	f.wantCalls("list", "groups", "verify")
}

// Work about one token leaves the record of others as it is.
func TestPartForgetsNothingElse(t *testing.T) {
	f := newExtended(t)
	a := declare("a", zoneA)
	f.push(a, declare("b", zoneB))
	f.converge()
	f.advance(youngFor)
	f.revoke(2)
	f.converged(f.workOn(Scope{Commit: f.scope.Commit, Tokens: []desired.Token{a}, Part: true}))
	if c := f.converge().Plan.Changes; len(c) != 1 || c[0].Action() != diff.ActionReplace {
		t.Errorf("changes %+v", c)
	}
}

// A token that somebody ends before its secret was delivered has no secret that
// is worth delivering.
func TestUndeliveredTokenIsRevokedElsewhere(t *testing.T) {
	f := newExtended(t)
	f.push(declare("a", zoneA), declare("b", zoneB))
	f.fail["deliver"] = errSinkDown
	f.work()
	delete(f.fail, "deliver")
	f.advance(youngFor)
	f.revoke(1)
	f.converge()
	f.wantMade("a", "b")
	if len(f.records()) != 2 {
		t.Errorf("on record %d", len(f.records()))
	}
}

// Where the token in use is ended and its successor cannot be made at once, an
// earlier token does not pass for the one in use: its secret was replaced.
func TestRevokedTokenIsNotSucceededByAnEarlierOne(t *testing.T) {
	f := newExtended(t)
	f.document() // so that a change makes another token
	f.push(declare("ci-dns", zoneA))
	f.converge()
	f.push(declare("ci-dns", zoneB))
	f.converge()
	f.extend()
	f.advance(youngFor)
	f.revoke(2)
	f.fail["intend"] = errDiskFull
	f.work()
	delete(f.fail, "intend")
	f.converge()
	f.wantWorking("ci-dns")
}
