package once

import (
	"context"
	"errors"
	"path/filepath"
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
	"github.com/seawall-dev/seawall/reconcile/ledger"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// How tokens are worked on is held by package token. Here: what tokens and zones of one
// run are to each other, over a real ledger.

// tokens is a fixture with all that tokens take.
type tokens struct {
	*fixture
	office *office
	ledger *ledger.Ledger
	path   string // of the ledger
	sunk   *sinks
}

var binding = ledger.Binding{Platform: "https://edge.example", Repository: "https://git.example"}

const (
	zoneA, zoneB = "000000000000000000000000000000aa", "000000000000000000000000000000bb"
	dnsGroup     = "4755a26eedb94da69e1066d98aa820be"
)

// newTokens has a platform that lists, changes and deletes tokens, and a ledger of which
// a person has said that it knows them all.
func newTokens(t *testing.T) *tokens {
	t.Helper()
	f := uninitialised(t)
	must.Do(f.t, f.ledger.Init(t.Context(), binding))
	return f
}

func uninitialised(t *testing.T) *tokens {
	t.Helper()
	f := &tokens{fixture: newFixture(t, 2), sunk: &sinks{secrets: map[string]string{}}}
	seed := mem.Fleet(2)
	seed.PermissionGroups = append(seed.PermissionGroups, mem.SeedPermissionGroup{ID: dnsGroup, Name: "DNS Write", Scopes: []string{"com.vendor.api.account.zone"}})
	platform, err := mem.New(mem.Config{Seed: seed, Profile: mem.Extended, Now: f.Now})
	must.Do(f.t, err)
	f.Platform, f.tamper.Platform, f.office = platform, platform, &office{Platform: platform}
	f.path = filepath.Join(t.TempDir(), "ledger.db")
	f.ledger, err = ledger.Open(f.path)
	must.Do(f.t, err)
	t.Cleanup(func() { _ = f.ledger.Close() })
	f.ledger.Now, f.ledger.Binding = f.Now, binding
	must.Do(f.t, f.ledger.LockTokens(t.Context()))
	f.adjust = func(r *Run) { f.put(r, f.ledger) }
	return f
}

// put has a run work with a ledger.
func (f *tokens) put(r *Run, l *ledger.Ledger) {
	r.Records = l
	r.Tokens = token.New(token.Config{
		Memory: l, Calls: token.Calls{Reader: f.office, Writer: f.office},
		Sinks: f.sunk, NameSuffix: " [{intent}]", Now: f.Now,
	})
	f.office.taken = nil
}

func (f *tokens) wantTaken(want ...string) {
	f.t.Helper()
	if !slices.Equal(f.office.taken, want) {
		f.t.Errorf("calls on tokens %v, want %v", f.office.taken, want)
	}
}

// wantSunk: these sinks hold a secret that signs in.
func (f *tokens) wantSunk(keys ...string) {
	f.t.Helper()
	var got []string
	for key, secret := range f.sunk.secrets {
		if _, _, ok := f.office.TokenByValue(edge.NewSecret(secret)); ok {
			got = append(got, key)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		f.t.Errorf("working secrets in %v, want %v", got, keys)
	}
}

// declareToken is a token whose secret goes to a place of its own.
func declareToken(key, zone string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect:           "allow",
			Resources:        []desired.Resource{{Key: edge.ResourceZone + zone}},
			PermissionGroups: []desired.PermissionGroup{{ID: dnsGroup}},
		}},
	}
}

// office notes the calls on tokens in short; answer, where set, takes the place of the
// platform's.
type office struct {
	*mem.Platform
	taken  []string
	answer func(call string) error
}

func (o *office) note(call string) error {
	o.taken = append(o.taken, call)
	if o.answer == nil {
		return nil
	}
	return o.answer(call)
}

func (o *office) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	if err := o.note("create"); err != nil {
		return edge.CreatedToken{}, err
	}
	return o.Platform.CreateToken(ctx, spec)
}

func (o *office) UserTokens(ctx context.Context) ([]edge.Token, error) {
	if err := o.note("list"); err != nil {
		return nil, err
	}
	return o.Platform.UserTokens(ctx)
}

func (o *office) UpdateToken(ctx context.Context, id edge.TokenID, body edge.Token) (edge.Token, error) {
	if err := o.note("put"); err != nil {
		return edge.Token{}, err
	}
	return o.Platform.UpdateToken(ctx, id, body)
}

func (o *office) DeleteToken(ctx context.Context, id edge.TokenID) error {
	if err := o.note("delete"); err != nil {
		return err
	}
	return o.Platform.DeleteToken(ctx, id)
}

// sinks are one, called ci.
type sinks struct {
	secrets map[string]string
	down    error
}

func (s *sinks) Check(sink desired.Sink) error {
	if sink.Name != "ci" {
		return errors.New("there is no such sink")
	}
	return nil
}

func (s *sinks) Deliver(_ context.Context, sink desired.Sink, secret edge.Secret) error {
	if s.down != nil {
		return s.down
	}
	s.secrets[sink.Key] = secret.Reveal()
	return nil
}

func TestZonesAndTokensInOneRun(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA), declareToken("cd", zoneB))
	report, calls := f.converge(Order{})
	f.wantOutcomes(report, "1 converged", "cd converged", "ci converged")
	f.wantTaken("list", "create", "create")
	f.wantSunk("cd", "ci")
	if writes(calls) != 1 {
		t.Errorf("calls %v", calls)
	}
	record, err := f.ledger.Restore(t.Context())
	if must.Do(f.t, err); len(record.Proofs) != 1 || record.Accepted.Size != (guard.Size{Zones: 1, Deployments: 1, Tokens: 2}) {
		t.Errorf("on record %+v", record)
	}
	report, calls = f.converge(Order{})
	f.wantTaken("list")
	if writes(calls) != 0 || len(report.Results) != 0 || len(report.Plan.Changes) != 0 {
		t.Errorf("calls %v, results %v", calls, outcomes(report))
	}

	f.pushTokens("c2", declareToken("ci", zoneB), declareToken("cd", zoneB))
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "ci converged")
	f.wantTaken("list", "put")
}

// A plan looks and changes nothing, beside a daemon that holds the ledger.
func TestPlanOfTokensOnlyLooks(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	f.office.answer = func(call string) error { return map[string]error{"create": errLost}[call] }
	if report, _ := f.apply(Order{}); report.Count(reconcile.Quarantined) != 1 {
		t.Fatalf("results %v", outcomes(report))
	}
	before, err := f.ledger.Tokens(t.Context())
	must.Do(f.t, err)
	f.adjust = func(r *Run) {
		l, err := ledger.OpenReadOnly(f.path)
		must.Do(f.t, err)
		t.Cleanup(func() { _ = l.Close() })
		l.Binding = binding
		f.put(r, l)
	}
	f.Advance(time.Hour) // by now an apply would find that it never came to be
	report, _ := f.plan(Order{})
	f.wantTaken("list")
	if p := report.Plan.Problems; report.Err != nil || len(p) != 1 || p[0].State != diff.Quarantined {
		t.Errorf("error %v, problems %+v", report.Err, p)
	}
	after, err := f.ledger.Tokens(t.Context())
	if must.Do(f.t, err); len(after.Records) != len(before.Records) || after.Records[0].State != before.Records[0].State {
		t.Errorf("on record %+v", after.Records)
	}
	f.adjust = func(r *Run) { f.put(r, f.ledger) }
	f.office.answer = nil
	f.converge(Order{})
	f.wantSunk("ci")
}

// An attempt that an earlier process did not finish is quarantined by an apply, and shown
// by a plan as it is.
func TestUnfinishedAttempt(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	must.Do(f.t, f.ledger.Intend(t.Context(), diff.TokenRecord{
		Intent: "00000000000000aa", Key: "ci", Hash: "h", Spec: declareToken("ci", zoneA).Spec(), Sink: &desired.Sink{Name: "ci", Key: "ci"}, At: f.Now(),
	}))
	states := func(want diff.TokenState) {
		t.Helper()
		live, err := f.ledger.Tokens(t.Context())
		if must.Do(f.t, err); len(live.Records) != 1 || live.Records[0].State != want {
			t.Errorf("on record %+v", live.Records)
		}
	}
	f.plan(Order{})
	states(diff.TokenIntended)
	report, _ := f.apply(Order{})
	states(diff.TokenQuarantined)
	f.wantTaken("list")
	f.wantOutcomes(report, "1 converged") // a doubt about tokens holds no zone back
	if report.Converged() {
		t.Error("converged")
	}
}

// Without a word that the ledger knows all tokens, none is created; zones go on.
func TestTokensOfANewLedgerAreUnknown(t *testing.T) {
	f := uninitialised(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged")
	f.wantTaken()
	if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || p[0].Hint == "" || report.Err != nil {
		t.Errorf("problems %+v, error %v", p, report.Err)
	}
}

// A run over a folder has no ledger: tokens are unknown, each time it is asked.
func TestTokensWithoutALedger(t *testing.T) {
	f := newFixture(t, 1)
	f.pushTokens("c1", declareToken("ci", zoneA))
	r := f.run()
	for _, report := range []reconcile.Report{r.Plan(t.Context(), Order{}), r.Plan(t.Context(), Order{}), r.Apply(t.Context(), Order{})} {
		if p := report.Plan.Problems; len(p) != 1 || p[0].Token != "ci" || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, "--dir") || report.Err != nil {
			t.Errorf("problems %+v, error %v", p, report.Err)
		}
		if len(report.Plan.Changes) != 1 || report.Converged() {
			t.Errorf("changes %+v", report.Plan.Changes)
		}
	}
	f.wantOff(1, "xss")
}

// What the platform says to the credential for tokens says nothing about zones.
func TestTokensThatCannotBeListed(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"down":      {errDown, "could not be listed"},
		"forbidden": {errForbidden, "could not be listed"},
		"rejected":  {errUnauthenticated, "does not accept credentials.tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTokens(t)
			f.pushTokens("c1", declareToken("ci", zoneA))
			f.office.answer = func(string) error { return c.err }
			planned, _ := f.plan(Order{})
			report, _ := f.apply(Order{})
			f.wantTaken("list")
			f.wantOutcomes(report, "1 converged")
			for _, report := range []reconcile.Report{planned, report} {
				if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || !strings.Contains(p[0].Reason, c.want) || p[0].Hint == "" {
					t.Errorf("problems %+v", p)
				}
				if len(report.Plan.Changes) != 1 || report.Converged() {
					t.Errorf("changes %+v", report.Plan.Changes)
				}
				if report.Err != nil {
					t.Errorf("error %v", report.Err)
				}
			}
		})
	}
}

// A credential that is rejected while tokens are created ends the creating; what was
// done before is on record.
func TestRejectedWhileCreating(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("a", zoneA), declareToken("b", zoneB))
	f.office.answer = func(call string) error { return map[string]error{"create": errUnauthenticated}[call] }
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged", "a failed", "b not_started")
	f.wantTaken("list", "create")
	if report.Err != nil { // the zones are applied: the result says it
		t.Errorf("error %v", report.Err)
	}
	record, err := f.ledger.Restore(t.Context())
	if must.Do(f.t, err); len(record.Proofs) != 1 {
		t.Errorf("on record %+v", record)
	}
}

// And the other way round: there are two credentials.
func TestRejectedForZonesGoesOnWithTokens(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	f.tamper.Write = failWrite(1, errUnauthenticated)
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 failed", "ci converged")
	f.wantSunk("ci")
	if !errors.Is(report.Err, edge.ErrUnauthenticated) || !strings.Contains(report.Err.Error(), "check credentials.rulesets") {
		t.Errorf("error %v", report.Err)
	}
}

// An apply that is told to stop while it writes zones creates no token.
func TestStoppedBeforeTokens(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	ctx, cancel := context.WithCancel(t.Context())
	f.tamper.Write = func(_ context.Context, _ edge.Scope, send send) (*edge.Ruleset, error) { cancel(); return send() }
	report, _ := f.applyUntil(ctx, Order{})
	f.wantOutcomes(report, "1 converged")
	f.wantTaken("list")
	if report.Err == nil || report.Err.Error() != "context canceled" {
		t.Errorf("error %v", report.Err)
	}
	f.tamper.Write = nil
	f.converge(Order{})
	f.wantSunk("ci")
}

// A sink that is down fails its token alone; the apply that delivers the secret has
// converged, though its plan still told of it.
func TestDeliveredLater(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	f.sunk.down = errors.New("no space left on device")
	report, _ := f.apply(Order{})
	f.wantOutcomes(report, "1 converged", "ci failed")
	report, _ = f.plan(Order{})
	if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Undelivered {
		t.Errorf("problems %+v", p)
	}
	f.sunk.down = nil
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "ci converged")
	f.wantTaken("list")
	f.wantSunk("ci")
}

func TestCommitThatLosesTokensIsRefused(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("a", zoneA), declareToken("b", zoneA), declareToken("c", zoneA), declareToken("d", zoneA))
	f.converge(Order{})
	f.pushTokens("c2", declareToken("a", zoneA), declareToken("b", zoneA))
	report, _ := f.apply(Order{})
	if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Refused || !strings.Contains(p[0].Reason, "2 of 4 tokens of the last accepted commit: token c, token d") {
		t.Errorf("problems %+v", p)
	}
	report, _ = f.converge(Order{AllowShrink: true})
	orphans := 0
	for _, c := range report.Plan.Changes {
		if c.Action() == diff.ActionOrphan {
			orphans++
		}
	}
	if orphans != 2 || len(report.Results) != 0 {
		t.Errorf("changes %+v", report.Plan.Changes)
	}
}

// A run about one token leaves the record of others as it is.
func TestOnlyATokenForgetsNothingElse(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("a", zoneA), declareToken("b", zoneB))
	f.converge(Order{})
	f.Advance(time.Hour)
	live, err := f.ledger.Tokens(t.Context())
	must.Do(f.t, err)
	for _, r := range live.Records {
		if r.Key == "b" {
			must.Do(f.t, f.Platform.DeleteToken(t.Context(), r.ID))
		}
	}
	report, calls := f.converge(Order{Tokens: []string{"a"}})
	if len(calls) != 0 || len(report.Plan.Changes) != 0 || report.Full {
		t.Errorf("calls %v, changes %+v", calls, report.Plan.Changes)
	}
	report, _ = f.converge(Order{})
	f.wantOutcomes(report, "b converged")
	f.wantSunk("a", "b")
}

// Guards that are about all hold tokens back, too; those about zones do not.
func TestGuardsOfTokens(t *testing.T) {
	guarded := func(t *testing.T, g reconcile.Guards) *tokens {
		f := newTokens(t)
		f.guards = g
		f.pushTokens("c1", declareToken("ci", zoneA))
		return f
	}
	t.Run("approval", func(t *testing.T) {
		f := guarded(t, calm)
		report, _ := f.apply(Order{})
		f.wantRefused(report, "approval", "approval")
		f.wantTaken("list")
		f.converge(approving(report.Plan.ApprovalDigest()))
		f.wantSunk("ci")
		record, err := f.ledger.Restore(t.Context())
		if must.Do(f.t, err); len(record.Approvals) != 0 {
			t.Errorf("not spent: %+v", record.Approvals)
		}
	})
	t.Run("freeze", func(t *testing.T) {
		f := guarded(t, reconcile.Guards{Freezes: []reconcile.Freeze{window(t, "0 0 * * *", time.Hour)}})
		report, _ := f.apply(Order{})
		f.wantRefused(report, "freeze", "freeze")
		f.Advance(time.Hour)
		f.converge(Order{})
		f.wantSunk("ci")
	})
	t.Run("sink", func(t *testing.T) {
		f := newTokens(t)
		elsewhere := declareToken("ci", zoneA)
		elsewhere.Sink.Name = "vault"
		f.pushTokens("c1", elsewhere)
		report, _ := f.apply(Order{})
		f.wantRefused(report, "sink")
		f.wantOutcomes(report, "1 converged")
	})
	t.Run("limit", func(t *testing.T) {
		f := guarded(t, atMost(0))
		report, _ := f.apply(Order{})
		f.wantOutcomes(report, "ci converged")
	})
	t.Run("wave", func(t *testing.T) {
		f := guarded(t, threeWaves)
		f.repo.Push("c0", declareAll(2, core("xss"))...)
		c := f.repo.Commits["c0"]
		c.State.Tokens = []desired.Token{declareToken("ci", zoneA)}
		f.repo.Commits["c0"] = c
		report, _ := f.apply(Order{})
		f.wantOutcomes(report, "1 converged", "ci converged")
		f.wantRefused(report, "wave")
	})
}

// A ledger of tokens that cannot be read fails the whole: nobody can tell what would be
// created twice.
func TestTokensThatCannotBeRecalled(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA))
	f.adjust = func(r *Run) {
		r.Records = f.records
		r.Tokens = token.New(token.Config{Memory: lostMemory{f.ledger}, Now: f.Now})
	}
	report, calls := f.apply(Order{})
	if !errors.Is(report.Err, errFull) || writes(calls) != 0 || len(f.records.Made) != 0 {
		t.Errorf("error %v, calls %v", report.Err, calls)
	}
}

type lostMemory struct{ reconcile.TokenMemory }

func (lostMemory) Tokens(context.Context) (diff.TokensLive, error) {
	return diff.TokensLive{}, errFull
}

// putBackLedger is one that is put back to an earlier time once that is said.
type putBackLedger struct {
	*ledger.Ledger
	back bool
}

func (l *putBackLedger) Standing(ctx context.Context) (reconcile.Standing, error) {
	standing, err := l.Ledger.Standing(ctx)
	if l.back {
		standing.PutBack = 7
	}
	return standing, err
}

// What is left to do about tokens is not begun once the ledger was put back to an earlier time.
func TestTokensOfALedgerThatIsPutBack(t *testing.T) {
	f := newTokens(t)
	f.pushTokens("c1", declareToken("ci", zoneA), declareToken("cd", zoneA))
	f.converge(Order{})
	f.pushTokens("c2", declareToken("ci", zoneB), declareToken("cd", zoneB))
	memory := &putBackLedger{Ledger: f.ledger}
	f.adjust = func(r *Run) { f.put(r, f.ledger); r.Records = memory }
	f.office.answer = func(call string) error {
		memory.back = call == "put"
		return nil
	}
	report, _ := f.apply(Order{})
	f.wantTaken("list", "put")
	if n := len(report.Results); n != 2 || report.Results[0].Outcome != reconcile.Converged || report.Results[1].Outcome != reconcile.NotStarted || !errors.Is(report.Results[1].Err, reconcile.ErrPutBack) {
		t.Errorf("results %+v", report.Results)
	}
}
