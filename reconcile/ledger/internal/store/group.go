package store

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Change is what one call writes. Its context never ends: SQLite rolls the whole
// transaction back where a statement is interrupted, and that is not the call's alone. It
// may run twice, and counts once.
type Change func(ctx context.Context, tx *sql.Tx) error

// grouping has the writes of one process that come at the same time share a transaction,
// because what takes the time is its end: the wait for the disk. Each runs on the goroutine
// of its caller. The one behind which none waits ends the transaction, for all that are in
// it. Where one fails all is rolled back, and the others run again, each alone.
type grouping struct {
	waiting  atomic.Int64 // callers that want the turn
	turn     sync.Mutex   // held by whoever writes, and guards what follows
	open     *group       // nil: no transaction is under way
	shared   bool         // the last one had more than one change
	texts    []string     // of the statements that are prepared
	prepared frequent     // nil until the first write
	bound    frequent     // of the transaction that began last: those that it has used
	// ending is called with each transaction before it ends, and what it returns once it
	// has ended well; nil: nothing is.
	ending func(*sql.Tx) (ended func(), err error)
	// begun is called with each transaction once it has begun; nil: nothing is.
	begun func() error
}

// frequent are the statements that are made for each zone of a commit, by their text. To
// prepare one takes longer than to run it.
type frequent map[string]*sql.Stmt

// prepare prepares them, for as long as the database is open.
func prepare(ctx context.Context, db *sql.DB, texts []string) (frequent, error) {
	all := make(frequent, len(texts))
	for _, text := range texts {
		statement, err := db.PrepareContext(ctx, text)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		all[text] = statement
	}
	return all, nil
}

func (s frequent) close() (err error) {
	for _, statement := range s {
		err = errors.Join(err, statement.Close())
	}
	return err
}

// group is one transaction. Whoever has the turn may use all but done and err.
type group struct {
	tx     *sql.Tx
	size   int   // how many changes are in it
	broken error // of the change that has failed; nil: none has

	done chan struct{} // closed when it has ended
	err  error         // nil: all that is in it is on the disk. Read it after done
}

// prepared is a statement that is prepared, in a change. It ends with the transaction.
func (f *File) prepared(ctx context.Context, tx *sql.Tx, text string) *sql.Stmt {
	bound := f.group.bound[text]
	if bound == nil {
		bound = tx.StmtContext(ctx, f.group.prepared[text])
		f.group.bound[text] = bound
	}
	return bound
}

// Often runs a statement that is prepared, in a change.
func (f *File) Often(ctx context.Context, tx *sql.Tx, text string, args ...any) error {
	_, err := f.prepared(ctx, tx, text).ExecContext(ctx, args...)
	return err
}

// OftenRow runs one that has one row at the most.
func (f *File) OftenRow(ctx context.Context, tx *sql.Tx, text string, args ...any) *sql.Row {
	return f.prepared(ctx, tx, text).QueryRowContext(ctx, args...)
}

// Write runs do in a transaction, with other writes or alone. When it returns without an
// error the change is on the disk; with one, nothing of it is.
func (f *File) Write(ctx context.Context, do Change) error {
	if f.ReadOnly {
		return Explain("writing", f.Path, Fault(ErrReadOnly, ""))
	}
	g, err := f.group.join(ctx, f.DB, do)
	if err == nil {
		<-g.done
		err = g.err
		if err != nil && g.size > 1 { // whoever it was that spoiled it: he shall be alone
			err = f.group.alone(ctx, f.DB, do)
		}
	}
	return Explain("writing", f.Path, f.checks.noted(err))
}

// Exec is Write of one statement.
func (f *File) Exec(ctx context.Context, statement string, args ...any) error {
	return f.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// join runs do in the group that is open, and opens one where none is.
func (p *grouping) join(ctx context.Context, db *sql.DB, do Change) (*group, error) {
	p.waiting.Add(1)
	p.turn.Lock()
	p.gather()
	p.waiting.Add(-1)
	defer p.pass()
	return p.add(ctx, db, do)
}

// gatherFor is how long a transaction waits before it begins for others to share it, while they
// come that often: to end one takes about as long, and as much work as several changes.
const gatherFor = 2 * time.Millisecond

// enough is how many need not wait for more.
const enough = 16

// gather waits for others before a transaction begins, if the last one was shared. It keeps the
// turn, but not the file: other processes write meanwhile.
func (p *grouping) gather() {
	if p.open == nil && p.shared && p.waiting.Load() < enough {
		time.Sleep(gatherFor)
	}
}

// pass gives the turn to the next, who is in the same group then; or ends the group.
func (p *grouping) pass() {
	if p.waiting.Load() == 0 {
		runtime.Gosched() // whoever is about to write comes into the group
	}
	if p.open != nil && (p.waiting.Load() == 0 || p.open.broken != nil) {
		p.end()
	}
	p.turn.Unlock()
}

// alone runs do in a group of its own.
func (p *grouping) alone(ctx context.Context, db *sql.DB, do Change) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.end()
	defer p.end() // should do not return
	g, err := p.add(ctx, db, do)
	if err != nil {
		return err
	}
	p.end()
	return g.err
}

func (p *grouping) add(ctx context.Context, db *sql.DB, do Change) (*group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	if p.open == nil {
		if err := p.begin(ctx, db); err != nil {
			return nil, err
		}
	}
	g := p.open
	return g, g.run(ctx, do)
}

func (p *grouping) begin(ctx context.Context, db *sql.DB) (err error) {
	if p.prepared == nil { // before the transaction, which takes the only connection
		if p.prepared, err = prepare(ctx, db, p.texts); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if p.begun != nil {
		if err := p.begun(); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	p.open, p.bound = &group{tx: tx, done: make(chan struct{})}, make(frequent, len(p.texts))
	return nil
}

// end makes what is in the open group last, and says so to all who wait for it.
func (p *grouping) end() {
	g := p.open
	if g == nil {
		return
	}
	p.open, p.shared = nil, g.size > 1
	ended := func() {}
	if g.err = g.broken; g.err == nil && p.ending != nil {
		ended, g.err = p.ending(g.tx)
	}
	if g.err == nil {
		g.err = g.tx.Commit()
	}
	if g.err != nil {
		_ = g.tx.Rollback()
	} else {
		ended()
	}
	close(g.done)
}

var errLeft = errors.New("another change of the transaction did not return")

// run makes one change. Whichever way do ends, none of it is left unless it ends well.
func (g *group) run(ctx context.Context, do Change) error {
	g.size++
	g.broken = errLeft // should do not return
	g.broken = do(ctx, g.tx)
	return g.broken
}
