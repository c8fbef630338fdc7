package tokens

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// states are those from which an attempt may be taken further.
type states []diff.TokenState

// unproved are the states of an attempt of which nobody knows yet whether its
// token exists.
var unproved = states{diff.TokenIntended, diff.TokenQuarantined}

func (s states) String() string {
	words := make([]string, len(s))
	for i, state := range s {
		words[i] = string(state)
	}
	return strings.Join(words, " or ")
}

// advance changes an attempt that is in one of the states it must be in, and hands over what
// is on record of it. It is done even where ctx has ended: it records what has happened
// already.
func (t *Memory) advance(ctx context.Context, intent string, from states, do func(context.Context, *sql.Tx, diff.TokenRecord) error) error {
	ctx = context.WithoutCancel(ctx)
	return t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) error {
		record, err := tokenRow(ctx, tx, `intent = $1`, intent, noAttempt(intent))
		if err != nil {
			return err
		}
		if !slices.Contains(from, record.State) {
			return store.Fault(store.ErrState, fmt.Sprintf("attempt %s is %s, not %s", intent, record.State, from))
		}
		return do(ctx, tx, record)
	})
}
func noAttempt(intent string) string { return "there is no attempt " + intent }

// mayWrite refuses whoever has not locked the tokens.
func (t *Memory) mayWrite(ctx context.Context) error {
	switch {
	case t.file.ReadOnly:
		return store.Explain("writing", t.file.Path, store.Fault(store.ErrReadOnly, ""))
	case !t.locked(ctx):
		return store.Explain("writing", t.file.Path, store.Fault(store.ErrUnlocked, ""))
	}
	return nil
}

func (t *Memory) writeTokens(ctx context.Context, do store.Change) error {
	if err := t.mayWrite(ctx); err != nil {
		return err
	}
	ctx, err := t.under(ctx)
	if err != nil {
		return store.Explain("writing", t.file.Path, err)
	}
	return t.file.Write(ctx, do)
}

// writeCounted is writeTokens of a change that counts as an attempt does, where do reports
// that it does; see [Memory.Init]. A ledger that is in doubt stays so, and the change is made
// all the same.
func (t *Memory) writeCounted(ctx context.Context, do func(context.Context, *sql.Tx) (counts bool, err error)) error {
	if err := t.mayWrite(ctx); err != nil {
		return err
	}
	t.growing.Lock()
	defer t.growing.Unlock()
	doubt := t.certain(ctx)
	if doubt != nil && !errors.Is(doubt, store.ErrUnknown) {
		return store.Explain("reading", t.file.Path, doubt)
	}
	counts := false
	err := t.writeTokens(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		if counts, err = do(ctx, tx); err != nil || !counts || doubt != nil {
			return err
		}
		return grow(ctx, tx)
	})
	if err != nil || !counts || doubt != nil {
		return err
	}
	return store.Explain("writing", store.MarkPath(t.file.Path), t.putMark(context.WithoutCancel(ctx)))
}

// wipe overwrites what the log still has of a sealed secret, once a change that takes one
// away has ended with err; also where a context has ended.
func (t *Memory) wipe(err error) error {
	if err != nil {
		return err
	}
	return store.Explain("writing", t.file.Path, t.file.Wipe())
}
