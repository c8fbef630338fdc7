package ledger

import (
	"context"
	"testing"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/ledgertest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("Forgetful", func(t *testing.T) {
		ledgertest.Run(t, func(*testing.T) ledgertest.Fixture {
			f := &reconcile.Forgetful{}
			hold := func(_ context.Context, h diff.Hold) error { f.Hold(h); return nil }
			return ledgertest.Fixture{Store: f, Hold: hold}
		})
	})
	t.Run("Ledger", func(t *testing.T) {
		ledgertest.Run(t, func(t *testing.T) ledgertest.Fixture { return fixture(t, ready(t)) })
	})
}

func fixture(t *testing.T, l *Ledger) ledgertest.Fixture {
	return ledgertest.Fixture{
		Store: l, Tokens: l,
		Hold: func(ctx context.Context, h diff.Hold) error { return l.Hold(ctx, h, "kim") },
		Reopen: func(t *testing.T) ledgertest.Fixture {
			must(t, l.Close())
			return fixture(t, reopen(t, l.file.Path, binding))
		},
		Beside: func(t *testing.T) ledgertest.Store { return mustOpen(t, l.file.Path) },
	}
}
