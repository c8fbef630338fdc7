package once

import (
	"context"

	"github.com/seawall-dev/seawall/reconcile"
)

// commitSays are approvals that each commit carries.
func commitSays(said ...reconcile.Approval) func(context.Context, string) ([]reconcile.Approval, error) {
	return func(context.Context, string) ([]reconcile.Approval, error) { return said, nil }
}
