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

// TestForgottenTokenLeavesItsPlaceEmpty: where the newest token is revoked, an earlier one is
// not where it was delivered to any more.
func TestForgottenTokenLeavesItsPlaceEmpty(t *testing.T) {
	l := ready(t)
	elsewhere, earlier, newest, other := named(1, 1), named(2, 1), named(3, 1), named(4, 2)
	elsewhere.Sink = &desired.Sink{Name: "ci", Key: "elsewhere"}
	for i, r := range []*diff.TokenRecord{&elsewhere, &earlier, &newest, &other} {
		*r = adopted(*r, edge.TokenID(fmt.Sprint("id-", i)))
		must(t, l.Adopt(t.Context(), *r))
		r.State, r.Delivered = diff.TokenConfirmed, true
	}
	must(t, l.Revoked(t.Context(), newest.ID))
	if earlier.Sink == nil || newest.Sink == nil {
		t.Fatal("the tokens have no sink to begin with")
	}
	earlier.Sink = nil
	wantTokens(t, l, elsewhere, earlier, other)
}

// TestRefusalsSayWhy: what does not follow is refused, and the reason says what is on record.
func TestRefusalsSayWhy(t *testing.T) {
	l, ctx := ready(t), t.Context()
	open, lost, done := record(1), record(2), record(3)
	must(t, errors.Join(l.Intend(ctx, open), l.Intend(ctx, lost), l.Quarantine(ctx, lost.Intent, "cut"),
		l.Intend(ctx, done), l.Confirm(ctx, done.Intent, "id-3", secret(3))))
	const unknown = "0000000000000009"
	_, unsealed := l.Sealed(ctx, open.Intent)
	for _, refused := range []struct {
		err    error
		reason string
	}{
		{l.Amend(ctx, open.Intent, open.Spec, ""), "is intended, not confirmed"},
		{l.Gone(ctx, open.Intent), "is intended, not confirmed"},
		{l.Gone(ctx, unknown), "there is no attempt " + unknown},
		{l.Confirm(ctx, done.Intent, "id-3", secret(3)), "is confirmed, not intended or quarantined"},
		{l.Confirm(ctx, open.Intent, "", secret(1)), "without an id and a secret"},
		{l.Confirm(ctx, open.Intent, "id", edge.Secret{}), "without an id and a secret"},
		{l.NotCreated(ctx, done.Intent), "is confirmed, not intended or quarantined"},
		{l.Quarantine(ctx, lost.Intent, "again"), "is quarantined, not intended"},
		{l.Prunable(ctx, []string{done.Intent, unknown}, true), "there is no attempt " + unknown},
		{l.Intend(ctx, named(4, 1)), `token "key-1" already has an attempt, 0000000000000001, which is intended`},
		{l.Intend(ctx, named(4, 2)), "which is quarantined"},
		{l.Intend(ctx, named(3, 4)), "there is already an attempt 0000000000000003"},
		{l.Adopt(ctx, adopted(named(4, 2), "id-2")), "which is quarantined"},
		{l.Resolve(ctx, done.Key, Resolution{How: ByAbandoning}), "no attempt whose outcome is unknown"},
		{unsealed, "no waiting secret"},
	} {
		wantFault(t, refused.err, ErrState, refused.reason)
	}
	for _, intent := range []string{"", "1", "000000000000000G", "0000000000000001\n"} {
		malformed := record(5)
		malformed.Intent = intent
		wantFault(t, l.Intend(ctx, malformed), ErrState, "16 hexadecimal digits")
	}
	open.State, lost.State, done.State = diff.TokenIntended, diff.TokenQuarantined, diff.TokenConfirmed
	lost.Reason, done.ID = "cut", "id-3"
	wantTokens(t, l, open, lost, done)
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
			mustExec(t, l, `DELETE FROM token WHERE key = ?`, two.Key)
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
	must(t, l.LockTokens(t.Context()))
}

func must(t interface {
	Helper()
	Fatal(args ...any)
}, err error,
) {
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

// That nothing declares a token, or that something does again, changes nothing of it that the history has.
func TestUndeclaredIsNoUpdate(t *testing.T) {
	l, ctx := ready(t), t.Context()
	r := record(1)
	must(t, l.Intend(ctx, r))
	must(t, l.Confirm(ctx, r.Intent, "id-1", secret(1)))
	newest := func() int64 {
		standing, err := l.Standing(ctx)
		must(t, err)
		return standing.Newest
	}
	before := newest()
	for _, hash := range []string{diff.Undeclared(r.Hash), r.Hash} {
		must(t, l.Amend(ctx, r.Intent, r.Spec, hash))
		live, err := l.Tokens(ctx)
		must(t, err)
		if live.Records[0].Hash != hash || newest() != before {
			t.Errorf("on record is %q, and entry %d, want %q and %d", live.Records[0].Hash, newest(), hash, before)
		}
	}
	must(t, l.Amend(ctx, r.Intent, r.Spec, "another"))
	if newest() == before {
		t.Error("an update has no entry")
	}
}
