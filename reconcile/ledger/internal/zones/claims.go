package zones

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

const (
	// claimedFor is for how long a claim counts at most: a write may wait for a whole window
	// of the request budget, and takes 20 seconds to be sent and as long to be proved.
	claimedFor = 6 * time.Minute
	// claimWait is how long the claim of another process is waited for, and claimLook how
	// often it is looked at meanwhile.
	claimWait = 2 * time.Second
	claimLook = 50 * time.Millisecond
)

const (
	// beforeWrite is what decides about a write: the version of what was said, the claim on the
	// zone, and what its deployment owns.
	beforeWrite = `
		SELECT s.version, coalesce(c.place, 0), coalesce(c.pid, 0), coalesce(c.until, ''), coalesce(c.version, ''), coalesce(a.members, '') FROM said AS s
			LEFT JOIN claim AS c ON c.zone_id = $1 LEFT JOIN applied AS a ON a.zone_id = $1 AND a.ruleset_id = $2`
	claimOn   = `SELECT place, pid, until, version FROM claim WHERE zone_id = $1`
	takeClaim = `
		INSERT INTO claim (zone_id, place, pid, until, version) VALUES ($1, $2, $3, $4, '')
		ON CONFLICT (zone_id) DO UPDATE SET place = excluded.place, pid = excluded.pid, until = excluded.until, version = ''`
	endClaim = `UPDATE claim SET until = '', version = $1 WHERE zone_id = $2 AND place = $3`
)

// claim is one row.
type claim struct {
	place   int64
	pid     int
	until   string
	version string
}

// May says, by the version of what was said, why a zone must not be written, in refused.
type May func(ctx context.Context, tx *sql.Tx, said int64) (refused, err error)

// Claiming runs do in a transaction that takes the claim on the zone of a write, and widens what
// its deployments own; may is asked before that. Where another process has the claim
// it waits for a while; where another has written since the zone was read it takes the claim
// and does not run do. Both are a [reconcile.ElsewhereError].
func (z *Zones) Claiming(ctx context.Context, write reconcile.Entry, owned []diff.Settled, may May, do store.Change) error {
	patience, cancel := context.WithTimeout(ctx, claimWait)
	defer cancel()
	for {
		var refused error // outside the transaction: it has written nothing, and others are in it
		err := z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			refused, err = z.claiming(ctx, tx, write, owned, may)
			if refused != nil || err != nil {
				return err
			}
			return do(ctx, tx)
		})
		if err != nil {
			return err
		}
		var elsewhere *reconcile.ElsewhereError
		if !errors.As(refused, &elsewhere) || !elsewhere.Writing || patience.Err() != nil {
			return refused
		}
		if err := z.await(patience, write.Subject.Scope); err != nil && patience.Err() == nil {
			return err
		}
	}
}

func (z *Zones) claiming(ctx context.Context, tx *sql.Tx, write reconcile.Entry, owned []diff.Settled, may May) (refused, err error) {
	var said int64
	var have claim
	var members string
	id := write.Subject.ID()
	row := z.file.OftenRow(ctx, tx, beforeWrite, id.Scope.Text(), rulesetText(id))
	if err := row.Scan(&said, &have.place, &have.pid, &have.until, &have.version, &members); err != nil {
		return nil, fmt.Errorf("the claim on zone %s: %w", id.Scope, err)
	}
	if refused, err = may(ctx, tx, said); refused != nil || err != nil {
		return refused, err
	}
	if refused, err = z.claim(ctx, tx, write, have); refused != nil || err != nil {
		return refused, err
	}
	known := true // what is stored of the write's own deployment
	for _, s := range owned {
		if known && s.ID == id {
			err, known = z.widenTo(ctx, tx, s, members), false
		} else {
			err = z.widen(ctx, tx, s)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// claim takes the claim on a zone, unless another process has it.
func (z *Zones) claim(ctx context.Context, tx *sql.Tx, write reconcile.Entry, have claim) (refused, err error) {
	sign, err := z.signed() //nolint:contextcheck // it lasts as long as the process
	if err != nil {
		return nil, err
	}
	id := write.Subject.Scope
	other := have.place != 0 && !sign.own(have.place)
	if other {
		if counts, err := have.counts(ctx, tx, sign); err != nil {
			return nil, err
		} else if counts {
			return have.elsewhere(ctx, tx, sign, true)
		}
	}
	place, until, err := sign.take(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := z.file.Often(ctx, tx, takeClaim, id.Text(), place, os.Getpid(), store.RowTime(until)); err != nil {
		return nil, err
	}
	z.claims.note(id, place)
	if other && (have.until != "" || newer(have.version, versionText(write.Subject.Kind, write.Seen))) {
		return have.elsewhere(ctx, tx, sign, false)
	}
	return nil, nil
}

// elsewhere names the other process that has a claim.
func (c claim) elsewhere(ctx context.Context, tx *sql.Tx, sign sign, writing bool) (refused, err error) {
	host, err := sign.host(ctx, tx, c.place)
	return &reconcile.ElsewhereError{Process: c.pid, Host: host, Writing: writing}, err
}

// counts reports whether the claim of another process keeps this one away.
func (c claim) counts(ctx context.Context, tx *sql.Tx, sign sign) (bool, error) {
	if c.until == "" {
		return false, nil
	}
	until, err := time.Parse(time.RFC3339, c.until)
	if err != nil {
		return false, nil //nolint:nilerr // it is no claim that can end
	}
	return sign.counts(ctx, tx, c.place, until)
}

// versionText is the version of an entry point as the column version has it, with the kind
// before it where that is not the one of deployments: such a rule may be in another entry
// point, whose versions are others.
func versionText(kind desired.KindName, version string) string {
	if kind == "" || version == "" {
		return version
	}
	return string(kind) + ":" + version
}

// newer reports whether a version is later than the one that was seen, or cannot be told to
// be no later: versions of two kinds cannot.
func newer(version, seen string) bool {
	version, seen, ok := ofOneKind(version, seen)
	if !ok {
		return true
	}
	v, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return version != seen || version == ""
	}
	s, err := strconv.ParseUint(seen, 10, 64)
	return err != nil || v > s
}

// ofOneKind returns two versions without their kind; false where that is not the same.
func ofOneKind(a, b string) (string, string, bool) {
	kind, version, other := strings.Cut(a, ":")
	if !other {
		return a, b, !strings.Contains(b, ":")
	}
	b, same := strings.CutPrefix(b, kind+":")
	return version, b, same
}

// await waits until no other process has the claim on a zone.
func (z *Zones) await(ctx context.Context, id edge.Scope) error {
	sign, err := z.signed() //nolint:contextcheck // it lasts as long as the process
	if err != nil {
		return err
	}
	tick := time.NewTicker(claimLook)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		counts, err := store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) (bool, error) {
			have, err := scanClaim(tx.QueryRowContext(ctx, claimOn, id.Text()))
			if err != nil {
				return false, err
			}
			return have.counts(ctx, tx, sign)
		})
		if err != nil || !counts {
			return err
		}
	}
}

// scanClaim reads a row; the zero claim is none.
func scanClaim(row *sql.Row) (c claim, err error) {
	_, err = rows.Found(row.Scan(&c.place, &c.pid, &c.until, &c.version))
	return c, err
}

// Record implements [reconcile.Records].
func (z *Zones) Record(ctx context.Context, entries ...reconcile.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	err := z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := z.endClaims(ctx, tx, entries); err != nil {
			return err
		}
		_, err := z.file.Enter(ctx, tx, entries...)
		return err
	})
	if err == nil {
		z.claims.ended(entries)
	}
	return err
}

// endClaims ends the claims of this process on the zones of results.
func (z *Zones) endClaims(ctx context.Context, tx *sql.Tx, entries []reconcile.Entry) error {
	for _, e := range entries {
		if e.Result == nil {
			continue
		}
		if err := z.endClaim(ctx, tx, e.Subject.Scope, versionText(e.Subject.Kind, e.Result.Version)); err != nil {
			return err
		}
	}
	return nil
}

func (z *Zones) endClaim(ctx context.Context, tx *sql.Tx, id edge.Scope, version string) error {
	place, mine := z.claims.has(id)
	if !mine {
		return nil
	}
	return z.file.Often(ctx, tx, endClaim, version, id.Text(), place)
}

// Unclaim implements [reconcile.Records].
func (z *Zones) Unclaim(ctx context.Context, id edge.Scope, version string) error {
	if _, mine := z.claims.has(id); !mine {
		return nil
	}
	err := z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return z.endClaim(ctx, tx, id, version) })
	if err == nil {
		z.claims.note(id, 0)
	}
	return err
}
