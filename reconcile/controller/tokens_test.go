package controller

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/mem"
	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/token"
)

// Tokens beside zones: one item of work, which neither holds up nor waits for anything
// else. What the work does is package token's matter.

// tokenWorld is a ledger of tokens, a sink, and a platform that creates them.
type tokenWorld struct {
	edge.TokenWriter // nil: it offers nothing but CreateToken

	mu      sync.Mutex
	records []diff.TokenRecord
	sealed  map[string]edge.Secret
	sunk    map[desired.Sink]int
	made    int
	create  func(context.Context) error // before each creation; nil does nothing
	refuse  error                       // of the sink; nil: it takes each secret
}

func (w *tokenWorld) record(intent string, change func(*diff.TokenRecord)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.records {
		if w.records[i].Intent == intent {
			change(&w.records[i])
		}
	}
	return nil
}

func (w *tokenWorld) Tokens(context.Context) (diff.TokensLive, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return diff.TokensLive{Records: slices.Clone(w.records)}, nil
}

func (w *tokenWorld) Intend(_ context.Context, record diff.TokenRecord) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	record.State = diff.TokenIntended
	w.records = append(w.records, record)
	return nil
}

func (w *tokenWorld) NotCreated(_ context.Context, intent string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.records = slices.DeleteFunc(w.records, func(r diff.TokenRecord) bool { return r.Intent == intent })
	return nil
}

func (w *tokenWorld) Quarantine(_ context.Context, intent, _ string) error {
	return w.record(intent, func(r *diff.TokenRecord) { r.State = diff.TokenQuarantined })
}

func (w *tokenWorld) Confirm(_ context.Context, intent string, id edge.TokenID, secret edge.Secret) error {
	return w.record(intent, func(r *diff.TokenRecord) { r.State, r.ID, w.sealed[intent] = diff.TokenConfirmed, id, secret })
}

func (w *tokenWorld) Amend(_ context.Context, intent string, spec edge.TokenSpec, hash string) error {
	return w.record(intent, func(r *diff.TokenRecord) { r.Spec, r.Hash = spec, hash })
}

func (w *tokenWorld) Sealed(_ context.Context, intent string) (edge.Secret, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sealed[intent], nil
}

func (w *tokenWorld) Delivered(_ context.Context, intent string) error {
	return w.record(intent, func(r *diff.TokenRecord) { r.Delivered = true })
}

func (w *tokenWorld) Prunable(context.Context, []string, bool) error { return nil }
func (w *tokenWorld) Gone(context.Context, string) error             { return nil }
func (w *tokenWorld) Check(desired.Sink) error                       { return nil }

func (w *tokenWorld) Deliver(_ context.Context, sink desired.Sink, _ edge.Secret) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.refuse != nil {
		return w.refuse
	}
	w.sunk[sink]++
	return nil
}

func (w *tokenWorld) Offers(call edge.Call, _ edge.Level) bool { return call == edge.CallCreateToken }

func (w *tokenWorld) CreateToken(ctx context.Context, spec edge.TokenSpec) (edge.CreatedToken, error) {
	w.mu.Lock()
	create := w.create
	w.mu.Unlock()
	if err := edge.Sending(ctx); err != nil {
		return edge.CreatedToken{}, err
	}
	if create != nil {
		if err := create(ctx); err != nil {
			return edge.CreatedToken{}, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	return edge.CreatedToken{Token: edge.Token{ID: edge.TokenID("t" + spec.Name)}, Value: edge.NewSecret("made-up-secret-of-" + spec.Name)}, nil
}

func (w *tokenWorld) set(create func(context.Context) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.create = create
}

func (w *tokenWorld) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made
}

// withTokens has a fixture look at tokens, too.
func withTokens(t *testing.T, n int) (*fixture, *tokenWorld) {
	f := newFixture(t, n)
	w := &tokenWorld{sealed: map[string]edge.Secret{}, sunk: map[desired.Sink]int{}}
	f.newTokens = func() *token.Worker {
		return token.New(token.Config{Memory: w, Calls: token.Calls{Writer: w}, Sinks: w, Now: time.Now})
	}
	return f, w
}

func declareToken(key string) desired.Token {
	return desired.Token{
		Key: key, Name: key, Sink: &desired.Sink{Name: "ci", Key: key},
		Policies: []desired.Policy{{
			Effect:           "allow",
			Resources:        []desired.Resource{{Key: edge.ResourceZone + mem.FleetZone(1).String()}},
			PermissionGroups: []desired.PermissionGroup{{ID: mem.ZoneLogsGroup}},
		}},
	}
}

// pushTokens makes a commit the head that declares zones and tokens.
func (f *fixture) pushTokens(name string, zones []desired.Zone, keys ...string) {
	state := stateOf(name, zones...)
	for _, key := range keys {
		state.Tokens = append(state.Tokens, declareToken(key))
	}
	f.repo.Commit(name, commit{State: state})
	if f.source != nil {
		f.source.Poke()
		f.pass(soon)
	}
}

func TestTokensBesideZones(t *testing.T) {
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 3)
		f.pushTokens("c1", fleet(3, "xss"), "ci-dns")
		f.start()
		f.want(3, "xss")
		if w.count() != 1 || len(w.sunk) != 1 {
			t.Errorf("%d made, sunk %v", w.count(), w.sunk)
		}
		f.pushTokens("c2", fleet(3, "xss"), "ci-dns", "deploy")
		if w.count() != 2 {
			t.Errorf("%d made", w.count())
		}
		f.restart()
		f.pass(2 * interval)
		if w.count() != 2 {
			t.Errorf("%d made after a restart", w.count())
		}
	})
}

// A doubt about tokens, or a platform that does not answer about them, holds no zone
// back; it is tried again by itself.
func TestTokensHoldNoZoneBack(t *testing.T) {
	for name, create := range map[string]func(context.Context) error{
		"refused":  func(context.Context) error { return errUnauthenticated },
		"withheld": func(context.Context) error { return &edge.Error{Status: 429} },
		"silent":   func(ctx context.Context) error { <-ctx.Done(); return &edge.Error{Status: 429} },
	} {
		runNamed(t, name, func(t *testing.T) {
			f, w := withTokens(t, 3)
			w.set(create)
			f.pushTokens("c1", fleet(3, "xss"), "ci-dns")
			f.start()
			f.want(3, "xss")
			f.pushTokens("c2", fleet(3, "rce"), "ci-dns")
			f.want(3, "rce")
			f.drift(3)
			f.pass(interval)
			f.want(3, "rce")
			if found := f.Status().Tokens.Findings; name == "refused" && (len(found) != 1 || !strings.HasPrefix(found[0].Reason, "create is not done: ")) {
				t.Errorf("it does not say why: %+v", found)
			}
			w.set(nil)
			if name == "silent" {
				f.restart()
			}
			f.pass(20 * time.Minute)
			if w.count() != 1 || len(w.sunk) != 1 {
				t.Errorf("%d made, sunk %v", w.count(), w.sunk)
			}
		})
	}
}

// A sink that works again has the secret within a minute or so, however long it was away.
func TestASinkThatIsBack(t *testing.T) {
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 1)
		refuse := func(err error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refuse = err
		}
		refuse(&reconcile.SinkError{Sink: "ci", Err: errDown})
		f.pushTokens("c1", fleet(1, "xss"), "ci-dns")
		f.start()
		f.pass(3 * time.Hour)
		if len(w.sunk) != 0 {
			t.Fatalf("sunk %v", w.sunk)
		}
		refuse(nil)
		f.pass(retry.Delivery.Most + soon)
		if len(w.sunk) != 1 {
			t.Errorf("sunk %v", w.sunk)
		}
	})
}

// What a guard holds back of tokens is made as soon as it is released, once.
func TestTokensThatWait(t *testing.T) {
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 1)
		f.Guards = approving(guard.ApproveAll)
		f.Sweep = nil
		f.pushTokens("c1", nil, "ci-dns")
		f.start()
		f.pass(time.Minute)
		if w.count() != 0 {
			t.Fatal("made without an approval")
		}
		digest := ""
		for _, r := range f.journal.take() {
			for _, c := range r.Plan.Changes {
				digest = c.ApprovalDigest()
			}
		}
		f.approve(digest)
		f.pass(soon)
		if w.count() != 1 {
			t.Errorf("%d made once it is approved", w.count())
		}
		if left := f.record().Approvals; len(left) > 0 {
			t.Errorf("not spent: %v", left)
		}
	})
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 1)
		f.Guards = reconcile.Guards{Freezes: []reconcile.Freeze{window(t, "0 0 * * *", 2*time.Hour)}}
		f.Sweep = nil
		f.pushTokens("c1", nil, "ci-dns")
		f.start()
		f.pass(time.Until(time.Date(2000, 1, 1, 1, 59, 59, 0, time.UTC)))
		if w.count() != 0 {
			t.Fatal("made within the freeze")
		}
		f.pass(soon)
		if w.count() != 1 {
			t.Errorf("%d made after the freeze", w.count())
		}
	})
}

// An approval counts once, though the process is told to stop while it is used.
func TestAnApprovalOfATokenIsSpentOnTheWayOut(t *testing.T) {
	run(t, func(t *testing.T) {
		f, w := withTokens(t, 1)
		f.Guards = approving(guard.ApproveAll)
		f.pushTokens("c1", nil, "ci-dns")
		f.start()
		f.pass(time.Minute)
		digest := ""
		for _, r := range f.journal.take() {
			for _, c := range r.Plan.Changes {
				digest = c.ApprovalDigest()
			}
		}
		w.set(func(context.Context) error { time.Sleep(time.Minute); return nil })
		f.approve(digest)
		f.pass(10 * time.Second)
		f.stop()
		if w.count() != 1 || len(w.sunk) != 1 {
			t.Errorf("%d made, sunk %v", w.count(), w.sunk)
		}
		if left := f.record().Approvals; len(left) > 0 {
			t.Errorf("not spent: %v", left)
		}
	})
}
