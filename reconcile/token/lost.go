package token

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
)

// lateAfter is how long after its intent a creation whose answer was lost may still
// take effect.
const lateAfter = 30 * time.Minute

// findLost looks for creations whose outcome is unknown by the attempt in the
// token's name, and returns what is known afterwards. A token that is there gets
// another secret, since no one has the first; an attempt that left none is over.
func (w *Worker) findLost(ctx context.Context, live diff.TokensLive) (diff.TokensLive, error) {
	known := make([]diff.TokenRecord, 0, len(live.Records))
	for _, record := range live.Records {
		over := false
		if listed := live.Of(record.Owner).Listed; listed != nil && record.State == diff.TokenQuarantined && record.Named() {
			var err error
			if record, over, err = w.find(ctx, record, *listed); err != nil {
				return live, err
			}
		}
		if !over {
			known = append(known, record)
		}
	}
	live.Records = known
	return live, nil
}

// find looks for one lost creation. over says that it has created nothing.
func (w *Worker) find(ctx context.Context, record diff.TokenRecord, listed diff.TokensListed) (_ diff.TokenRecord, over bool, err error) {
	found := named(record.Intent, listed)
	switch {
	case len(found) == 1:
		secret, err := request(ctx, w, func(ctx context.Context) (edge.Secret, error) {
			return w.of(record.Owner).Writer.RollToken(ctx, found[0])
		})
		if errors.Is(err, reconcile.ErrSuperseded) {
			return record, false, err
		}
		if err != nil {
			w.Log.WarnContext(ctx, "a token whose secret was lost did not get another", "token", record.Key, "id", string(found[0]), "error", err.Error())
			return record, false, nil
		}
		if err := w.Memory.Confirm(ctx, record.Intent, found[0], secret); err != nil {
			return record, false, err
		}
		record.State, record.ID = diff.TokenConfirmed, found[0]
		w.Log.InfoContext(ctx, "a token whose secret was lost was found, and has another", "token", record.Key, "id", string(found[0]))
	case len(found) == 0 && w.Now().Sub(record.At) > lateAfter:
		if err := w.Memory.NotCreated(ctx, record.Intent); err != nil {
			return record, false, err
		}
		w.Log.InfoContext(ctx, "a creation whose answer was lost had created nothing", "token", record.Key, "attempt", record.Intent)
		return record, true, nil
	}
	return record, false, nil
}

// named returns the tokens whose names carry an attempt. What else the name says
// may have been changed since, by a person.
func named(attempt string, listed diff.TokensListed) (ids []edge.TokenID) {
	for id, token := range listed.Tokens {
		if strings.Contains(token.Name, attempt) {
			ids = append(ids, id)
		}
	}
	return ids
}
