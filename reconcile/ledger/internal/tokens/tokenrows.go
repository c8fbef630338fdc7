package tokens

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge/lazyregexp"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/store"
)

// Tokens implements [reconcile.TokenMemory], all of it as of one moment.
func (t *Memory) Tokens(ctx context.Context) (diff.TokensLive, error) {
	if t.file.DB == nil {
		return diff.TokensLive{Unknown: "there is no ledger yet", Hint: store.ErrUnknown.Hint()}, nil
	}
	m, err := t.readMark(ctx)
	if err != nil {
		return diff.TokensLive{}, store.Explain("reading", t.file.Path, err)
	}
	live, err := t.tokensAfter(ctx, m)
	if err != nil {
		return diff.TokensLive{}, store.Explain("reading", t.file.Path, err)
	}
	return live, nil
}

// Between ledger and mark another process waits for the disk: markWait is for how long the mark
// is waited for, and markLook how often it is looked meanwhile.
const (
	markWait = time.Second
	markLook = 10 * time.Millisecond
)

// tokensAfter reads the ledger after the mark, and in doubt both once more: where a process
// has gone on meanwhile, or may be between the two, the doubt means nothing.
func (t *Memory) tokensAfter(ctx context.Context, m mark) (diff.TokensLive, error) {
	mine := t.locked(ctx) // then only this process writes them, one after the other under this lock
	if mine {
		t.growing.Lock()
		defer t.growing.Unlock()
	}
	patience, cancel := context.WithTimeout(ctx, markWait)
	defer cancel()
	for {
		live, renewed, err := t.tokensBeside(ctx, m)
		if err != nil || live.Unknown == "" {
			return live, err
		}
		now, err := t.readMark(ctx)
		if err != nil {
			return live, err
		}
		if now != m {
			m = now
			continue
		}
		if !renewed || mine || patience.Err() != nil {
			return live, nil
		}
		select {
		case <-patience.Done():
		case <-time.After(markLook):
		}
	}
}

// tokensBeside reads the ledger, and what of it a mark leaves in doubt. renewed says that the
// mark is not the ledger's own, as between the two files of [Memory.Init].
func (t *Memory) tokensBeside(ctx context.Context, m mark) (live diff.TokensLive, renewed bool, err error) {
	born, err := t.born(ctx)
	if err != nil {
		return live, false, err
	}
	err = t.file.Read(ctx, func(tx *sql.Tx) error {
		c, err := recallCompleteness(ctx, tx)
		if err != nil {
			return err
		}
		if live.Unknown = c.doubt(t.Binding, m, born); live.Unknown != "" {
			live.Hint = store.ErrUnknown.Hint()
			if live.Unknown == OtherPlatform {
				live.Hint = OtherPlatformHint
			}
		}
		renewed = c.serial != m.Serial
		live.Records, err = recallTokens(ctx, tx)
		return err
	})
	return live, renewed, err
}

const selectToken = `SELECT intent, key, state, coalesce(id, ''), spec, hash, sink_name, sink_key, delivered, prune, reason, at, owner, lifetime, every FROM token `

// tokenRow returns the attempt that a condition selects; [store.ErrState] for none, which says
// that there is none.
func tokenRow(ctx context.Context, tx *sql.Tx, where string, arg any, none string) (diff.TokenRecord, error) {
	record, err := scanToken(tx.QueryRowContext(ctx, selectToken+`WHERE `+where, arg))
	if errors.Is(err, sql.ErrNoRows) {
		err = store.Fault(store.ErrState, none)
	}
	return record, err
}

func recallTokens(ctx context.Context, tx *sql.Tx) ([]diff.TokenRecord, error) {
	return rows.All(ctx, tx, selectToken+`ORDER BY seq`, func(row *sql.Rows, r *diff.TokenRecord) (err error) {
		*r, err = scanToken(row)
		return err
	})
}

func scanToken(row interface{ Scan(...any) error }) (r diff.TokenRecord, err error) {
	var spec string
	var sinkName, sinkKey, at sql.NullString
	err = row.Scan(&r.Intent, &r.Key, &r.State, &r.ID, &spec, &r.Hash, &sinkName, &sinkKey, &r.Delivered, &r.Prune, &r.Reason, &at, &r.Owner, &r.Lifetime, &r.Every)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(spec), &r.Spec); err != nil {
		return r, store.Fault(store.ErrDamaged, fmt.Sprintf("the body of attempt %s: %v", r.Intent, err))
	}
	if sinkName.Valid {
		r.Sink = &desired.Sink{Name: sinkName.String, Key: sinkKey.String}
	}
	if at.Valid {
		if r.At, err = time.Parse(time.RFC3339, at.String); err != nil {
			return r, store.Fault(store.ErrDamaged, fmt.Sprintf("the time of attempt %s: %v", r.Intent, err))
		}
	}
	return r, nil
}

var intentForm = lazyregexp.New(`^[0-9a-f]{16}$`)

// insertToken adds a row. Where the ledger is not in doubt, grow goes with it.
func (t *Memory) insertToken(ctx context.Context, tx *sql.Tx, r diff.TokenRecord) error {
	if !intentForm().MatchString(r.Intent) || r.Key == "" {
		return store.Fault(store.ErrState, fmt.Sprintf("attempt %q for token %q: it must have 16 hexadecimal digits and a token", r.Intent, r.Key))
	}
	var taken bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM token WHERE intent = $1)`, r.Intent).Scan(&taken); err != nil {
		return err
	}
	if taken {
		return store.Fault(store.ErrState, "there is already an attempt "+r.Intent)
	}
	spec, err := json.Marshal(r.Spec)
	if err != nil {
		return err
	}
	id := sql.NullString{String: string(r.ID), Valid: r.ID != ""}
	var sinkName, sinkKey sql.NullString
	if r.Sink != nil {
		sinkName, sinkKey = sql.NullString{String: r.Sink.Name, Valid: true}, sql.NullString{String: r.Sink.Key, Valid: true}
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO token (intent, key, state, id, spec, hash, sink_name, sink_key, delivered, prune, reason, at, owner, lifetime, every)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		r.Intent, r.Key, r.State, id, string(spec), r.Hash, sinkName, sinkKey, rows.Bit(r.Delivered), rows.Bit(r.Prune), r.Reason, t.began(r.At), r.Owner, int64(r.Lifetime), int64(r.Every))
	return err
}

// grow counts a row, or a word on deletion. A ledger in doubt must not: one that was put back from a
// backup would catch up with its mark.
func grow(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `UPDATE completeness SET generation = generation + 1`)
	return err
}

// began is when an attempt began, as its row holds it: to the second.
func (t *Memory) began(at time.Time) sql.NullString {
	if at.IsZero() {
		return t.file.Stamp()
	}
	return sql.NullString{String: at.UTC().Format(time.RFC3339), Valid: true}
}
