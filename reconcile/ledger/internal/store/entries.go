package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// entryLog adds entries to the history. Whoever has the turn of the group may use it.
type entryLog struct {
	*history.Log
	path    string       // of the file that says which entry is the last
	written history.Head // what that file says
	missing string       // what that file has shown to be missing; empty for nothing, or once that is on record
}

// HeadPath is the file beside a ledger that says which entry of the history is the last.
func HeadPath(ledger string) string { return ledger + "-head" }

// openLog prepares the history for writing.
func (f *File) openLog() error {
	log, err := history.Prepare(context.Background(), f.DB, history.Bounds{})
	if err != nil {
		return err
	}
	f.log = &entryLog{Log: log, path: HeadPath(f.Path)}
	f.group.ending = f.endHistory
	known, err := history.ReadHead(f.log.path)
	if err != nil {
		return err
	}
	return f.Read(context.Background(), func(tx *sql.Tx) error {
		f.log.missing, err = history.Behind(context.Background(), tx, known)
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
func (f *File) endHistory(tx *sql.Tx) (ended func(), err error) {
	ctx, now := context.Background(), f.Time()
	if f.log.missing != "" {
		gap := reconcile.Entry{At: now, Kind: reconcile.EntryGap, Action: reconcile.ActionGap, Reason: f.log.missing}
		if _, err := f.log.Append(ctx, tx, gap); err != nil {
			return nil, err
		}
	}
	f.log.Bound(f.Keep)
	head, err := f.log.End(ctx, tx, now)
	if err != nil {
		return nil, err
	}
	return func() {
		f.log.missing = ""
		if head != f.log.written && head.Write(f.log.path) == nil {
			f.log.written = head
		}
	}, nil
}

// Time is the time by the clock of the ledger; zero where it has none.
func (f *File) Time() time.Time {
	if f.Now == nil {
		return time.Time{}
	}
	return f.Now()
}

// Enter adds entries to the history, in the transaction of what they are about.
func (f *File) Enter(ctx context.Context, tx *sql.Tx, entries ...reconcile.Entry) ([]int64, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	now := f.Time()
	for i := range entries {
		entries[i] = redacted(entries[i])
		if entries[i].At.IsZero() {
			entries[i].At = now
		}
	}
	return f.log.Append(ctx, tx, entries...)
}

// Decided is an entry about a decision of the person who runs the command.
func (f *File) Decided(action string, subject reconcile.Subject) reconcile.Entry {
	return reconcile.Entry{
		Kind: reconcile.EntryDecision, Action: action, Trigger: reconcile.TriggerManual,
		Asked: reconcile.Asked{User: f.User}, Subject: subject,
	}
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
