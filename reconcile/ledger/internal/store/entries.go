package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/history"
)

// entryLog adds entries to the history. Whoever has the turn of the group may use it.
type entryLog struct {
	*history.Log
	path    func() string     // of the file that says which entry is the last; empty: there is none
	shared  bool              // by several machines: each has such a file, and may lose it
	compare bool              // that file was not compared with the ledger yet, in a transaction that has ended well
	entered *sql.Tx           // the transaction that has an entry of what is missing; nil: none has
	command *sql.Tx           // the transaction that has a result of a command; nil: none has
	room    []reconcile.Entry // for those of the next call of Enter: an entry is large
	written atomic.Value      // the [ownEntries] of this process
}

// ownEntries are those that a process has entered since another one did.
type ownEntries struct {
	head  history.Head // the last: this process has written it into the file with the head, or at all
	after int64        // those with higher numbers are its own, and none is the result of a command
}

// HeadPath is the file beside a ledger that says which entry of the history is the last.
func HeadPath(ledger string) string { return ledger + "-head" }

// openLog prepares the history for writing.
func (f *File) openLog() error {
	f.log = &entryLog{Log: history.New(f.prepared), path: f.headPath, shared: f.Database() != nil, compare: true}
	f.group.ending = f.endHistory
	return f.beginHead()
}

// headPath is where the file with the head is. Over PostgreSQL each machine may have one of its own.
func (f *File) headPath() string {
	if f.Database() != nil {
		return f.Seen
	}
	return HeadPath(f.Path)
}

// beginHead makes the file with the head where the history is empty, before it has its
// first entry. Where it has entries, a file that is missing is a gap.
func (f *File) beginHead() error {
	if f.log.shared {
		return nil
	}
	path := f.headPath()
	known, err := history.ReadHead(path)
	if err != nil || known.Missing == "" {
		return err
	}
	newest, err := Read(context.Background(), f, history.Newest)
	if err != nil || newest > 0 {
		return err
	}
	return errors.Join(history.Begin(path), SyncFolder(filepath.Dir(path)))
}

// EnterGap adds an entry that says which entries are missing, before the file that shows it
// is overwritten, and has all processes know that the ledger was put back to an earlier time. It does
// nothing where none is. entered: this transaction has such an entry.
func (f *File) EnterGap(ctx context.Context, tx *sql.Tx) (entered bool, err error) {
	if f.log.entered == tx {
		return true, nil
	}
	gap, err := f.log.behind(ctx, tx)
	if err != nil || gap.Missing == "" {
		return false, err
	}
	if _, err := notePutBack(ctx, tx, f.log.shared); err != nil {
		return false, err
	}
	_, err = f.log.Append(ctx, tx, gap.Entry(f.Time()))
	if err == nil {
		f.log.entered = tx
	}
	return err == nil, err
}

// behind says what is missing at the end, by the file where it was not compared yet, and
// else by what this process has written. Others may have written more.
func (e *entryLog) behind(ctx context.Context, tx *sql.Tx) (gap history.Gap, err error) {
	stored, err := e.Stored(ctx, tx)
	if err != nil {
		return gap, err
	}
	known := e.own()
	if path := e.path(); path != "" && e.compare {
		if known, err = readHead(path, e.shared); err != nil {
			return gap, err
		}
	} else if stored.Number > known.Number || stored == known.Head {
		return gap, nil
	}
	return history.Behind(ctx, tx, known)
}

// own is what this process has written; the zero head before its first write.
func (e *entryLog) own() history.Known {
	if e == nil {
		return history.Known{}
	}
	own, written := e.written.Load().(ownEntries)
	if !written {
		return history.Known{}
	}
	return history.Known{Head: own.head, Where: "this process"}
}

// Foreign reports whether an entry after one, up to another, may be of another process, or the
// result of a command.
func (f *File) Foreign(after, last int64) bool {
	if f.log == nil {
		return true
	}
	own, written := f.log.written.Load().(ownEntries)
	return !written || after < own.after || last > own.head.Number
}

// readHead reads the file with the head, and names it without its folder. One that a machine may lose
// says nothing where it is not there, is damaged, or is another user's.
func readHead(path string, mayBeLost bool) (history.Known, error) {
	known, err := history.ReadHead(path)
	if mayBeLost && (err != nil || known.Missing != "") {
		return history.Known{}, nil //nolint:nilerr // what may be lost proves nothing
	}
	known.Where = "the file " + filepath.Base(path)
	return known, err
}

// Known is which entry of the history is the last, by what is beside the ledger: a file, or what
// this process knows.
func (f *File) Known() (history.Known, error) {
	path, shared := f.headPath(), f.Database() != nil
	if own := f.log.own(); path == "" || shared && own.Number > 0 {
		return own, nil
	}
	known, err := readHead(path, shared)
	return known, Explain("reading", path, err)
}

// Gaps returns what is missing in the history and was not accepted: as entries say, and as
// the file with the head shows. At most the last has no entry yet.
func (f *File) Gaps(ctx context.Context) (open []history.Gap, err error) {
	known, err := f.Known()
	if err != nil {
		return nil, err
	}
	gap := history.WithoutLedger(known)
	err = f.Read(ctx, func(tx *sql.Tx) error {
		if gap, err = history.Behind(ctx, tx, known); err != nil {
			return err
		}
		open, err = history.OpenGaps(ctx, tx)
		return err
	})
	if gap.Missing != "" {
		open = append(open, gap)
	}
	return open, err
}

// endHistory drops what the history need not keep, and returns what writes the file with
// its head. A file that cannot be written is written with the next transaction. Where it
// knew of entries that are missing, an entry says so from now on: it is overwritten.
func (f *File) endHistory(tx *sql.Tx) (ended func(), err error) {
	ctx := context.Background()
	if _, err := f.EnterGap(ctx, tx); err != nil {
		return nil, err
	}
	f.log.Bound(f.Keep)
	head, err := f.log.End(ctx, tx, f.Time())
	if err != nil {
		return nil, err
	}
	before, err := f.log.Stored(ctx, tx)
	return func() { f.log.ended(tx, before, head) }, err
}

// ended takes note of the head of a transaction that has ended well, and of the one before it.
func (e *entryLog) ended(tx *sql.Tx, before, head history.Head) {
	e.compare = false
	if path := e.path(); head == e.own().Head || path != "" && head.Write(path) != nil && !e.shared {
		return
	}
	own, written := e.written.Load().(ownEntries)
	if !written || own.head != before {
		own.after = before.Number
	}
	if own.head = head; e.command == tx {
		own.after = head.Number
	}
	e.written.Store(own)
}

// Time is the time by the clock of the ledger; zero where it has none.
func (f *File) Time() time.Time {
	if f.Now == nil {
		return time.Time{}
	}
	return f.Now()
}

// userKey is where a context has the user of As.
type userKey struct{}

// As returns a context of work that a user, USER@HOST, has ordered from this process:
// entries of the history say so.
func As(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

func userOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}

// Enter adds entries to the history, in the transaction of what they are about, and returns
// their numbers. What was found, and is on record as it is, is not entered again.
func (f *File) Enter(ctx context.Context, tx *sql.Tx, entries ...reconcile.Entry) ([]int64, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	now, user := f.Time(), userOf(ctx)
	news := slices.Grow(f.log.room[:0], len(entries))
	defer func() {
		clear(news) // which keeps nothing of them
		f.log.room = news[:0]
	}()
	for _, e := range entries {
		if user != "" && e.Asked.User == "" && e.Kind != reconcile.EntryResult && e.Kind != reconcile.EntryFound {
			e.Asked.User, e.Trigger = user, reconcile.TriggerManual
		}
		e = redacted(e)
		if e.At.IsZero() {
			e.At = now
		}
		if e.Kind == reconcile.EntryFound {
			if known, err := f.log.OnRecord(ctx, tx, e); err != nil {
				return nil, err
			} else if known {
				continue
			}
		}
		if e.Result != nil && (e.Trigger == reconcile.TriggerManual || e.Trigger == reconcile.TriggerRevert) {
			f.log.command = tx
		}
		news = append(news, e)
	}
	return f.log.Append(ctx, tx, news...)
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
	e.Asked.Message = edge.Redact(e.Asked.Message)
	if e.Result != nil {
		result := *e.Result
		result.Reason = edge.Redact(result.Reason)
		e.Result = &result
	}
	members := make([]reconcile.MemberChange, len(e.Members))
	for i, m := range e.Members {
		m.Old, m.New, m.Note = validJSON(edge.RedactBytes(m.Old)), validJSON(edge.RedactBytes(m.New)), edge.Redact(m.Note)
		members[i] = m
	}
	if len(members) > 0 {
		e.Members = members
	}
	return e
}

// validJSON is JSON of a server in UTF-8: its hash is that of a text, which not every database keeps
// otherwise.
func validJSON(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD"))
}
