package ledger

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"time"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

var _ reconcile.History = (*Ledger)(nil)

// entryLog adds entries to the history. Whoever has the turn of the group may use it.
type entryLog struct {
	*history.Log
	path    string       // of the file that says which entry is the last
	written history.Head // what that file says
	missing string       // what that file has shown to be missing; empty for nothing, or once that is on record
}

func headPath(ledger string) string { return ledger + "-head" }

// openLog prepares the history for writing.
func (l *Ledger) openLog() error {
	log, err := history.Prepare(context.Background(), l.db, history.Bounds{})
	if err != nil {
		return err
	}
	l.log = &entryLog{Log: log, path: headPath(l.path)}
	l.group.ending = l.endHistory
	known, err := history.ReadHead(l.log.path)
	if err != nil {
		return err
	}
	return l.reading(context.Background(), func(tx *sql.Tx) error {
		l.log.missing, err = history.Behind(context.Background(), tx, known)
		return err
	})
}

func (e *entryLog) close() error {
	if e == nil {
		return nil
	}
	return e.Close()
}

// endHistory drops what the history need not keep, and returns what writes the file with
// its head. A file that cannot be written is written with the next transaction. Where it
// knew of entries that are missing, an entry says so from now on: it is overwritten.
func (l *Ledger) endHistory(tx *sql.Tx) (ended func(), err error) {
	ctx, now := context.Background(), l.now()
	if l.log.missing != "" {
		gap := reconcile.Entry{At: now, Kind: reconcile.EntryGap, Action: reconcile.ActionGap, Reason: l.log.missing}
		if _, err := l.log.Append(ctx, tx, gap); err != nil {
			return nil, err
		}
	}
	l.log.Bound(l.Keep)
	head, err := l.log.Trim(ctx, tx, now)
	if err != nil {
		return nil, err
	}
	return func() {
		l.log.missing = ""
		if head != l.log.written && head.Write(l.log.path) == nil {
			l.log.written = head
		}
	}, nil
}

func (l *Ledger) now() time.Time {
	if l.Now == nil {
		return time.Time{}
	}
	return l.Now()
}

// enter adds entries to the history, in the transaction of what they are about.
func (l *Ledger) enter(ctx context.Context, tx *sql.Tx, entries ...reconcile.Entry) ([]int64, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	now := l.now()
	for i := range entries {
		entries[i] = redacted(entries[i])
		if entries[i].At.IsZero() {
			entries[i].At = now
		}
	}
	return l.log.Append(ctx, tx, entries...)
}

// redacted is an entry without the secrets that a server has put into its text.
func redacted(e reconcile.Entry) reconcile.Entry {
	e.Reason = edge.Redact(e.Reason)
	e.Asked.Author, e.Asked.Approver, e.Asked.User = edge.Redact(e.Asked.Author), edge.Redact(e.Asked.Approver), edge.Redact(e.Asked.User)
	if e.Result != nil {
		result := *e.Result
		result.Reason = edge.Redact(result.Reason)
		e.Result = &result
	}
	members := make([]reconcile.MemberChange, len(e.Members))
	for i, m := range e.Members {
		m.Old, m.New = edge.RedactBytes(m.Old), edge.RedactBytes(m.New)
		members[i] = m
	}
	if len(members) > 0 {
		e.Members = members
	}
	return e
}

// RecordWrite implements [reconcile.Records].
func (l *Ledger) RecordWrite(ctx context.Context, write reconcile.Entry, owned []diff.Settled) (number int64, err error) {
	err = l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, s := range owned {
			if err := l.widen(ctx, tx, s); err != nil {
				return err
			}
		}
		numbers, err := l.enter(ctx, tx, write)
		if err == nil {
			number = numbers[0]
		}
		return err
	})
	return number, err
}

// Record implements [reconcile.Records].
func (l *Ledger) Record(ctx context.Context, entries ...reconcile.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return l.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := l.enter(ctx, tx, entries...)
		return err
	})
}

// History implements [reconcile.History], as of one moment.
func (l *Ledger) History(ctx context.Context, f reconcile.HistoryFilter, yield func(reconcile.Entry) error) (earlier int64, err error) {
	var stopped error
	err = l.reading(ctx, func(tx *sql.Tx) error {
		earlier, err = history.Read(ctx, tx, f, func(e reconcile.Entry) error {
			stopped = yield(e)
			return stopped
		})
		return err
	})
	switch {
	case stopped != nil:
		return earlier, stopped
	case errors.Is(err, history.ErrUnreadable):
		err = fault(ErrDamaged, err.Error())
	}
	return earlier, explain("reading", l.path, err)
}

// VerifyHistory reads the whole history and reports what is wrong with it. noted are heads
// that somebody noted elsewhere; the file beside the ledger is read too.
func (l *Ledger) VerifyHistory(ctx context.Context, noted ...history.Head) (report history.Report, err error) {
	file, err := history.ReadHead(headPath(l.path))
	if err != nil {
		return report, explain("reading", headPath(l.path), err)
	}
	file.Where = "the file " + filepath.Base(headPath(l.path))
	known := []history.Known{file}
	for _, head := range noted {
		known = append(known, history.Known{Head: head, Where: "the head that was given"})
	}
	err = l.reading(ctx, func(tx *sql.Tx) error {
		report, err = history.Verify(ctx, tx, known...)
		return err
	})
	return report, explain("reading", l.path, err)
}

// reading runs do in a transaction that only reads; it does nothing where there is no
// ledger.
func (l *Ledger) reading(ctx context.Context, do func(*sql.Tx) error) error {
	if l.db == nil {
		return nil
	}
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return do(tx)
}

// decided is an entry about a decision of the person who runs the command.
func (l *Ledger) decided(action string, subject reconcile.Subject) reconcile.Entry {
	return reconcile.Entry{
		Kind: reconcile.EntryDecision, Action: action, Trigger: reconcile.TriggerManual,
		Asked: reconcile.Asked{User: l.User}, Subject: subject,
	}
}

// enterToken enters a write that concerns a token. One that is recorded only once it was
// made is entered with its result. The accepted commit is the one that asks for it.
func (l *Ledger) enterToken(ctx context.Context, tx *sql.Tx, action diff.Action, r diff.TokenRecord, before, after *edge.TokenSpec) error {
	e := reconcile.Entry{
		Kind: reconcile.EntryWrite, Action: string(action), Trigger: reconcile.TriggerSync,
		Subject: reconcile.Subject{Token: r.Key, TokenID: r.ID, Attempt: r.Intent},
	}
	if e.Asked.User = l.User; l.User != "" {
		e.Trigger = reconcile.TriggerManual
	}
	if action != diff.ActionCreate {
		e.Result = &reconcile.WriteResult{Outcome: reconcile.Converged}
	}
	if action == reconcile.ActionDeliver && r.Sink != nil {
		e.Reason = "to sink " + r.Sink.Name + ", key " + r.Sink.Key
	}
	var err error
	if e.Members, err = reconcile.SpecChanges(before, after); err != nil {
		return err
	}
	err = tx.QueryRowContext(ctx, `SELECT "commit", author FROM accepted`).Scan(&e.Asked.Commit, &e.Asked.Author)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	_, err = l.enter(ctx, tx, e)
	return err
}

// tokenResult enters what became of an attempt to create a token.
func (l *Ledger) tokenResult(ctx context.Context, tx *sql.Tx, intent string, outcome reconcile.Outcome, reason string) error {
	var key string
	var id edge.TokenID
	if err := tx.QueryRowContext(ctx, `SELECT key, coalesce(id, '') FROM token WHERE intent = ?`, intent).Scan(&key, &id); err != nil {
		return err
	}
	number, err := history.Attempt(ctx, tx, key, intent)
	if err != nil {
		return err
	}
	_, err = l.enter(ctx, tx, reconcile.Entry{
		Kind: reconcile.EntryResult, Action: reconcile.ActionConclude, Subject: reconcile.Subject{Token: key, TokenID: id, Attempt: intent},
		Result: &reconcile.WriteResult{Write: number, Outcome: outcome, Reason: reason},
	})
	return err
}
