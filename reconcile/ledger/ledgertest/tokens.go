package ledgertest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// testTokens is about [reconcile.TokenMemory].
func testTokens(t *testing.T, open func(t *testing.T) Fixture) {
	for name, test := range map[string]func(*testing.T, *tokens){
		"life": testLife, "after its life": testAfterLife, "quarantine": testQuarantine, "refusals": testRefusals,
		"places": testPlaces,
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t)
			if f.Tokens == nil {
				t.Skip("the store keeps no tokens")
			}
			test(t, &tokens{t: t, f: f})
		})
	}
}

// tokens looks at a store after each step, and where it can be reopened, afterwards.
type tokens struct {
	t *testing.T
	f Fixture
}

func (k *tokens) do(err error, want ...diff.TokenRecord) {
	k.t.Helper()
	must(k.t, err)
	k.want(want...)
	if k.f.Reopen != nil {
		k.f = k.f.Reopen(k.t)
		k.want(want...)
	}
}

func (k *tokens) refused(err error, want ...diff.TokenRecord) {
	k.t.Helper()
	if err == nil {
		k.t.Error("the call was not refused")
	}
	k.want(want...)
}

func (k *tokens) want(want ...diff.TokenRecord) {
	k.t.Helper()
	live, err := k.f.Tokens.Tokens(k.t.Context())
	must(k.t, err)
	if live.Unknown != "" {
		k.t.Errorf("unknown: %s", live.Unknown)
	}
	same(k.t, "tokens", want, live.Records)
}

func (k *tokens) wantSecret(intent string, want edge.Secret) {
	k.t.Helper()
	got, err := k.f.Tokens.Sealed(k.t.Context(), intent)
	if waits := !want.IsZero(); waits != (err == nil) || waits && !got.Equal(want) {
		k.t.Errorf("a secret waits: %v; %v", waits, err)
	}
}

func record(n int) diff.TokenRecord {
	return diff.TokenRecord{
		Intent: fmt.Sprintf("%016x", n), Key: fmt.Sprint("token-", n), Hash: fmt.Sprint("hash-", n), At: noon,
		Spec:     edge.TokenSpec{Name: fmt.Sprint("token ", n, " ü<&>\"")},
		Lifetime: 32 * 24 * time.Hour, Every: 30 * 24 * time.Hour,
		Sink: &desired.Sink{Name: "ci", Key: "key"},
	}
}

func in(r diff.TokenRecord, state diff.TokenState) diff.TokenRecord {
	r.State = state
	return r
}

func testLife(t *testing.T, k *tokens) {
	ctx, r, secret := t.Context(), record(1), edge.NewSecret("s3cr3t")
	k.want()
	k.do(k.f.Tokens.Intend(ctx, r), in(r, diff.TokenIntended))
	k.wantSecret(r.Intent, edge.Secret{})
	r.ID = "id-1"
	k.do(k.f.Tokens.Confirm(ctx, r.Intent, r.ID, secret), in(r, diff.TokenConfirmed))
	k.wantSecret(r.Intent, secret)
	k.wantSecret(r.Intent, secret) // as often as the sink needs
	r.Delivered = true
	k.do(k.f.Tokens.Delivered(ctx, r.Intent), in(r, diff.TokenConfirmed))
	k.wantSecret(r.Intent, edge.Secret{})

	next := record(2)                                                      // of the same declaration; attempts are in the order in which they began
	next.Key, next.Sink, next.Prune, next.Owner = r.Key, nil, true, "5ee1" // of another owner than the one before it
	k.do(k.f.Tokens.Intend(ctx, next), in(r, diff.TokenConfirmed), in(next, diff.TokenIntended))
	k.do(k.f.Tokens.NotCreated(ctx, next.Intent), in(r, diff.TokenConfirmed))
	k.do(k.f.Tokens.Intend(ctx, next), in(r, diff.TokenConfirmed), in(next, diff.TokenIntended))
}

// testAfterLife: updated in place, released for deletion, and gone with a secret that
// still waited.
func testAfterLife(t *testing.T, k *tokens) {
	ctx, r, other := t.Context(), record(1), record(2)
	r.ID = "id-1"
	must(t, k.f.Tokens.Intend(ctx, r))
	must(t, k.f.Tokens.Confirm(ctx, r.Intent, r.ID, edge.NewSecret("s")))
	must(t, k.f.Tokens.Intend(ctx, other))
	r, other = in(r, diff.TokenConfirmed), in(other, diff.TokenIntended)
	r.Spec, r.Hash = record(3).Spec, "amended"
	k.do(k.f.Tokens.Amend(ctx, r.Intent, r.Spec, r.Hash), r, other)
	k.wantSecret(r.Intent, edge.NewSecret("s")) // an update leaves it as it is
	both := []string{other.Intent, r.Intent}
	k.refused(k.f.Tokens.Prunable(ctx, append(both, "0000000000000009"), true), r, other) // of none
	r.Prune, other.Prune = true, true
	k.do(k.f.Tokens.Prunable(ctx, both, true), r, other)
	r.Prune = false
	k.do(k.f.Tokens.Prunable(ctx, []string{r.Intent}, false), r, other)
	k.do(k.f.Tokens.Prunable(ctx, nil, true), r, other)
	k.do(k.f.Tokens.Gone(ctx, r.Intent), other)
	k.wantSecret(r.Intent, edge.Secret{})
}

// testQuarantine: what was in doubt can be found, and looked for in vain.
func testQuarantine(t *testing.T, k *tokens) {
	ctx, found, lost := t.Context(), record(1), record(2)
	must(t, errors.Join(k.f.Tokens.Intend(ctx, found), k.f.Tokens.Intend(ctx, lost)))
	found.Reason, lost.Reason = "the answer was cut", "the process ended"
	k.do(k.f.Tokens.Quarantine(ctx, found.Intent, found.Reason), in(found, diff.TokenQuarantined), in(record(2), diff.TokenIntended))
	k.do(k.f.Tokens.Quarantine(ctx, lost.Intent, lost.Reason), in(found, diff.TokenQuarantined), in(lost, diff.TokenQuarantined))
	k.refused(k.f.Tokens.Quarantine(ctx, lost.Intent, "again"), in(found, diff.TokenQuarantined), in(lost, diff.TokenQuarantined))
	again := record(3)
	again.Key = found.Key
	k.refused(k.f.Tokens.Intend(ctx, again), in(found, diff.TokenQuarantined), in(lost, diff.TokenQuarantined))
	found.ID = "id-1"
	k.do(k.f.Tokens.Confirm(ctx, found.Intent, "id-1", edge.NewSecret("s")), in(found, diff.TokenConfirmed), in(lost, diff.TokenQuarantined))
	k.wantSecret(found.Intent, edge.NewSecret("s"))
	k.do(k.f.Tokens.NotCreated(ctx, lost.Intent), in(found, diff.TokenConfirmed))
}

// testRefusals: what does not follow is refused and changes nothing.
func testRefusals(t *testing.T, k *tokens) {
	ctx, open, done := t.Context(), record(1), record(2)
	must(t, errors.Join(k.f.Tokens.Intend(ctx, open), k.f.Tokens.Intend(ctx, done),
		k.f.Tokens.Confirm(ctx, done.Intent, "id-2", edge.NewSecret("s")), k.f.Tokens.Delivered(ctx, done.Intent)))
	done.ID, done.Delivered = "id-2", true
	sameIntent, sameKey, otherOwner := record(3), record(4), record(5)
	sameIntent.Intent, sameKey.Key = done.Intent, open.Key
	otherOwner.Key, otherOwner.Owner = open.Key, "5ee1" // the one in doubt may be the token that is meant
	const unknown = "00000000000000ff"
	for name, call := range map[string]func(reconcile.TokenMemory) error{
		"intend twice":             func(m reconcile.TokenMemory) error { return m.Intend(ctx, sameIntent) },
		"intend beside another":    func(m reconcile.TokenMemory) error { return m.Intend(ctx, sameKey) },
		"intend for another owner": func(m reconcile.TokenMemory) error { return m.Intend(ctx, otherOwner) },
		"confirm without id":       func(m reconcile.TokenMemory) error { return m.Confirm(ctx, open.Intent, "", edge.NewSecret("s")) },
		"confirm without secret": func(m reconcile.TokenMemory) error {
			return m.Confirm(ctx, open.Intent, "id", edge.Secret{})
		},
		"confirm twice":          func(m reconcile.TokenMemory) error { return m.Confirm(ctx, done.Intent, "id", edge.NewSecret("s")) },
		"confirm the unknown":    func(m reconcile.TokenMemory) error { return m.Confirm(ctx, unknown, "id", edge.NewSecret("s")) },
		"deliver too early":      func(m reconcile.TokenMemory) error { return m.Delivered(ctx, open.Intent) },
		"deliver twice":          func(m reconcile.TokenMemory) error { return m.Delivered(ctx, done.Intent) },
		"deny what exists":       func(m reconcile.TokenMemory) error { return m.NotCreated(ctx, done.Intent) },
		"deny the unknown":       func(m reconcile.TokenMemory) error { return m.NotCreated(ctx, unknown) },
		"quarantine what exists": func(m reconcile.TokenMemory) error { return m.Quarantine(ctx, done.Intent, "") },
		"amend too early":        func(m reconcile.TokenMemory) error { return m.Amend(ctx, open.Intent, open.Spec, "") },
		"gone too early":         func(m reconcile.TokenMemory) error { return m.Gone(ctx, open.Intent) },
		"gone and unknown":       func(m reconcile.TokenMemory) error { return m.Gone(ctx, unknown) },
	} {
		t.Run(name, func(t *testing.T) {
			here := tokens{t: t, f: k.f}
			here.refused(call(k.f.Tokens), in(open, diff.TokenIntended), in(done, diff.TokenConfirmed))
		})
	}
}

// testPlaces: where the newest token is gone, an earlier one is not where it was delivered
// to any more.
func testPlaces(t *testing.T, k *tokens) {
	ctx := t.Context()
	elsewhere, earlier, newest := record(1), record(2), record(3)
	elsewhere.Sink = &desired.Sink{Name: "ci", Key: "elsewhere"}
	for i, r := range []*diff.TokenRecord{&elsewhere, &earlier, &newest} {
		r.ID = edge.TokenID(fmt.Sprint("id-", i))
		must(t, errors.Join(k.f.Tokens.Intend(ctx, *r), k.f.Tokens.Confirm(ctx, r.Intent, r.ID, edge.NewSecret("s")), k.f.Tokens.Delivered(ctx, r.Intent)))
		r.State, r.Delivered = diff.TokenConfirmed, true
	}
	k.want(elsewhere, earlier, newest)
	earlier.Sink = nil
	k.do(k.f.Tokens.Gone(ctx, newest.Intent), elsewhere, earlier)
}
