package token

import (
	"context"
	"slices"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// waiting returns the tokens whose secrets are to be delivered. One that waits
// while a newer token's secret is for the same place stays sealed: it would take
// that place from the token that is in use. So does one of an owner that is only
// observed, or whose tokens could not be read.
func (w *Worker) waiting(live diff.TokensLive) (records []diff.TokenRecord) {
	if live.Unknown != "" {
		return nil // a ledger that was put back may hold a secret that a newer one has replaced
	}
	taken := map[desired.Sink]bool{}
	for _, record := range slices.Backward(live.Records) {
		if record.State != diff.TokenConfirmed || record.Sink == nil || taken[*record.Sink] || !live.Has(record) {
			continue
		}
		taken[*record.Sink] = true
		if !record.Delivered && live.Of(record.Owner).Unknown == "" && !w.of(record.Owner).Observed {
			records = append(records, record)
		}
	}
	slices.Reverse(records)
	return records
}

// redeliver tries again to deliver a sealed secret. What is asked before a request to the platform
// ([edge.BeforeSend]) is asked before that, too: it may take the place of a newer token's.
func (w *Worker) redeliver(ctx context.Context, account string, record diff.TokenRecord) reconcile.Result {
	result := reconcile.Result{
		Change:  diff.Change{Scope: edge.CredentialScope(record.Owner), Account: account, Token: record.Key, Operation: diff.Delivery{}, Direction: diff.Neutral},
		Outcome: reconcile.Converged,
	}
	err := edge.Sending(ctx)
	var secret edge.Secret
	if err == nil {
		secret, err = w.Memory.Sealed(ctx, record.Intent)
	}
	if err == nil {
		err = w.deliver(ctx, record, secret)
	}
	if err != nil {
		return failed(result.Change, "delivering the sealed secret", err)
	}
	return result
}

// deliver takes a secret to its sink and then destroys the sealed copy.
func (w *Worker) deliver(ctx context.Context, record diff.TokenRecord, secret edge.Secret) error {
	within, done, err := w.begin(ctx)
	defer done()
	if err != nil {
		return err
	}
	within, leaves, end := reconcile.Request(within)
	err = leaves()
	if err != nil {
		end(err)
		return err
	}
	err = w.Sinks.Deliver(within, *record.Sink, secret)
	if end(err); err != nil {
		return &reconcile.SinkError{Sink: record.Sink.Name, Err: err}
	}
	return w.Memory.Delivered(ctx, record.Intent)
}
