package token

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// A creation goes through these steps, each on record before the next one begins:
//
//	admitted   by the budget; nothing is on record yet, and nothing was sent
//	intend     the attempt is durable, and nothing was sent
//	create     POST, once
//	confirm    id and sealed secret, in one transaction
//	deliver    the secret reaches its sink, and is read back where it can be
//	delivered  the sealed copy is destroyed
//
// Wherever a crash falls, what is on record says which of these may have
// happened. Between intend and confirm no one can know: such an attempt is
// quarantined and never sent again. A person says what became of it, or a platform
// that lists its tokens does (lost.go).

// create makes one attempt, from intent to delivery. Once something was sent it is
// finished even when the work is told to stop.
func (w *Worker) create(stopped context.Context, c diff.Change, creation diff.Creation) reconcile.Result {
	ctx, sending, cancel := reconcile.UntilSent(stopped)
	defer cancel()
	intent := NewIntent()
	record := diff.TokenRecord{
		Intent: intent, Key: c.Token, Owner: creation.Owner, State: diff.TokenIntended, Spec: creation.Body(intent, w.Now()), Hash: creation.Hash,
		Sink: creation.Sink, Prune: creation.Prune, Lifetime: creation.Lifetime, Every: creation.Every,
	}
	created, sent, err := w.post(ctx, record, sending)
	switch {
	case !sent && stopped.Err() != nil:
		return reconcile.Result{Change: c, Outcome: reconcile.NotStarted, Err: err}
	case !sent:
		return failed(c, "creating the token", err)
	case errors.Is(err, edge.ErrOutcomeUnknown):
		return w.doubt(ctx, c, record, err)
	case err != nil:
		return failed(c, "creating the token", errors.Join(err, w.noted(w.Memory.NotCreated(ctx, intent))))
	}
	if err := w.Memory.Confirm(ctx, intent, created.ID, created.Value); err != nil {
		return w.doubt(ctx, c, record, fmt.Errorf("sealing the secret of token %s: %w", created.ID, err))
	}
	if err := w.deliver(ctx, record, created.Value); err != nil {
		return failed(c, "the token exists and its secret is sealed; delivering it", err)
	}
	return reconcile.Result{Change: c, Outcome: reconcile.Converged}
}

// post sends the one request. The attempt is recorded at the last moment, so that
// one which only waited for the budget leaves nothing. sent says that it is on
// record: err is the platform's answer, and otherwise why nothing was sent.
func (w *Worker) post(ctx context.Context, record diff.TokenRecord, sending func() error) (created edge.CreatedToken, sent bool, err error) {
	intend := func() error {
		record.At = w.Now()
		if err := w.noted(w.Memory.Intend(ctx, record)); err != nil {
			return fmt.Errorf("recording the intent to create: %w", err)
		}
		sent = true
		return nil
	}
	within, done, err := w.begin(ctx)
	defer done()
	if err != nil {
		return created, false, err
	}
	within, leaves, end := reconcile.Request(within)
	created, err = w.of(record.Owner).Writer.CreateToken(edge.BeforeSend(within, func() error {
		if err := sending(); err != nil {
			return err
		}
		if err := intend(); err != nil {
			return err
		}
		return leaves()
	}), record.Spec)
	end(err)
	if !sent && (err == nil || errors.Is(err, edge.ErrOutcomeUnknown)) {
		// A creator that did not say when it sends has sent all the same.
		err = errors.Join(err, intend())
	}
	return created, sent, err
}

// doubt quarantines an attempt that may have made a token whose secret no one has.
func (w *Worker) doubt(ctx context.Context, c diff.Change, record diff.TokenRecord, cause error) reconcile.Result {
	return reconcile.Result{
		Change: c, Outcome: reconcile.Quarantined,
		Err: errors.Join(cause, w.noted(w.Memory.Quarantine(ctx, record.Intent, cause.Error()))),
	}
}

// NewIntent returns the identity of an attempt: 16 random hex digits.
func NewIntent() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
