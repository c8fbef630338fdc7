package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// steps is the ledger's tokens, a platform that creates them and a sink, all in
// memory. Every step taken is noted, in order, and may fail or crash.
type steps struct {
	live     diff.TokensLive
	sealed   map[string]edge.Secret
	sunk     map[string]string // by key of the sink
	existing []edge.CreatedToken

	taken   []string
	fail    map[string]error // by step
	crashAt string           // panics as the process would die: after the step took effect
	answer  error            // of the platform, after the token came to be
}

var errCrash = errors.New("crash")

func newSteps() *steps {
	return &steps{sealed: map[string]edge.Secret{}, sunk: map[string]string{}, fail: map[string]error{}}
}

func (s *steps) step(name string, do func()) error {
	s.taken = append(s.taken, name)
	if err := s.fail[name]; err != nil {
		return err
	}
	do()
	if s.crashAt == name {
		panic(errCrash)
	}
	return nil
}

func (s *steps) record(intent string) *diff.TokenRecord {
	i := slices.IndexFunc(s.live.Records, func(r diff.TokenRecord) bool { return r.Intent == intent })
	return &s.live.Records[i]
}

func (s *steps) Tokens(context.Context) (diff.TokensLive, error) {
	live := s.live
	live.Records = slices.Clone(live.Records)
	return live, nil
}

func (s *steps) Intend(_ context.Context, r diff.TokenRecord) error {
	return s.step("intend", func() { s.live.Records = append(s.live.Records, r) })
}

func (s *steps) NotCreated(_ context.Context, intent string) error {
	return s.step("not created", func() {
		s.live.Records = slices.DeleteFunc(s.live.Records, func(r diff.TokenRecord) bool { return r.Intent == intent })
	})
}

func (s *steps) Quarantine(_ context.Context, intent, reason string) error {
	return s.step("quarantine", func() {
		s.record(intent).State, s.record(intent).Reason = diff.TokenQuarantined, reason
	})
}

func (s *steps) Confirm(_ context.Context, intent string, id edge.TokenID, secret edge.Secret) error {
	return s.step("confirm", func() {
		s.record(intent).State, s.record(intent).ID = diff.TokenConfirmed, id
		s.sealed[intent] = secret
	})
}

func (s *steps) Sealed(_ context.Context, intent string) (edge.Secret, error) {
	return s.sealed[intent], s.step("open the seal", func() {})
}

func (s *steps) Delivered(_ context.Context, intent string) error {
	return s.step("delivered", func() {
		s.record(intent).Delivered = true
		delete(s.sealed, intent)
	})
}

func (s *steps) Amend(_ context.Context, intent string, spec edge.TokenSpec, hash string) error {
	return s.step("amend", func() { s.record(intent).Spec, s.record(intent).Hash = spec, hash })
}

func (s *steps) Prunable(_ context.Context, intents []string, prune bool) error {
	return s.step("prunable", func() {
		for _, intent := range intents {
			s.record(intent).Prune = prune
		}
	})
}

func (s *steps) Gone(_ context.Context, intent string) error {
	return s.step("gone", func() {
		i := slices.IndexFunc(s.live.Records, func(r diff.TokenRecord) bool { return r.Intent == intent })
		for j := range s.live.Records[:i] {
			if r := &s.live.Records[j]; r.Key == s.live.Records[i].Key && r.Delivered && r.Sink != nil && s.live.Records[i].Sink != nil && *r.Sink == *s.live.Records[i].Sink {
				r.Sink = nil
			}
		}
		s.live.Records = slices.Delete(s.live.Records, i, i+1)
		delete(s.sealed, intent)
	})
}

func (s *steps) CreateToken(_ context.Context, spec edge.TokenSpec) (created edge.CreatedToken, err error) {
	err = s.step("create", func() {
		n := len(s.existing) + 1
		created.ID, created.TokenSpec = edge.TokenID(fmt.Sprintf("t%d", n)), spec
		created.Value = edge.NewSecret(fmt.Sprintf("made-up-%d", n))
		s.existing = append(s.existing, created)
	})
	if err == nil && s.answer != nil {
		return edge.CreatedToken{}, s.answer
	}
	return created, err
}

func (s *steps) Check(sink desired.Sink) error {
	if sink.Name != "ci" {
		return fmt.Errorf("there is no sink %q", sink.Name)
	}
	return nil
}

func (s *steps) Deliver(_ context.Context, sink desired.Sink, secret edge.Secret) error {
	return s.step("deliver", func() { s.sunk[sink.Key] = secret.Reveal() })
}

func tokenWorld(t *testing.T) (*world, *steps) {
	w := newWorld(t, 1)
	s := newSteps()
	w.Tokens, w.Creator, w.Sinks = s, s, s
	return w, s
}

func token(key, zone string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect:           "allow",
			Resources:        []desired.Resource{{Key: edge.ResourceZone + zone}},
			PermissionGroups: []desired.PermissionGroup{{ID: "4755a26eedb94da69e1066d98aa820be"}},
		}},
	}
}

const zoneA, zoneB = "000000000000000000000000000000aa", "000000000000000000000000000000bb"

func pushTokens(w *world, name string, tokens ...desired.Token) {
	state := stateOf(name, zone(1, core("xss")))
	state.Tokens = tokens
	w.repo.commits[name] = commit{state: state}
	w.repo.head = name
}

// Nothing is sent before it is on record, and nothing is told before it is done.
func TestTokenIsCreatedStepByStep(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	want := []string{"intend", "create", "confirm", "deliver", "delivered"}
	if !slices.Equal(s.taken, want) {
		t.Errorf("took %v, want %v", s.taken, want)
	}
	if s.sunk["ci-dns"] != "made-up-1" || len(s.sealed) != 0 {
		t.Errorf("sunk %v, sealed %d", s.sunk, len(s.sealed))
	}

	s.taken = nil
	w.converge(sweep)
	if len(s.taken) != 0 || len(s.existing) != 1 {
		t.Errorf("a second run took %v; %d tokens exist", s.taken, len(s.existing))
	}
}

// A process that dies after any step leaves a record from which the next one
// neither creates twice nor loses a secret.
func TestCrashAfterAnyStep(t *testing.T) {
	for _, step := range []string{"intend", "create", "confirm", "deliver", "delivered"} {
		t.Run(step, func(t *testing.T) {
			w, s := tokenWorld(t)
			pushTokens(w, "c1", token("ci-dns", zoneA))
			s.crashAt = step
			func() {
				defer func() {
					if r := recover(); r != errCrash {
						t.Fatalf("no crash: %v", r)
					}
				}()
				w.Run(t.Context(), sweep)
			}()
			s.crashAt = ""
			for range 3 {
				w.restart()
				w.Tokens, w.Creator, w.Sinks = s, s, s
				w.Run(t.Context(), sweep)
			}
			if len(s.existing) > 1 {
				t.Fatalf("%d tokens exist", len(s.existing))
			}
			record := s.live.Records[0]
			switch step {
			case "intend", "create": // nobody can know
				if record.State != diff.TokenQuarantined || record.Reason == "" {
					t.Errorf("the attempt is %s", record.State)
				}
			default:
				if record.State != diff.TokenConfirmed || !record.Delivered || s.sunk["ci-dns"] != "made-up-1" {
					t.Errorf("the attempt is %+v, sunk %v", record, s.sunk)
				}
			}
		})
	}
}

func TestOutcomesOfCreation(t *testing.T) {
	refused := &edge.Error{Status: 400}
	for name, c := range map[string]struct {
		fail    map[string]error
		answer  error
		outcome Outcome
		state   diff.TokenState // empty: nothing stays on record
		taken   []string
	}{
		"refused": {
			fail: map[string]error{"create": refused}, outcome: Failed,
			taken: []string{"intend", "create", "not created"},
		},
		"throttled": {
			fail: map[string]error{"create": &edge.Error{Status: 429}}, outcome: Failed,
			taken: []string{"intend", "create", "not created"},
		},
		"answer lost": {
			answer: edge.ErrOutcomeUnknown, outcome: Quarantined, state: diff.TokenQuarantined,
			taken: []string{"intend", "create", "quarantine"},
		},
		"not on record": {
			fail: map[string]error{"intend": errors.New("disk full")}, outcome: Failed,
			taken: []string{"intend"},
		},
		"cannot be sealed": {
			fail: map[string]error{"confirm": errors.New("disk full")}, outcome: Quarantined, state: diff.TokenQuarantined,
			taken: []string{"intend", "create", "confirm", "quarantine"},
		},
		"sink is down": {
			fail: map[string]error{"deliver": errors.New("down")}, outcome: Failed, state: diff.TokenConfirmed,
			taken: []string{"intend", "create", "confirm", "deliver"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := tokenWorld(t)
			pushTokens(w, "c1", token("ci-dns", zoneA))
			s.fail, s.answer = c.fail, c.answer
			if s.fail == nil {
				s.fail = map[string]error{}
			}
			report, _ := w.run(sweep)
			if report.Count(c.outcome) != 1 || report.Converged() {
				t.Errorf("results %+v, error %v", report.Results, report.Err)
			}
			if !slices.Equal(s.taken, c.taken) {
				t.Errorf("took %v, want %v", s.taken, c.taken)
			}
			if c.state == "" && len(s.live.Records) > 0 || c.state != "" && s.live.Records[0].State != c.state {
				t.Errorf("on record: %+v", s.live.Records)
			}
		})
	}
}

// A sink that is down keeps the secret sealed; a later run delivers it, and
// creates nothing.
func TestSecretWaitsForItsSink(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	s.fail["deliver"] = errors.New("down")
	w.run(sweep)
	if len(s.sealed) != 1 {
		t.Fatal("the secret is not sealed")
	}
	s.taken = nil
	report, _ := w.run(sweep)
	if report.Converged() || !slices.Equal(s.taken, []string{"open the seal", "deliver"}) {
		t.Errorf("took %v", s.taken)
	}
	delete(s.fail, "deliver")
	w.converge(sweep)
	if len(s.existing) != 1 || s.sunk["ci-dns"] != "made-up-1" || len(s.sealed) != 0 {
		t.Errorf("%d exist, sunk %v, %d sealed", len(s.existing), s.sunk, len(s.sealed))
	}
}

// A quarantined creation is told and never sent again.
func TestQuarantineIsForAPerson(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	s.answer = edge.ErrOutcomeUnknown
	w.run(sweep)
	s.answer, s.taken = nil, nil
	report, _ := w.run(sweep)
	if len(s.taken) != 0 || report.Converged() {
		t.Errorf("took %v", s.taken)
	}
	p := report.Plan.Problems
	if len(p) != 1 || p[0].State != diff.Quarantined || !strings.Contains(p[0].Hint, "seawall token resolve ci-dns") {
		t.Errorf("problems %+v", p)
	}
}

// A ledger that may not be complete creates nothing.
func TestUnknownTokensAreNotCreated(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	s.live.Unknown, s.live.Hint = "the ledger is new", "seawall token init"
	report, _ := w.run(sweep)
	if len(s.taken) != 0 || len(report.Plan.Changes) != 1 { // the zone's
		t.Errorf("took %v, changes %+v", s.taken, report.Plan.Changes)
	}
	if p := report.Plan.Problems; len(p) != 1 || p[0].State != diff.Unknown || p[0].Hint != "seawall token init" {
		t.Errorf("problems %+v", p)
	}
}

// A changed declaration is a new token; what left git is named and not dropped.
func TestReplacementAndOrphans(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("ci-dns", zoneA))
	w.converge(sweep)
	pushTokens(w, "c2", token("ci-dns", zoneB))
	report, _ := w.run(Order{Trigger: TriggerManual, PlanOnly: true})
	if c := tokenChanges(report.Plan); len(c) != 1 || c[0].Action != diff.ActionReplace || c[0].Direction != diff.Weakens {
		t.Fatalf("changes %+v", c)
	}
	w.converge(sweep)
	if len(s.existing) != 2 {
		t.Fatalf("%d exist", len(s.existing))
	}
	report, _ = w.converge(sweep)
	if c := tokenChanges(report.Plan); len(c) != 1 || c[0].Action != diff.ActionOrphan || c[0].Fields[0].Old != "t1" {
		t.Errorf("changes %+v", c)
	}

	// The sink holds the second one's secret by now, so going back is a third.
	pushTokens(w, "c3", token("ci-dns", zoneA))
	report, _ = w.converge(sweep)
	if len(s.existing) != 3 || s.sunk["ci-dns"] != "made-up-3" {
		t.Errorf("%d exist; sunk %v", len(s.existing), s.sunk)
	}
	report, _ = w.converge(sweep)
	if c := tokenChanges(report.Plan); len(c) != 2 || c[0].Fields[0].Old != "t1" || c[1].Fields[0].Old != "t2" {
		t.Errorf("changes %+v", c)
	}

	pushTokens(w, "c4")
	report, _ = w.converge(sweep)
	if c := tokenChanges(report.Plan); len(c) != 3 || c[0].Action != diff.ActionOrphan || c[1].Action != diff.ActionOrphan {
		t.Errorf("changes %+v", c)
	}
}

func tokenChanges(p diff.Plan) []diff.Change {
	return slices.DeleteFunc(slices.Clone(p.Changes), func(c diff.Change) bool { return c.Kind != diff.KindToken })
}

func TestCreationIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*desired.Token)
		guard  string
	}{
		"no sink":      {func(d *desired.Token) { d.Sink = nil }, "sink"},
		"unknown sink": {func(d *desired.Token) { d.Sink.Name = "vault" }, "sink"},
		"name":         {func(d *desired.Token) { d.Name = strings.Repeat("ä", 121) }, "name"},
		"expired":      {func(d *desired.Token) { d.ExpiresOn = "2025-12-31T23:59:59Z" }, "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			w, s := tokenWorld(t)
			d := token("ci-dns", zoneA)
			c.change(&d)
			pushTokens(w, "c1", d)
			report, _ := w.run(sweep)
			changes := tokenChanges(report.Plan)
			if len(s.taken) != 0 || len(changes) != 1 || changes[0].Refused == nil || changes[0].Refused.Guard != c.guard {
				t.Errorf("took %v, changes %+v", s.taken, changes)
			}
		})
	}
}

// A rejected credential ends the creating, with one message that names it.
func TestRejectedTokensCredential(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("a", zoneA), token("b", zoneB))
	s.fail["create"] = &edge.Error{Status: 401}
	report, _ := w.run(sweep)
	if report.Err == nil || !strings.Contains(report.Err.Error(), "credentials.tokens") {
		t.Errorf("error %v", report.Err)
	}
	if report.Count(NotStarted) != 1 || !slices.Equal(s.taken, []string{"intend", "create", "not created"}) {
		t.Errorf("took %v, results %+v", s.taken, report.Results)
	}
	if len(s.live.Records) != 0 {
		t.Errorf("on record: %+v", s.live.Records)
	}
}

func TestCommitThatLosesTokensIsHeld(t *testing.T) {
	w, s := tokenWorld(t)
	pushTokens(w, "c1", token("a", zoneA), token("b", zoneA), token("c", zoneA), token("d", zoneA))
	w.converge(sweep)
	pushTokens(w, "c2", token("a", zoneA), token("b", zoneA))
	if report, _ := w.run(sweep); report.Held == nil || !strings.Contains(report.Held.Reason, "1 deployment and 4 tokens") {
		t.Errorf("half of the tokens vanished, held: %+v", report.Held)
	}
	allowed := sweep
	allowed.AllowShrink = true
	if report, _ := w.converge(allowed); len(tokenChanges(report.Plan)) != 2 || len(s.existing) != 4 {
		t.Errorf("changes %+v", tokenChanges(report.Plan))
	}
}
