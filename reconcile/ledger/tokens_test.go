package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/tokens"
)

// TestTokenAfterItsLife: updated in place, released for deletion, and gone with
// the secret that still waited.
func TestTokenAfterItsLife(t *testing.T) {
	l, ctx := ready(t), t.Context()
	r, other := record(1), record(2)
	r.Prune = true // known when the attempt begins
	must(t, l.Intend(ctx, r))
	wantFault(t, l.Amend(ctx, r.Intent, r.Spec, ""), ErrState, "is intended, not confirmed")
	wantFault(t, l.Gone(ctx, r.Intent), ErrState, "is intended, not confirmed")
	must(t, l.Confirm(ctx, r.Intent, "id-1", secret(1)))
	wantFault(t, l.Confirm(ctx, r.Intent, "id-1", secret(1)), ErrState, "is confirmed, not intended or quarantined")
	wantFault(t, l.NotCreated(ctx, r.Intent), ErrState, "is confirmed, not intended or quarantined")
	r.State, r.ID, r.Spec, r.Hash = diff.TokenConfirmed, "id-1", other.Spec, "amended"
	must(t, l.Amend(ctx, r.Intent, r.Spec, r.Hash))
	wantTokens(t, l, r)
	wantSealed(t, l, r.Intent, secret(1)) // an update leaves the secret as it is

	must(t, l.Intend(ctx, other))
	other.State = diff.TokenIntended
	both := []string{other.Intent, r.Intent}
	wantFault(t, l.Prunable(ctx, append(both, record(3).Intent), false), ErrState, "there is no attempt 0000000000000003")
	wantTokens(t, l, r, other) // of none
	must(t, l.Prunable(ctx, both, true))
	other.Prune = true
	wantTokens(t, l, r, other)
	must(t, l.Prunable(ctx, both, false))
	r.Prune, other.Prune = false, false
	wantTokens(t, l, r, other)

	must(t, l.Gone(ctx, r.Intent))
	wantTokens(t, l, other)
	_, err := l.Sealed(ctx, r.Intent)
	wantFault(t, err, ErrState, "no waiting secret")
	wantFault(t, l.Gone(ctx, r.Intent), ErrState, "there is no attempt 0000000000000001")
}

// TestForgottenTokenLeavesItsPlaceEmpty: where the newest token is forgotten, an
// earlier one is not where it was delivered to any more.
func TestForgottenTokenLeavesItsPlaceEmpty(t *testing.T) {
	for name, forget := range map[string]func(*Ledger, diff.TokenRecord) error{
		"gone":    func(l *Ledger, r diff.TokenRecord) error { return l.Gone(t.Context(), r.Intent) },
		"revoked": func(l *Ledger, r diff.TokenRecord) error { return l.Revoked(t.Context(), r.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			l := ready(t)
			elsewhere, earlier, newest, other := named(1, 1), named(2, 1), named(3, 1), named(4, 2)
			elsewhere.Sink = &desired.Sink{Name: "ci", Key: "elsewhere"}
			for i, r := range []*diff.TokenRecord{&elsewhere, &earlier, &newest, &other} {
				*r = adopted(*r, edge.TokenID(fmt.Sprint("id-", i)))
				must(t, l.Adopt(t.Context(), *r))
				r.State, r.Delivered = diff.TokenConfirmed, true
			}
			must(t, forget(l, newest))
			if earlier.Sink == nil || newest.Sink == nil {
				t.Fatal("the tokens have no sink to begin with")
			}
			earlier.Sink = nil
			wantTokens(t, l, elsewhere, earlier, other)
		})
	}
}

// TestQuarantineEnds: a lost creation that was found is a token like any other,
// and one that was looked for in vain may be begun anew.
func TestQuarantineEnds(t *testing.T) {
	l, ctx := ready(t), t.Context()
	found, lost := record(1), record(2)
	for _, r := range []diff.TokenRecord{found, lost} {
		must(t, l.Intend(ctx, r))
		must(t, l.Quarantine(ctx, r.Intent, "cut"))
	}
	wantFault(t, l.Quarantine(ctx, lost.Intent, "again"), ErrState, "is quarantined, not intended")
	must(t, l.Confirm(ctx, found.Intent, "id-1", secret(1)))
	wantSealed(t, l, found.Intent, secret(1))
	must(t, l.Delivered(ctx, found.Intent))
	must(t, l.NotCreated(ctx, lost.Intent))
	must(t, l.Intend(ctx, lost))
	found.State, found.ID, found.Delivered, found.Reason = diff.TokenConfirmed, "id-1", true, "cut"
	lost.State = diff.TokenIntended
	wantTokens(t, l, found, lost)
	wantFault(t, l.Resolve(ctx, found.Key, Resolution{How: ByAbandoning}), ErrState, "no attempt whose outcome is unknown")
}

// TestOneOpenAttempt: while the outcome of one is not known, there is no second
// one for the same declaration; a replacement of what is confirmed may begin.
func TestOneOpenAttempt(t *testing.T) {
	l, ctx := ready(t), t.Context()
	first, second := record(1), record(2)
	second.Key = first.Key
	must(t, l.Intend(ctx, first))
	wantFault(t, l.Intend(ctx, second), ErrState, `token "key-1" already has an attempt, 0000000000000001, which is intended`)
	must(t, l.Quarantine(ctx, first.Intent, "x"))
	wantFault(t, l.Intend(ctx, second), ErrState, "which is quarantined")
	wantFault(t, l.Adopt(ctx, adopted(second, "id-2")), ErrState, "which is quarantined")
	must(t, l.Resolve(ctx, first.Key, Resolution{How: ByAdopting, ID: "id-1"}))
	must(t, l.Intend(ctx, second))
	again := second
	again.Key = "another"
	wantFault(t, l.Intend(ctx, again), ErrState, "there is already an attempt 0000000000000002")
}

// TestWordsOfAPerson: adopting and resolving.
func TestWordsOfAPerson(t *testing.T) {
	l, ctx := ready(t), t.Context()
	r := record(1)
	must(t, l.Adopt(ctx, adopted(r, "id-1")))
	r = adopted(r, "id-1")
	r.State, r.Delivered = diff.TokenConfirmed, true
	wantTokens(t, l, r)
	wantFault(t, l.Adopt(ctx, adopted(record(2), "id-1")), ErrState, `the id id-1 is that of token "key-1"`)
	wantFault(t, l.Adopt(ctx, record(2)), ErrState, "id of the token is missing")
	wantFault(t, l.Resolve(ctx, r.Key, Resolution{How: ByRetrying}), ErrState, "no attempt whose outcome is unknown")
	for how, want := range map[How][]diff.TokenRecord{
		ByAbandoning: {r}, ByRetrying: {r},
		ByAdopting: {r, {Intent: "0000000000000002", State: diff.TokenConfirmed, ID: "id-2", Delivered: true, Reason: "cut"}},
	} {
		t.Run(string(how), func(t *testing.T) {
			two := record(2)
			must(t, l.Intend(ctx, two))
			wantFault(t, l.Resolve(ctx, two.Key, Resolution{How: how, ID: "id-2"}), ErrState, "no attempt whose outcome is unknown")
			must(t, l.Quarantine(ctx, two.Intent, "cut"))
			wantFault(t, l.Resolve(ctx, two.Key, Resolution{How: "guess"}), ErrState, `"guess" is not a way`)
			wantFault(t, l.Resolve(ctx, two.Key, Resolution{How: ByAdopting, ID: "id-1"}), ErrState, "is that of token")
			wantFault(t, l.Resolve(ctx, two.Key, Resolution{How: ByAdopting}), ErrState, "missing")
			must(t, l.Resolve(ctx, two.Key, Resolution{How: how, ID: "id-2"}))
			got, err := l.Tokens(ctx)
			must(t, err)
			ignore := cmpopts.IgnoreFields(diff.TokenRecord{}, "Key", "Spec", "Hash", "Sink", "At")
			if d := cmp.Diff(want, got.Records, ignore); d != "" {
				t.Errorf("tokens (-want +got):\n%s", d)
			}
			_, err = l.file.DB.Exec(`DELETE FROM token WHERE key = ?`, two.Key)
			must(t, err)
		})
	}
}

// TestRecordingOutlivesTheContext: what has happened is recorded though whoever
// asked for it has gone; what has not begun does not begin.
func TestRecordingOutlivesTheContext(t *testing.T) {
	l := ready(t)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Intend(over, record(1)); err == nil {
		t.Error("an attempt began after the end")
	}
	for i, do := range []func(intent string) error{
		func(i string) error { return l.NotCreated(over, i) },
		func(i string) error { return l.Quarantine(over, i, "x") },
		func(i string) error {
			return errors.Join(l.Confirm(over, i, "id", secret(1)), l.Delivered(over, i),
				l.Amend(over, i, record(1).Spec, "x"), l.Gone(over, i))
		},
	} {
		r := record(i + 1)
		must(t, l.Intend(t.Context(), r))
		must(t, do(r.Intent))
	}
}

// TestMalformed: what could not be told apart later is not recorded at all.
func TestMalformed(t *testing.T) {
	l, ctx := ready(t), t.Context()
	for _, intent := range []string{"", "1", "000000000000000G", "0000000000000001\n"} {
		r := record(1)
		r.Intent = intent
		wantFault(t, l.Intend(ctx, r), ErrState, "16 hexadecimal digits")
	}
	must(t, l.Intend(ctx, record(1)))
	wantFault(t, l.Confirm(ctx, record(1).Intent, "", secret(1)), ErrState, "without an id and a secret")
	wantFault(t, l.Confirm(ctx, record(1).Intent, "id", edge.Secret{}), ErrState, "without an id and a secret")
	r := record(1)
	r.State = diff.TokenIntended
	wantTokens(t, l, r)
}

var binding = Binding{Platform: "https://api.example/client/v4", Repository: "https://git.example/edge.git"}

// ready is a ledger that may create tokens.
func ready(t testing.TB) *Ledger {
	t.Helper()
	path := newPath(t)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, empty(), 0o600))
	l := mustOpen(t, path)
	l.Binding = binding
	mustLock(t, l)
	must(t, l.Init(t.Context(), binding))
	return l
}

// empty is the file of a ledger that was created and never written to, which is made once:
// its tables take as much CPU time as many writes.
var empty = sync.OnceValue(func() []byte {
	folder, err := os.MkdirTemp("", "ledger")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "ledger.db")
	if err := store.Create(path); err != nil {
		panic(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return file
})

func mustLock(t testing.TB, l *Ledger) {
	t.Helper()
	must(t, l.LockTokens())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func record(n int) diff.TokenRecord {
	return diff.TokenRecord{
		Intent: fmt.Sprintf("%016x", n), Key: fmt.Sprintf("key-%d", n), Hash: fmt.Sprintf("hash-%d", n),
		Spec: edge.TokenSpec{
			Name: fmt.Sprintf("name <&> %d", n),
			Policies: []edge.Policy{{
				Effect:           edge.Allow,
				Resources:        map[string]edge.Breadth{edge.ResourceAllZones: {}, edge.ResourceAccount + "a": {AllZones: true}},
				PermissionGroups: []edge.PermissionGroup{{ID: "g", Name: "Group"}},
			}},
			ExpiresOn: "2027-01-01T00:00:00Z", Condition: &edge.Condition{RequestIP: &edge.AddressFilter{In: []string{"192.0.2.0/24"}}},
		},
		Sink: &desired.Sink{Name: "ci", Key: "a/b"}, At: time.Date(2026, 3, 1, 12, 0, n%60, 0, time.UTC),
	}
}

func adopted(r diff.TokenRecord, id edge.TokenID) diff.TokenRecord {
	r.ID = id
	return r
}

// secret is long and has no text that a file could hold by chance.
func secret(n int) edge.Secret {
	return edge.NewSecret(strings.Repeat(fmt.Sprintf("s3cr3t-%d.", n), 4))
}

func wantTokens(t testing.TB, l *Ledger, want ...diff.TokenRecord) {
	t.Helper()
	got, err := l.Tokens(t.Context())
	must(t, err)
	if d := cmp.Diff(diff.TokensLive{Records: want}, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("tokens (-want +got):\n%s", d)
	}
}

func wantUnknown(t testing.TB, l *Ledger, reason string) {
	t.Helper()
	got, err := l.Tokens(t.Context())
	must(t, err)
	if !strings.Contains(got.Unknown, reason) {
		t.Errorf("unknown: %q, want one with %q", got.Unknown, reason)
	}
	if got.Unknown == tokens.OtherPlatform {
		if got.Hint != tokens.OtherPlatformHint { // init would refuse
			t.Errorf("hint: %q", got.Hint)
		}
		return
	}
	if !strings.Contains(got.Hint, "seawall token init") || !strings.Contains(got.Hint, "seawall token adopt KEY ID") {
		t.Errorf("hint: %q", got.Hint)
	}
}

func wantSealed(t testing.TB, l *Ledger, intent string, want edge.Secret) {
	t.Helper()
	got, err := l.Sealed(t.Context(), intent)
	must(t, err)
	if !got.Equal(want) {
		t.Errorf("another secret came out of attempt %s", intent)
	}
}

// The rotation that made a token is on record until something else decides on its end.
func TestRotationIsOnRecord(t *testing.T) {
	for name, c := range map[string]struct {
		hash, end string
		stays     bool
	}{
		"as it was": {"other", "2026-02-02T00:00:00Z", true}, "its end was not known": {"hash", "2026-03-01T00:00:00Z", true},
		"another end is declared": {"other", "2026-03-01T00:00:00Z", false}, "no end any more": {"hash", "", false},
	} {
		l, ctx := ready(t), t.Context()
		r := record(1)
		r.Spec.ExpiresOn, r.Hash, r.Lifetime, r.Every = "2026-02-02T00:00:00Z", "hash", 768*time.Hour, 720*time.Hour
		must(t, l.Intend(ctx, r))
		must(t, l.Confirm(ctx, r.Intent, "id-1", secret(1)))
		r.State, r.ID = diff.TokenConfirmed, "id-1"
		wantTokens(t, l, r)
		r.Spec.ExpiresOn, r.Hash = c.end, c.hash
		must(t, l.Amend(ctx, r.Intent, r.Spec, r.Hash))
		if !c.stays {
			r.Lifetime, r.Every = 0, 0
		}
		t.Log(name)
		wantTokens(t, l, r)
	}
}
