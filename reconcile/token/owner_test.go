package token

import (
	"context"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

const prodID edge.AccountID = "0123456789abcdef0123456789abcdef"

var prod = desired.Account{Key: "prod", ID: prodID}

// ofProd is a token that account prod owns.
func ofProd(t desired.Token) desired.Token {
	t.Account, t.Owner = prod.Key, prod.ID
	return t
}

// own has account prod own all tokens that are pushed from now on, and takes the calls on
// the tokens of the user away.
func (f *fixture) own() {
	f.owned = true
	calls := f.share()
	f.Reader, f.Writer = nil, noCredential{}
	f.Accounts = func(desired.Account) (Calls, error) { return calls, nil }
}

// share gives account prod the same platform as the user, and returns its calls.
func (f *fixture) share() Calls {
	calls := Calls{Reader: f.Reader, Writer: f.Writer, Credential: "accounts.prod.credentials.tokens"}
	f.Accounts = func(desired.Account) (Calls, error) { return calls, nil }
	return calls
}

// both declares a token of the user and one of account prod.
func (f *fixture) both() {
	f.push(pruned(declare("mine", zoneA)), ofProd(pruned(declare("theirs", zoneB))))
	f.scope.Accounts = []desired.Account{prod}
}

// unlistable fails to list.
type unlistable struct {
	edge.TokenReader
	err error
}

func (u unlistable) UserTokens(context.Context) ([]edge.Token, error) { return nil, u.err }

// What stops one owner stops no other: its tokens alone are unknown, and it is said which
// credential is the cause.
func TestOwnersAreApart(t *testing.T) {
	for name, c := range map[string]struct {
		err       error
		ofAccount bool
		want      string // in the hint
	}{
		"the user is forbidden":     {errForbidden, false, "credentials.tokens must be permitted to read tokens"},
		"the user is rejected":      {errUnauthenticated, false, "check credentials.tokens"},
		"the user is down":          {errDown, false, "the next run tries again"},
		"the account is forbidden":  {errForbidden, true, "accounts.prod.credentials.tokens must have the permission Account API Tokens: Edit for account prod; if it has, it may be a token of another account"},
		"the account is rejected":   {errUnauthenticated, true, "check accounts.prod.credentials.tokens"},
		"the account is not found":  {&edge.Error{Status: 404}, true, "check the id of account prod"},
		"the account has no tokens": {&edge.Error{Status: 405}, true, "this platform has no tokens of accounts"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newExtended(t)
			calls := f.share()
			if c.ofAccount {
				calls.Reader = unlistable{calls.Reader, c.err}
				f.Accounts = func(desired.Account) (Calls, error) { return calls, nil }
			} else {
				f.Reader = unlistable{f.Reader, c.err}
			}
			f.both()
			o := f.work()
			stopped, works := "mine", "theirs"
			if c.ofAccount {
				stopped, works = works, stopped
			}
			if p := o.Plan.Problems; len(p) != 1 || p[0].Token != stopped || p[0].State != diff.Unknown || !strings.Contains(p[0].Hint, c.want) {
				t.Errorf("problems %+v", p)
			}
			f.wantMade(works)
			if rejected(o.Err) != (c.err == errUnauthenticated) || !o.Unfinished()[stopped] {
				t.Errorf("error %v", o.Err)
			}
		})
	}
}

// A credential that is rejected while tokens are created stops its owner alone.
func TestRejectedCreationStopsItsOwner(t *testing.T) {
	f := newExtended(t)
	f.share()
	f.Writer = rejectedCreator{f.Writer}
	f.push(declare("a", zoneA), declare("b", zoneA), ofProd(declare("c", zoneB)))
	f.scope.Accounts = []desired.Account{prod}
	o := f.work()
	f.wantMade("c")
	if count(o, reconcile.Failed) != 1 || count(o, reconcile.NotStarted) != 1 || !rejected(o.Err) {
		t.Errorf("results %v, error %v", results(o), o.Err)
	}
}

type rejectedCreator struct{ edge.TokenWriter }

func (rejectedCreator) CreateToken(context.Context, edge.TokenSpec) (edge.CreatedToken, error) {
	return edge.CreatedToken{}, errUnauthenticated
}

// Where an account has no credential, nothing is asked and its tokens alone are unknown.
func TestAccountWithoutCredential(t *testing.T) {
	f := newExtended(t)
	f.Accounts = func(desired.Account) (Calls, error) {
		return Calls{}, &MissingCredentialError{Reason: "there is none", Hint: "set it"}
	}
	f.both()
	o := f.work()
	if p := o.Plan.Problems; len(p) != 1 || p[0].Token != "theirs" || p[0].Account != "prod" || p[0].Reason != "there is none" || p[0].Hint != "set it" {
		t.Errorf("problems %+v", p)
	}
	f.wantMade("mine")
	f.wantCalls("list", "groups", "verify", "create")
}

// Nothing is planned, asked or deleted of an account that is left out, nor of one that
// left the repository: its tokens are named then.
func TestAccountThatIsNotThere(t *testing.T) {
	f := newExtended(t)
	f.share()
	f.both()
	f.converge()
	f.scope.Accounts = nil
	f.converge()
	f.wantCalls("list")
	f.wantMade("mine", "theirs")
	f.push(pruned(declare("mine", zoneA)))
	f.scope.Accounts = nil
	o := f.converge()
	if c := o.Plan.Changes; len(c) != 1 || c[0].Action() != diff.ActionOrphan || c[0].Token != "theirs" || !strings.Contains(c[0].Fields[0].Note, "seawall token revoked") {
		t.Errorf("changes %+v", c)
	}
	f.wantMade("mine", "theirs")
	f.scope.Accounts = []desired.Account{prod} // it is back
	f.converge()
	f.wantMade("mine")
}

// Of an account that is only observed no secret is delivered.
func TestObservedAccount(t *testing.T) {
	f := newExtended(t)
	calls := f.share()
	f.both()
	f.fail["deliver"] = errSinkDown
	f.work()
	clear(f.fail)
	calls.Observed, calls.Writer = true, nil
	f.Accounts = func(desired.Account) (Calls, error) { return calls, nil }
	o := f.work()
	if r := o.Results; len(r) != 1 || r[0].Change.Token != "mine" {
		t.Errorf("results %v", results(o))
	}
}

// A token with another owner is another token: the new one is there, with its secret, before
// the earlier one is deleted, and each is written by the calls of its own owner.
func TestOwnerChanges(t *testing.T) {
	for name, move := range map[string]func(*fixture){
		"to an account": func(f *fixture) {
			f.push(pruned(declare("a", zoneA)))
			f.converge()
			f.push(ofProd(pruned(declare("a", zoneA))))
		},
		"to the user": func(f *fixture) {
			f.push(ofProd(pruned(declare("a", zoneA))))
			f.scope.Accounts = []desired.Account{prod}
			f.converge()
			f.push(pruned(declare("a", zoneA)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newExtended(t)
			f.share()
			move(f)
			f.scope.Accounts = []desired.Account{prod}
			o := f.converge()
			if c := o.Plan.Changes; len(c) != 1 || c[0].Action() != diff.ActionReplace || c[0].Field("account") == nil {
				t.Errorf("changes %+v", c)
			}
			f.wantHolder("a", 2)
			f.wantMade("a", "a")
			before := f.records()[0]
			o = f.converge()
			if d, ok := o.Plan.Changes[0].Operation.(diff.Deletion); !ok || d.Owner != before.Owner || d.ID != before.ID {
				t.Errorf("changes %+v", o.Plan.Changes)
			}
			f.wantMade("a")
			f.wantHolder("a", 2)
			if again := f.converge(); !again.Plan.IsEmpty() || len(f.records()) != 1 || f.records()[0].Owner == before.Owner {
				t.Errorf("changes %+v, records %+v", again.Plan.Changes, f.records())
			}
		})
	}
}

// While the outcome of a creation is unknown, no other owner gets the token either.
func TestOwnerChangesInDoubt(t *testing.T) {
	f := newFixture(t)
	f.share()
	f.push(declare("a", zoneA))
	f.lose()
	f.push(ofProd(declare("a", zoneA)))
	f.scope.Accounts = []desired.Account{prod}
	o := f.work()
	if p := o.Plan.Problems; len(p) != 1 || p[0].State != diff.Quarantined || len(f.platform.created) != 1 {
		t.Errorf("problems %+v, created %v", p, f.platform.created)
	}
}
