package zones

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/diff/guard"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// beforeProof says whether another commit is accepted, and whether any change was not kept.
const beforeProof = `SELECT EXISTS (SELECT 1 FROM accepted WHERE "commit" <> $1), EXISTS (SELECT 1 FROM nonconvergent)`

// Prove implements [reconcile.Records].
func (z *Zones) Prove(ctx context.Context, commit string, proofs []reconcile.Proof, settled []diff.Settled, results ...reconcile.Entry) error {
	err := z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var late, unkept bool
		if len(proofs)+len(settled) > 0 { // of what was healed nothing else is news, as a rule
			if err := z.file.OftenRow(ctx, tx, beforeProof, commit).Scan(&late, &unkept); err != nil {
				return err
			}
		}
		if err := z.settle(ctx, tx, commit, late, unkept, settled); err != nil {
			return err
		}
		for _, p := range proofs {
			if err := z.prove(ctx, tx, p, late); err != nil {
				return err
			}
		}
		if err := z.endClaims(ctx, tx, results); err != nil {
			return err
		}
		_, err := z.file.Enter(ctx, tx, results...)
		return err
	})
	if err == nil {
		z.claims.ended(results)
	}
	return err
}

const rememberProof = `
	INSERT INTO proved (zone_id, fingerprint, labels, "commit", at) SELECT $1, $2, $3, $4, $5
	WHERE $6 = 0 OR EXISTS (SELECT 1 FROM proved WHERE zone_id = $1)
	ON CONFLICT (zone_id) DO UPDATE SET fingerprint = excluded.fingerprint, labels = excluded.labels,
		"commit" = excluded."commit", at = excluded.at,
		earlier = CASE WHEN proved.fingerprint = excluded.fingerprint THEN proved.earlier ELSE substr(proved.fingerprint || ' ' || ltrim(
			replace(replace(' ' || proved.earlier, ' ' || proved.fingerprint || ' ', ' '), ' ' || excluded.fingerprint || ' ', ' ')),
			1, $7 * (length(proved.fingerprint) + 1)) END
	WHERE (proved.fingerprint, proved.labels) <> (excluded.fingerprint, excluded.labels)`

func (z *Zones) prove(ctx context.Context, tx *sql.Tx, p reconcile.Proof, late bool) error {
	labels := p.Labels
	if labels == nil {
		labels = guard.Labels{} // never null
	}
	text, err := json.Marshal(labels)
	if err != nil {
		return err
	}
	return z.file.Often(ctx, tx, rememberProof, p.Scope.Text(), p.Fingerprint, string(text), p.Commit, z.file.Stamp(), rows.Bit(late), reconcile.MostEarlier)
}

func (of some) recallProofs(ctx context.Context, tx *sql.Tx) (map[edge.Scope]reconcile.Proof, error) {
	known := map[reconcile.Earlier]reconcile.Earlier{} // most zones of a fleet are alike
	const query = `SELECT zone_id, fingerprint, labels, "commit", earlier FROM proved WHERE true`
	return rows.Map(ctx, tx, of.query(query), func(row *sql.Rows, zone *edge.Scope, p *reconcile.Proof) error {
		var labels string
		if err := row.Scan(zone, &p.Fingerprint, &labels, &p.Commit, &p.Earlier); err != nil {
			return err
		}
		p.Scope = *zone
		if same, is := known[p.Earlier]; is {
			p.Earlier = same
		} else {
			known[p.Earlier] = p.Earlier
		}
		if err := json.Unmarshal([]byte(labels), &p.Labels); err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("the labels of zone %s: %v", p.Scope, err))
		}
		return nil
	}, of.args...)
}

// Widen implements [reconcile.Records]. What is stored keeps its order.
func (z *Zones) Widen(ctx context.Context, owned []diff.Settled) error {
	return z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range owned {
			if err := z.widen(ctx, tx, s); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	ownedMembers = `SELECT members FROM applied WHERE zone_id = $1 AND ruleset_id = $2`
	widenOwned   = `
		INSERT INTO applied (zone_id, ruleset_id, members, "commit") VALUES ($1, $2, $3, '')
		ON CONFLICT (zone_id, ruleset_id) DO UPDATE SET members = excluded.members, "commit" = ''`
)

func (z *Zones) widen(ctx context.Context, tx *sql.Tx, s diff.Settled) error {
	var text string
	if _, err := rows.Found(z.file.OftenRow(ctx, tx, ownedMembers, s.ID.Scope.Text(), rulesetText(s.ID)).Scan(&text)); err != nil {
		return err
	}
	return z.widenTo(ctx, tx, s, text)
}

// widenTo is widen where the text of what is stored is known; empty for none.
func (z *Zones) widenTo(ctx context.Context, tx *sql.Tx, s diff.Settled, have string) error {
	wider, err := membersText(s.Owned)
	if err != nil || wider == have {
		return err
	}
	var union []diff.Member
	if have != "" {
		if union, err = parseMembers(s.ID, have); err != nil {
			return err
		}
	}
	for _, member := range s.Owned {
		if !slices.Contains(union, member) {
			union = append(union, member)
		}
	}
	if wider, err = membersText(union); err != nil || wider == have {
		return err
	}
	return z.file.Often(ctx, tx, widenOwned, s.ID.Scope.Text(), rulesetText(s.ID), wider)
}

const rememberOwned = `
	INSERT INTO applied (zone_id, ruleset_id, members, "commit", prune) SELECT $1, $2, $3, $4, $6
	WHERE $5 = 0 OR EXISTS (SELECT 1 FROM applied WHERE zone_id = $1 AND ruleset_id = $2)
	ON CONFLICT (zone_id, ruleset_id) DO UPDATE SET members = excluded.members, "commit" = excluded."commit",
		prune = CASE WHEN $5 = 0 THEN excluded.prune ELSE applied.prune END
	WHERE applied.members <> excluded.members OR $5 = 0 AND applied.prune <> excluded.prune
		OR applied."commit" = '' AND excluded."commit" <> ''`

const forgetNonConvergent = `DELETE FROM nonconvergent WHERE zone_id = $1 AND ruleset_id = $2`

// settle writes what deployments own, and only rows that differ. A late record adds no
// row. unkept says that there are changes that were not kept.
func (z *Zones) settle(ctx context.Context, tx *sql.Tx, commit string, late, unkept bool, settled []diff.Settled) error {
	for _, s := range settled {
		if s.Removed {
			if err := forget(ctx, tx, s.ID); err != nil {
				return err
			}
			continue
		}
		members, err := membersText(s.Owned)
		if err != nil {
			return err
		}
		prune, err := pruneText(s.Prune)
		if err != nil {
			return err
		}
		if err := z.file.Often(ctx, tx, rememberOwned, s.ID.Scope.Text(), rulesetText(s.ID), members, commit, rows.Bit(late), prune); err != nil {
			return err
		}
		if !unkept {
			continue
		}
		if err := z.file.Often(ctx, tx, forgetNonConvergent, s.ID.Scope.Text(), rulesetText(s.ID)); err != nil {
			return err
		}
	}
	return nil
}

// membersText is a list of members as a row holds it: [], never null.
func membersText(members []diff.Member) (string, error) {
	if members == nil {
		members = []diff.Member{}
	}
	text, err := json.Marshal(members)
	return string(text), err
}
