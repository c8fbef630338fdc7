package store

import (
	"context"
	"database/sql"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seawall-dev/seawall/edge/retry"
	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/postgres"
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
	texts    []string     // of the statements that are prepared
	prepared frequent     // nil until the first write
	bound    frequent     // of the transaction that began last: those that it has used
	// ending is called with each transaction before it ends, and what it returns once it
	// has ended well; nil: nothing is.
	ending func(*sql.Tx) (ended func(), err error)

	base base
	db   *sql.DB
	most time.Duration // for how long changes come into a transaction; 0: as long as some wait
}

// group is one transaction. Whoever has the turn may use all but done and err.
type group struct {
	tx     *sql.Tx
	began  time.Time
	size   int   // how many changes are in it
	broken error // of the change that has failed; nil: none has

	done chan struct{} // closed when it has ended
	err  error         // nil: all that is in it is on the disk. Read it after done
}

// write makes a change, with others or alone, and once more where nothing of it was kept for a
// reason that passes.
func (p *grouping) write(ctx context.Context, do Change) error {
	for failures := 1; ; failures++ {
		err := p.once(ctx, do)
		if err == nil || !p.base.again(err, failures) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(retry.Database.Spread(failures)):
		}
	}
}

func (p *grouping) once(ctx context.Context, do Change) error {
	g, err := p.join(ctx, do)
	var late *postgres.LateError
	if errors.As(err, &late) && g.size > 1 { // it may be of another change
		return p.alone(ctx, do)
	}
	if err != nil {
		return err
	}
	<-g.done
	if g.err != nil && g.size > 1 && !errors.Is(g.err, ErrUnsure) { // whoever it was that spoiled it: he shall be alone
		return p.alone(ctx, do)
	}
	return g.err
}

// join runs do in the group that is open, and opens one where none is.
func (p *grouping) join(ctx context.Context, do Change) (*group, error) {
	p.waiting.Add(1)
	p.turn.Lock()
	p.waiting.Add(-1)
	defer p.pass()
	return p.add(ctx, do)
}

// pass gives the turn to the next, who is in the same group then; or ends the group.
func (p *grouping) pass() {
	if p.waiting.Load() == 0 {
		runtime.Gosched() // whoever is about to write comes into the group
	}
	if g := p.open; g != nil && (p.waiting.Load() == 0 || g.broken != nil || p.most > 0 && time.Since(g.began) > p.most) {
		p.end()
	}
	p.turn.Unlock()
}

// alone runs do in a group of its own.
func (p *grouping) alone(ctx context.Context, do Change) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	p.end()
	defer p.end() // should do not return
	g, err := p.add(ctx, do)
	if err != nil {
		return err
	}
	p.end()
	return g.err
}

func (p *grouping) add(ctx context.Context, do Change) (*group, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	if p.open == nil {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	g := p.open
	return g, g.run(ctx, p.base, do)
}

func (p *grouping) begin(ctx context.Context) (err error) {
	if p.prepared == nil { // before the transaction, which takes the only connection
		if p.prepared, err = prepare(ctx, p.db, p.texts); err != nil {
			return err
		}
	}
	tx, err := p.base.begin(ctx)
	if err != nil {
		return err
	}
	if err := p.base.present(); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	p.open, p.bound = &group{tx: tx, began: time.Now(), done: make(chan struct{})}, make(frequent, len(p.texts))
	return nil
}

// end makes what is in the open group last, and says so to all who wait for it.
func (p *grouping) end() {
	g := p.open
	if g == nil {
		return
	}
	p.open = nil
	ended := func() {}
	if g.err = g.broken; g.err == nil && p.ending != nil {
		ended, g.err = p.ending(g.tx)
	}
	if g.err == nil {
		g.err = p.base.commit(g.tx)
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
func (g *group) run(ctx context.Context, under base, do Change) error {
	ctx, err := under.admit(ctx, g.tx)
	if errors.Is(err, reconcile.ErrLeaseLost) {
		return err // it has done nothing, and the others go on
	}
	g.size++
	if err != nil {
		g.broken = err
		return err
	}
	g.broken = errLeft // should do not return
	g.broken = do(ctx, g.tx)
	return g.broken
}
