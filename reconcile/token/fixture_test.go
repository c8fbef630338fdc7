package token

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/integration/must"
	"github.com/seawall-dev/seawall/reconcile"
)

// fixture is a worker over twins in memory, and a repository that declares tokens.
type fixture struct {
	t testT
	*Worker
	*journal
	memory   *memory
	sinks    *sinks
	platform *platform
	now      time.Time

	scope Scope // the commit in force
	owned bool  // account prod owns the tokens
	retry bool  // tries again what did not converge

	rules []guard.Rule // guards; none at the start
}

// testT is what *testing.T and *rapid.T have in common.
type testT interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

const (
	zoneA, zoneB = "000000000000000000000000000000aa", "000000000000000000000000000000bb"
	dnsGroup     = "4755a26eedb94da69e1066d98aa820be"
	day          = 24 * time.Hour
)

// newFixture has a platform with the calls of the reference.
func newFixture(t testT) *fixture {
	t.Helper()
	return build(t, mem.Documented)
}

// newExtended has a platform that lists, changes and deletes tokens, too.
func newExtended(t testT, quirks ...string) *fixture {
	t.Helper()
	f := build(t, mem.Extended, quirks...)
	f.extend()
	return f
}

func build(t testT, profile string, quirks ...string) *fixture {
	t.Helper()
	f := &fixture{t: t, journal: &journal{fail: map[string]error{}, lost: map[string]bool{}}, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	seed := mem.Fleet(1)
	seed.PermissionGroups = append(seed.PermissionGroups, mem.SeedPermissionGroup{ID: dnsGroup, Name: "DNS Write", Scopes: []string{"com.vendor.api.account.zone"}})
	truth, err := mem.New(mem.Config{Seed: seed, Profile: profile, Quirks: quirks, Now: f.Now})
	must.Do(t, err)
	f.memory = &memory{journal: f.journal, sealed: map[string]edge.Secret{}}
	f.sinks = &sinks{journal: f.journal, sunk: map[desired.Sink]string{}}
	f.platform = &platform{journal: f.journal, truth: truth, keeps: true, key: map[edge.TokenID]string{}, ended: map[edge.TokenID]bool{}}
	f.Worker = New(Config{Memory: f.memory, Calls: Calls{Writer: f.platform}, Sinks: f.sinks, Now: f.Now})
	return f
}

func (f *fixture) Now() time.Time          { return f.now }
func (f *fixture) advance(d time.Duration) { f.now = f.now.Add(d) }

// extend and document set the profile of the platform.
func (f *fixture) extend() {
	f.Reader, f.NameSuffix = f.platform, " [{intent}]"
}

func (f *fixture) document() { f.Reader = nil }

// restart begins a new process: what is kept is what is on record.
func (f *fixture) restart() {
	f.Worker = New(f.Config)
	f.at, f.moment, f.after = 0, 0, ""
}

// push makes a commit that declares these tokens.
func (f *fixture) push(tokens ...desired.Token) {
	f.scope = Scope{Commit: "c" + f.scope.Commit, Tokens: tokens}
	if !f.owned {
		return
	}
	f.scope.Accounts = []desired.Account{prod}
	for i, token := range tokens {
		f.scope.Tokens[i] = ofProd(token)
	}
}

// guard is that of a daemon with the rules of the fixture.
func (f *fixture) guard(_ context.Context, plan diff.Plan) (diff.Plan, error) {
	facts := guard.Facts{Now: f.now, CheckSink: f.sinks.Check, NonConvergent: f.Unkept(), Rules: f.rules}
	if f.retry {
		facts.NonConvergent = nil
	}
	return guard.Check(plan, facts), nil
}

// work does the whole item, with a journal of its own.
func (f *fixture) work() Outcome {
	f.t.Helper()
	return f.workOn(f.scope)
}

func (f *fixture) workOn(scope Scope) Outcome {
	f.t.Helper()
	f.taken = nil
	return f.Work(f.t.Context(), scope, f.guard)
}

// sync does what is due, as a daemon does while no commit comes.
func (f *fixture) sync() Outcome {
	f.t.Helper()
	keys, err := f.Due(f.t.Context(), f.scope.Tokens)
	must.Do(f.t, err)
	due := Scope{Commit: f.scope.Commit, Accounts: f.scope.Accounts, Part: true}
	for _, token := range f.scope.Tokens {
		if keys[token.Key] {
			due.Tokens = append(due.Tokens, token)
		}
	}
	if len(due.Tokens) == 0 {
		f.taken = nil
		return Outcome{}
	}
	return f.workOn(due)
}

// plan looks, and changes nothing.
func (f *fixture) plan() diff.Plan {
	f.t.Helper()
	f.taken = nil
	live, err := f.Look(f.t.Context(), f.scope)
	must.Do(f.t, err)
	plan, _ := f.guard(f.t.Context(), f.Plan(f.scope, live))
	return plan
}

// converge does work that must leave nothing to do.
func (f *fixture) converge() Outcome {
	f.t.Helper()
	return f.converged(f.work())
}

func (f *fixture) converged(o Outcome) Outcome {
	f.t.Helper()
	if !converged(o) {
		f.t.Fatalf("not converged: error %v; results %v; refused %v; problems %+v", o.Err, results(o), refusals(o), o.Plan.Problems)
	}
	return o
}

func converged(o Outcome) bool {
	return o.Err == nil && !o.Plan.Attention() && count(o, reconcile.Converged) == len(o.Results)
}

func count(o Outcome, outcome reconcile.Outcome) (n int) {
	for _, result := range o.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// results are in short: "ci-dns converged".
func results(o Outcome) []string {
	list := []string{}
	for _, result := range o.Results {
		text := result.Change.Token + " " + string(result.Outcome)
		if result.Err != nil {
			text += ": " + result.Err.Error()
		}
		list = append(list, text)
	}
	return list
}

func refusals(o Outcome) (guards []string) {
	for _, c := range o.Plan.Changes {
		if c.Refused != nil {
			guards = append(guards, string(c.Refused.Guard))
		}
	}
	return guards
}

// killed does work that ends with the process, and begins another one.
func (f *fixture) killed() {
	f.t.Helper()
	if f.survives() {
		f.t.Fatalf("no crash; took %v", f.taken)
	}
}

// survives does work that may end with the process, and begins another one.
func (f *fixture) survives() (survived bool) {
	f.t.Helper()
	defer f.restart()
	defer func() {
		if r := recover(); r != nil && r != errCrash {
			panic(r)
		}
	}()
	f.work()
	return true
}

func (f *fixture) wantTaken(want ...string) {
	f.t.Helper()
	if !slices.Equal(f.taken, want) {
		f.t.Errorf("took %v, want %v", f.taken, want)
	}
}

// calls are the steps that the platform saw.
func (f *fixture) wantCalls(want ...string) {
	f.t.Helper()
	known := []string{"create", "list", "get", "groups", "verify", "put", "delete", "roll"}
	calls := slices.DeleteFunc(slices.Clone(f.taken), func(step string) bool { return !slices.Contains(known, step) })
	if !slices.Equal(calls, want) {
		f.t.Errorf("calls %v, want %v", calls, want)
	}
}

// made are the names of the tokens on the platform that were made here, without
// the attempt.
func (f *fixture) made() (names []string) {
	for _, token := range f.platform.living() {
		name, _, _ := strings.Cut(token.Name, " [")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (f *fixture) wantMade(want ...string) {
	f.t.Helper()
	if got := f.made(); !slices.Equal(got, want) {
		f.t.Errorf("made %v, want %v", got, want)
	}
}

// holder returns the token whose secret a place has, and whether it signs in.
func (f *fixture) holder(place string) (mem.SeedToken, bool) {
	token, _, ok := f.platform.truth.TokenByValue(edge.NewSecret(f.sinks.sunk[desired.Sink{Name: "ci", Key: place}]))
	end, err := time.Parse(time.RFC3339, token.ExpiresOn)
	return token, ok && (err != nil || f.now.Before(end))
}

// wantHolder: the nth token that was made is the one whose secret a place has, and
// it signs in.
func (f *fixture) wantHolder(place string, n int) {
	f.t.Helper()
	if token, works := f.holder(place); !works || n > len(f.platform.created) || token.ID != string(f.platform.created[n-1]) {
		f.t.Errorf("%s does not have the secret of token %d of %d", place, n, len(f.platform.created))
	}
}

func (f *fixture) wantWorking(place string) {
	f.t.Helper()
	if _, works := f.holder(place); !works {
		f.t.Errorf("the secret in %s does not work", place)
	}
}

// records returns what is on record.
func (f *fixture) records() []diff.TokenRecord { return f.memory.live.Records }

// declare is a token whose secret goes to a place of its own.
func declare(key, zone string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect:           "allow",
			Resources:        []desired.Resource{{Key: edge.ResourceZone + zone}},
			PermissionGroups: []desired.PermissionGroup{{ID: dnsGroup}},
		}},
	}
}

func rotating(key string) desired.Token {
	t := declare(key, zoneA)
	t.Rotate = &desired.Rotate{Every: 30 * day, Overlap: 2 * day}
	return t
}

func pruned(t desired.Token) desired.Token {
	t.Prune = true
	return t
}

// inPlace may be deleted, and its secret goes to a place that others may share.
func inPlace(key, zone, place string) desired.Token {
	t := pruned(declare(key, zone))
	t.Sink = &desired.Sink{Name: "ci", Key: place}
	return t
}

var (
	errDown            = &edge.Error{Status: 503}
	errForbidden       = &edge.Error{Status: 403, Details: []edge.ErrorDetail{{Code: edge.CodeNotPermitted, Message: "Unauthorized to access requested resource"}}}
	errUnauthenticated = &edge.Error{Status: 401, Details: []edge.ErrorDetail{{Code: edge.CodeInvalidToken, Message: "Invalid API Token"}}}
	errSinkDown        = fmt.Errorf("the sink is down")
	errDiskFull        = fmt.Errorf("disk full")
)

var _ testT = (*testing.T)(nil)
