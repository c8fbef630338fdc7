package decisions

import (
	"context"
	"database/sql"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// saidOnce are the digests that reviews have approved, by the reasons of these, as far as they were asked
// for.
type saidOnce map[string]map[string]bool

// before reports whether an approval counts once, as what a commit carries or a review has said does, and
// whether it is on record already, counting or not: who says it may have read it before it was spent, or
// may not know of it.
func (s saidOnce) before(ctx context.Context, tx *sql.Tx, a reconcile.Approval) (once, known bool, err error) {
	if commit, text, trailer := a.OfTrailer(); trailer {
		known, err = carried(ctx, tx, a.Digest, commit, text)
		return true, known, err
	}
	if !a.ReviewOfPlan() {
		return false, false, nil
	}
	if _, read := s[a.Reason]; !read {
		if s[a.Reason], err = givenBy(ctx, tx, a.Reason); err != nil {
			return true, false, err
		}
	}
	return true, s[a.Reason][a.Digest], nil
}

// ofTrailer selects the approvals that a commit has carried; see [reconcile.ReasonsOfTrailer].
const ofTrailer = "(reason = $1 OR reason LIKE '%' || $2)"

// carried reports whether an approval that a commit carries is on record, whether it counts or not.
func carried(ctx context.Context, tx *sql.Tx, digest, commit, text string) (bool, error) {
	reason, end := reconcile.ReasonsOfTrailer(commit, text)
	var one int
	return rows.Found(tx.QueryRowContext(ctx, `SELECT 1 FROM approval WHERE digest = $3 AND `+ofTrailer+` LIMIT 1`, reason, end, digest).Scan(&one))
}

// givenBy are the digests of approvals with a reason, whether they count or not.
func givenBy(ctx context.Context, tx *sql.Tx, reason string) (map[string]bool, error) {
	return rows.Map(ctx, tx, `SELECT DISTINCT digest FROM approval WHERE reason = $1`, func(row *sql.Rows, digest *string, given *bool) error {
		*given = true
		return row.Scan(digest)
	}, reason)
}
