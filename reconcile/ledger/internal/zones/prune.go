package zones

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// pruneText is what a row says of a deployment that may be removed; empty for any other.
func pruneText(p *diff.Prunable) (string, error) {
	if p == nil {
		return "", nil
	}
	text, err := json.Marshal(p)
	return string(text), err
}

func (of some) recallPrunable(ctx context.Context, tx *sql.Tx) (diff.Pruning, error) {
	return byDeployment(ctx, tx, of, `SELECT zone_id, ruleset_id, prune FROM applied WHERE prune <> ''`, func(id diff.ID, text string) (p diff.Prunable, err error) {
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			return p, store.Fault(store.ErrDamaged, fmt.Sprintf("whether ruleset %s in zone %s may be removed: %v", id.Ruleset, id.Scope, err))
		}
		return p, nil
	})
}

// KeepDeployments records that deployments are not to be removed.
func KeepDeployments(ctx context.Context, tx *sql.Tx, ids []diff.ID) error {
	return rows.Exec(ctx, tx, `UPDATE applied SET prune = '' WHERE zone_id = $1 AND ruleset_id = $2`, ids, func(id diff.ID) []any {
		return []any{id.Scope.Text(), rulesetText(id)}
	})
}
