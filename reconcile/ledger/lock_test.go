package ledger

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/integration/soak"
	"github.com/seawall-dev/seawall/reconcile"
)

// TestLock: one at a time, told by name, and again free afterwards.
func TestLock(t *testing.T) {
	l := ready(t)
	mustLock(t, l) // has it already
	other := mustOpen(t, l.file.Path)
	other.Binding = binding
	err := other.LockTokens(t.Context())
	wantFault(t, err, ErrHeld, fmt.Sprintf("process %d on ", os.Getpid()))
	wantTokens(t, other) // reading is free
	wantUnlocked(t, other)
	must(t, l.Close())
	mustLock(t, other)
	must(t, other.Intend(t.Context(), record(1)))
}

// wantUnlocked: every method that writes tokens is refused, and changes nothing.
func wantUnlocked(t *testing.T, l *Ledger) {
	t.Helper()
	for _, err := range tokenWrites(t, l) {
		wantFault(t, err, ErrUnlocked, "")
	}
}

func tokenWrites(t *testing.T, l *Ledger) []error {
	ctx, r := t.Context(), record(1)
	return []error{
		l.Init(ctx, binding), l.Intend(ctx, r), l.NotCreated(ctx, r.Intent), l.Quarantine(ctx, r.Intent, ""),
		l.Confirm(ctx, r.Intent, "id", secret(1)), l.Delivered(ctx, r.Intent), l.Adopt(ctx, adopted(r, "id")),
		l.Resolve(ctx, r.Key, Resolution{How: ByRetrying}), l.Revoked(ctx, "id"),
		l.Amend(ctx, r.Intent, r.Spec, ""), l.Prunable(ctx, []string{r.Intent}, true), l.Gone(ctx, r.Intent),
	}
}

// TestTokensReadOnly: a plan reads beside the daemon and writes nothing.
func TestTokensReadOnly(t *testing.T) {
	l := ready(t)
	must(t, l.Intend(t.Context(), record(1)))
	reader := mustRead(t, l.file.Path)
	reader.Binding = binding
	r := record(1)
	r.State = diff.TokenIntended
	wantTokens(t, reader, r)
	for _, err := range append(tokenWrites(t, reader), reader.LockTokens(t.Context())) {
		wantFault(t, err, ErrReadOnly, "")
	}
}

// TestTokensAtOnce: many attempts at once in one process, other memories and
// readers beside them. Nothing is lost, and no reader ever doubts.
func TestTokensAtOnce(t *testing.T) {
	l, ctx := ready(t), t.Context()
	var writers, readers sync.WaitGroup
	tokens := 10
	if soak.On {
		tokens = 20
	}
	for n := range tokens {
		writers.Go(func() {
			r := record(n)
			err := errors.Join(l.Intend(ctx, r), l.Confirm(ctx, r.Intent, "id", secret(n)), l.Prove(ctx, "c", nil, settled(deployment(n), "a")))
			if _, open := l.Sealed(ctx, r.Intent); open != nil {
				err = errors.Join(err, open)
			}
			if err := errors.Join(err, l.Delivered(ctx, r.Intent)); err != nil {
				t.Error(err)
			}
		})
	}
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					watch(t, l.file.Path)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	live, err := l.Tokens(ctx)
	must(t, err)
	if len(live.Records) != tokens || live.Unknown != "" {
		t.Errorf("%d tokens, %q", len(live.Records), live.Unknown)
	}
	for _, r := range live.Records {
		if r.State != diff.TokenConfirmed || !r.Delivered {
			t.Errorf("token %s is %s", r.Key, r.State)
		}
	}
}

func watch(t *testing.T, path string) {
	reader, err := OpenReadOnly(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer reader.Close()
	reader.Binding = binding
	var memory reconcile.TokenMemory = reader
	if live, err := memory.Tokens(t.Context()); err != nil || live.Unknown != "" {
		t.Errorf("%q, %v", live.Unknown, err)
	}
}
