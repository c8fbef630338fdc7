package zones

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/seawall-dev/seawall/diff/radar"
	"github.com/seawall-dev/seawall/diff/rulesets"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// SawRuleset implements [reconcile.RulesetMemory]. A version that is not the first one is an
// entry of the history.
func (z *Zones) SawRuleset(ctx context.Context, account string, seen rulesets.Seen, means func(rulesets.Seen) radar.Published) (before *rulesets.Seen, news bool, err error) {
	text, err := json.Marshal(rulesets.Facts(seen.Ruleset))
	if err != nil {
		return nil, false, fmt.Errorf("encoding a managed ruleset: %w", err)
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	for { // until no other process has recorded another version meanwhile
		last, err := z.lastRuleset(ctx, seen, digest)
		if err != nil || last.known {
			return last.before, false, err
		}
		packed, err := pack(text)
		if err != nil {
			return nil, false, fmt.Errorf("encoding a managed ruleset: %w", err)
		}
		meaning := meaning{}
		if last.before != nil { // worked out before the transaction: that may take long
			if meaning, err = meaningOf(means(*last.before)); err != nil {
				return nil, false, err
			}
		}
		again := false
		err = z.file.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
			now, err := lastRuleset(ctx, tx, seen, digest)
			if again = now.seq != last.seq; err != nil || again {
				return err
			}
			seq, err := addRuleset(ctx, tx, seen, digest, packed)
			if err != nil || last.before == nil {
				return err
			}
			if err := addMeaning(ctx, tx, seq, meaning); err != nil {
				return err
			}
			_, err = z.file.Enter(ctx, tx, reconcile.PublishedEntry(account, *last.before, seen))
			return err
		})
		if err != nil || !again {
			return last.before, err == nil, err
		}
	}
}

// lastVersion is what is on record of a ruleset before a version is recorded.
type lastVersion struct {
	before *rulesets.Seen // the version before it; nil where there is none
	known  bool           // it is on record already
	seq    int64          // of the version that was seen last; 0: none
}

// lastRuleset reads what there is before anything is written: nearly always the version is
// known.
func (z *Zones) lastRuleset(ctx context.Context, seen rulesets.Seen, digest string) (last lastVersion, err error) {
	err = z.file.Read(ctx, func(tx *sql.Tx) error {
		last, err = lastRuleset(ctx, tx, seen, digest)
		return err
	})
	return last, store.Explain("reading", z.file.Path, err)
}

func lastRuleset(ctx context.Context, tx *sql.Tx, seen rulesets.Seen, digest string) (last lastVersion, err error) {
	const query = selectRulesets + ` WHERE v.account_id = $1 AND v.ruleset_id = $2 ORDER BY v.seq DESC LIMIT 2`
	found, err := rows.All(ctx, tx, query, scanRuleset(map[string]edge.Ruleset{}), seen.Account, seen.Ruleset.ID)
	if err != nil || len(found) == 0 {
		return last, err
	}
	last.seq, last.known = found[0].seq, found[0].digest == digest
	if last.known {
		found = found[1:]
	}
	if len(found) > 0 {
		last.before = &found[0].Seen
	}
	return last, nil
}

func addRuleset(ctx context.Context, tx *sql.Tx, seen rulesets.Seen, digest string, packed []byte) (seq int64, err error) {
	if _, err := tx.ExecContext(ctx, `INSERT INTO ruleset_facts (digest, facts) VALUES ($1, $2) ON CONFLICT DO NOTHING`, digest, packed); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, `INSERT INTO ruleset_version (account_id, ruleset_id, facts, at) VALUES ($1, $2, $3, $4) RETURNING seq`,
		seen.Account, seen.Ruleset.ID, digest, store.RowTime(seen.At)).Scan(&seq)
	if err != nil {
		return 0, err
	}
	dropped, err := rows.Changed(ctx, tx, `DELETE FROM ruleset_version WHERE account_id = $1 AND ruleset_id = $2 AND seq NOT IN (
		SELECT seq FROM ruleset_version WHERE account_id = $1 AND ruleset_id = $2 ORDER BY seq DESC LIMIT $3)`,
		seen.Account, seen.Ruleset.ID, reconcile.MostVersions)
	if err != nil || !dropped {
		return seq, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM ruleset_facts WHERE NOT EXISTS (SELECT 1 FROM ruleset_version WHERE facts = digest)`)
	return seq, err
}

const selectRulesets = `SELECT v.seq, v.account_id, v.facts, v.at, f.facts FROM ruleset_version AS v LEFT JOIN ruleset_facts AS f ON f.digest = v.facts`

// Rulesets implements [reconcile.RulesetMemory].
func (z *Zones) Rulesets(ctx context.Context) (all []rulesets.Seen, err error) {
	found, err := store.Read(ctx, z.file, func(ctx context.Context, tx *sql.Tx) ([]rulesetRow, error) {
		return rows.All(ctx, tx, selectRulesets+` ORDER BY v.seq`, scanRuleset(map[string]edge.Ruleset{}))
	})
	for _, row := range found {
		all = append(all, row.Seen)
	}
	return all, err
}

type rulesetRow struct {
	rulesets.Seen
	seq    int64
	digest string
}

// scanRuleset reads rows, and those with the same digest once.
func scanRuleset(known map[string]edge.Ruleset) func(*sql.Rows, *rulesetRow) error {
	return func(row *sql.Rows, r *rulesetRow) (err error) {
		var at string
		var packed []byte
		if err := row.Scan(&r.seq, &r.Account, &r.digest, &at, &packed); err != nil {
			return err
		}
		ruleset, ok := known[r.digest]
		if !ok {
			ruleset, err = unpack(packed, r.digest)
			known[r.digest] = ruleset
		}
		if err == nil {
			r.At, err = time.Parse(time.RFC3339, at)
		}
		if err != nil {
			return store.Fault(store.ErrDamaged, fmt.Sprintf("a version of a managed ruleset of account %s: %v", r.Account, err))
		}
		r.Ruleset = ruleset
		return nil
	}
}

func pack(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err := w.Close()
	return packed.Bytes(), err
}

// unpack is the ruleset of a row, whose text must have its digest.
func unpack(packed []byte, digest string) (r edge.Ruleset, err error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return r, err
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		return r, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != digest {
		return r, fmt.Errorf("its digest is another one")
	}
	return r, json.Unmarshal(text, &r)
}
