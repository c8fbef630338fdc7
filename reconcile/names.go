package reconcile

import (
	"context"
	"time"

	"github.com/seawall-dev/seawall/edge"
)

// Name is what the platform has said of the name of a zone or an account.
type Name struct {
	Account edge.AccountID // of a zone; empty for an account
	Key     string         // of an account in the repository; empty for a zone
	ID      string         // of the zone or the account
	Name    string
	Plan    string    // of a zone, in one word; empty: not known
	At      time.Time // when the platform said so last
	Gone    bool      // it has not listed the id since
}

// NameMemory keeps names over restarts, so that they are not asked for again;
// reconcile/ledger does.
type NameMemory interface {
	// Names returns what is on record, by account, key and id.
	Names(ctx context.Context) ([]Name, error)
	// SaveNames puts names on record, in the place of all that were.
	SaveNames(ctx context.Context, names []Name) error
}
