package ledger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// op is one call of a method about tokens, for the ledger and for the model.
type op struct {
	what        string
	intent, key int // numbers; see named
	secret      int
}

var whats = []string{
	"intend", "not created", "quarantine", "confirm", "delivered", "adopt", "adopt by resolving", "abandon", "retry", "revoked",
	"amend", "allow pruning", "forbid pruning", "gone",
}

func (o op) String() string { return fmt.Sprintf("%s %d %d", o.what, o.intent, o.key) }

func named(intent, key int) diff.TokenRecord {
	r := record(key)
	r.Intent = record(intent).Intent
	return r
}

// amended is another form of a token: for [Ledger.Amend] by the number of the
// operation.
func (o op) amended() (edge.TokenSpec, string) {
	r := record(100 + o.secret)
	return r.Spec, r.Hash
}

func (o op) id() edge.TokenID { return edge.TokenID(fmt.Sprintf("id-%d", o.intent)) }

func (o op) do(ctx context.Context, l *Ledger) error {
	r := named(o.intent, o.key)
	switch o.what {
	case "intend":
		return l.Intend(ctx, r)
	case "not created":
		return l.NotCreated(ctx, r.Intent)
	case "quarantine":
		return l.Quarantine(ctx, r.Intent, "lost")
	case "confirm":
		return l.Confirm(ctx, r.Intent, o.id(), secret(o.secret))
	case "delivered":
		return l.Delivered(ctx, r.Intent)
	case "adopt":
		return l.Adopt(ctx, adopted(r, o.id()))
	case "adopt by resolving":
		return l.Resolve(ctx, r.Key, Resolution{How: ByAdopting, ID: o.id()})
	case "abandon":
		return l.Resolve(ctx, r.Key, Resolution{How: ByAbandoning})
	case "revoked":
		return l.Revoked(ctx, o.id())
	case "amend":
		spec, hash := o.amended()
		return l.Amend(ctx, r.Intent, spec, hash)
	case "allow pruning", "forbid pruning":
		return l.Prunable(ctx, []string{r.Intent}, o.what == "allow pruning")
	case "gone":
		return l.Gone(ctx, r.Intent)
	default:
		return l.Resolve(ctx, r.Key, Resolution{How: ByRetrying})
	}
}

// model is the naive memory that the ledger is held to: a list.
type model struct {
	records []diff.TokenRecord
	sealed  map[string]int // by intent
}

func (m model) find(fits func(diff.TokenRecord) bool) int { return slices.IndexFunc(m.records, fits) }

// do returns the model afterwards, or that the call must be refused.
func (m model) do(o op) (model, bool) {
	after := model{slices.Clone(m.records), map[string]int{}}
	for intent, s := range m.sealed {
		after.sealed[intent] = s
	}
	r := named(o.intent, o.key)
	at := m.find(func(x diff.TokenRecord) bool { return x.Intent == r.Intent })
	open := m.find(func(x diff.TokenRecord) bool { return x.Key == r.Key && x.State != diff.TokenConfirmed })
	known := m.find(func(x diff.TokenRecord) bool { return x.ID == o.id() }) >= 0
	in := func(i int, state diff.TokenState) bool { return i >= 0 && m.records[i].State == state }
	unproved := in(at, diff.TokenIntended) || in(at, diff.TokenQuarantined)
	drop := func(i int) { after.records = slices.Delete(after.records, i, i+1) }
	forget := func(i int) {
		for j := range i {
			if x := &after.records[j]; x.Delivered && x.Sink != nil && m.records[i].Sink != nil {
				x.Sink = nil // all have one sink here
			}
		}
		delete(after.sealed, m.records[i].Intent)
		drop(i)
	}
	switch {
	case o.what == "intend" && at < 0 && open < 0:
		r.State = diff.TokenIntended
		after.records = append(after.records, r)
	case o.what == "adopt" && at < 0 && open < 0 && !known:
		r.State, r.ID, r.Delivered = diff.TokenConfirmed, o.id(), true
		after.records = append(after.records, r)
	case o.what == "not created" && unproved:
		drop(at)
	case o.what == "quarantine" && in(at, diff.TokenIntended):
		after.records[at].State, after.records[at].Reason = diff.TokenQuarantined, "lost"
	case o.what == "confirm" && unproved:
		after.records[at].State, after.records[at].ID, after.sealed[r.Intent] = diff.TokenConfirmed, o.id(), o.secret
	case o.what == "delivered" && in(at, diff.TokenConfirmed) && !m.records[at].Delivered:
		after.records[at].Delivered = true
		delete(after.sealed, r.Intent)
	case o.what == "adopt by resolving" && in(open, diff.TokenQuarantined) && !known:
		after.records[open].State, after.records[open].ID, after.records[open].Delivered = diff.TokenConfirmed, o.id(), true
	case o.what == "revoked" && known:
		for i, x := range slices.Backward(m.records) {
			if x.ID == o.id() {
				forget(i)
			}
		}
	case o.what == "amend" && in(at, diff.TokenConfirmed):
		after.records[at].Spec, after.records[at].Hash = o.amended()
	case (o.what == "allow pruning" || o.what == "forbid pruning") && at >= 0:
		after.records[at].Prune = o.what == "allow pruning"
	case o.what == "gone" && in(at, diff.TokenConfirmed):
		forget(at)
	case (o.what == "abandon" || o.what == "retry") && in(open, diff.TokenQuarantined):
		drop(open)
	default:
		return m, false
	}
	return after, true
}

// holds says how a ledger differs from the model; empty where it does not.
func (m model) holds(ctx context.Context, l *Ledger) string {
	live, err := l.Tokens(ctx)
	if err != nil {
		return err.Error()
	}
	if d := cmp.Diff(m.records, live.Records, cmpopts.EquateEmpty()); d != "" {
		return d
	}
	for _, r := range m.records {
		got, err := l.Sealed(ctx, r.Intent)
		want, waits := m.sealed[r.Intent]
		if waits != (err == nil) || waits && !got.Equal(secret(want)) {
			return fmt.Sprintf("attempt %s: a secret waits: %v; %v", r.Intent, waits, err)
		}
	}
	return ""
}

func drawOp(t *rapid.T, n int) op {
	return op{
		what: rapid.SampledFrom(whats).Draw(t, "what"), secret: n,
		intent: rapid.IntRange(1, 4).Draw(t, "intent"), key: rapid.IntRange(1, 2).Draw(t, "key"),
	}
}

// TestTokenLaws holds the ledger to the model after any calls: what the model
// refuses is refused and changes nothing. And it cuts the log of the ledger
// anywhere: what is left is what the model was at some step.
func TestTokenLaws(t *testing.T) {
	t.Parallel()
	outer, refused, done, earlier := t, 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		l, ctx := ready(outer), outer.Context()
		history := []model{{}}
		for n := range rapid.IntRange(1, 20).Draw(t, "steps") {
			o := drawOp(t, n)
			after, may := history[len(history)-1].do(o)
			err := o.do(ctx, l)
			switch {
			case may != (err == nil):
				t.Fatalf("%v: may %v, %v", o, may, err)
			case !may:
				refused++
				wantFault(outer, err, ErrState, "")
			default:
				done++
				history = append(history, after)
			}
			if d := after.holds(ctx, l); d != "" {
				t.Fatalf("after %v: %s", o, d)
			}
		}
		if cutAnywhere(outer, t, l, history) < len(history)-1 {
			earlier++
		}
		must(outer, l.Close())
	})
	if refused < 20 || done < 5 || earlier == 0 {
		t.Errorf("%d calls refused, %d done, %d cuts that lost something: the test sees too little", refused, done, earlier)
	}
}

// cutAnywhere copies the files of a ledger that is open, with a part of the log,
// and returns which step of its history they show.
func cutAnywhere(outer *testing.T, t *rapid.T, l *Ledger, history []model) int {
	folder := outer.TempDir()
	for name, text := range snapshot(outer, filepath.Dir(l.file.Path)) {
		if filepath.Ext(name) == ".db-wal" {
			text = text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
		}
		must(outer, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	cut, err := Open(filepath.Join(folder, "ledger.db"))
	must(outer, err)
	defer func() { must(outer, cut.Close()) }()
	cut.Binding = binding
	must(outer, cut.LockTokens(t.Context())) // else another process may be about to write, and is waited for
	for i, m := range slices.Backward(history) {
		if m.holds(outer.Context(), cut) == "" {
			return i
		}
	}
	t.Fatal("the rest of the ledger is no step of its history")
	return 0
}
