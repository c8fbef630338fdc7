package review

import (
	"context"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile/zone"
)

// AccountRulesetVersion reads a version of the past, where the platform has them. It never
// changes, so it is kept like any other read.
func (k keeping) AccountRulesetVersion(ctx context.Context, account edge.AccountID, id edge.RulesetID, version string) (edge.Ruleset, error) {
	return keep(ctx, k, readOf{account: account, ruleset: id, version: version}, func() (edge.Ruleset, error) {
		return zone.AccountRulesetVersion(ctx, k.Reader, account, id, version)
	})
}
