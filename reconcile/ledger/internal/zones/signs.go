package zones

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/lockfile"
	"github.com/seawall-dev/seawall/reconcile/ledger/internal/rows"
)

// sign is by what processes tell whether one that has claimed a zone still runs.
type sign interface {
	// take returns what a claim says that this process takes in a transaction: its place, and when it
	// ends at the latest.
	take(ctx context.Context, tx *sql.Tx) (place int64, until time.Time, err error)
	// own reports whether a place is this process's.
	own(place int64) bool
	// counts reports whether a claim of another process that has not ended keeps this one away.
	counts(ctx context.Context, tx *sql.Tx, place int64, until time.Time) (bool, error)
	// host is the machine of another process, for people; empty where that is this one, or not known.
	host(ctx context.Context, tx *sql.Tx, place int64) (string, error)
	close() error
}

// fileSign is a lock in a file beside the ledger: it ends with the process.
type fileSign struct {
	*lockfile.Sign
	now func() time.Time
}

func newFileSign(path string, now func() time.Time) (sign, error) {
	s, err := lockfile.NewSign(path)
	if err != nil {
		return nil, err
	}
	return fileSign{s, now}, nil
}

func (s fileSign) take(context.Context, *sql.Tx) (int64, time.Time, error) {
	return s.Place(), s.now().Add(claimedFor), nil
}

func (s fileSign) own(place int64) bool { return place == s.Place() }

func (s fileSign) counts(_ context.Context, _ *sql.Tx, place int64, until time.Time) (bool, error) {
	return s.now().Before(until) && s.Runs(place), nil
}

func (fileSign) host(context.Context, *sql.Tx, int64) (string, error) { return "", nil }

func (s fileSign) close() error { return s.Close() }

// rowSign is a row in a database that processes of several machines share. While this process
// has claims the row says every few seconds that it runs, by the clock of the database.
//
// A process that is stopped, or that cannot reach the database, loses its claims while it still
// runs. It finds that out with its next write, in the transaction of which the claim is looked at.
// The write that it may have on its way has ended by then: it was admitted before the claim was
// taken, leaves within 15 seconds of that or not at all (see edge/client), and is given up 20 seconds
// later; under a lease it ends with the lease, within 12 seconds.
type rowSign struct {
	db    *sql.DB
	base  int64       // even; the places of this process are base, and base+1 under a lease
	busy  func() bool // there are claims
	end   context.CancelFunc
	ended chan struct{}

	mu    sync.Mutex
	asked time.Time // before the last beat that is on record was sent
	clock time.Time // of the database then, or a little later
}

const (
	// beatEvery is how often a process says that it runs.
	beatEvery = 4 * time.Second
	// runsFor is for how long one is believed to run, and leasedFor where a claim was taken under a
	// lease: longer than what was sent takes.
	runsFor   = time.Minute
	leasedFor = 20 * time.Second
	// beatWithin bounds what is asked of the database.
	beatWithin = 2 * time.Second
)

const (
	beat = `
		INSERT INTO process (place, pid, host, beat) VALUES ($1, $2, $3, clock_timestamp())
		ON CONFLICT (place) DO UPDATE SET beat = clock_timestamp() RETURNING beat`
	beats     = `SELECT EXISTS (SELECT 1 FROM process WHERE place = $1 AND beat > clock_timestamp() - $2 * interval '1 second'), clock_timestamp()`
	hostOf    = `SELECT host FROM process WHERE place = $1`
	running   = `SELECT pid, host FROM process WHERE beat > clock_timestamp() - $1 * interval '1 second' ORDER BY host, pid`
	endBeat   = `DELETE FROM process WHERE place = $1`
	dropBeats = `DELETE FROM process WHERE beat < clock_timestamp() - interval '1 day'`
)

func newRowSign(db *sql.DB, busy func() bool) sign {
	ctx, end := context.WithCancel(context.Background())
	s := &rowSign{db: db, base: 2 + 2*rand.Int64N(1<<60), busy: busy, end: end, ended: make(chan struct{})}
	go s.run(ctx)
	return s
}

// run beats until ctx ends. A beat that fails is no error: a claim is not taken without one.
func (s *rowSign) run(ctx context.Context) {
	defer close(s.ended)
	_ = s.exec(ctx, dropBeats)
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.busy() {
			_ = s.beat(ctx)
		}
	}
}

// beat says that the process runs.
func (s *rowSign) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, beatWithin)
	defer cancel()
	asked := time.Now()
	var clock time.Time
	if err := s.db.QueryRowContext(ctx, beat, s.row()...).Scan(&clock); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.clock = asked, clock
	return nil
}

func (s *rowSign) row() []any {
	host, _ := os.Hostname() // without one it says less
	return []any{s.base, os.Getpid(), host}
}

func (s *rowSign) exec(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, beatWithin)
	defer cancel()
	_, err := s.db.ExecContext(ctx, statement, args...)
	return err
}

// take beats in the transaction where the last beat is not new.
func (s *rowSign) take(ctx context.Context, tx *sql.Tx) (place int64, until time.Time, err error) {
	clock, fresh := s.now()
	if !fresh {
		if err := tx.QueryRowContext(ctx, beat, s.row()...).Scan(&clock); err != nil {
			return 0, time.Time{}, err
		}
	}
	place = s.base
	if _, leased := reconcile.LeaseIn(ctx); leased {
		place++
	}
	return place, clock.Add(claimedFor), nil
}

// now is the time by the database's clock, or a little later; false where the last beat is not new.
func (s *rowSign) now() (clock time.Time, fresh bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	// While the machine is suspended one clock stands still, and the other may be put back.
	since := max(now.Sub(s.asked), now.Round(0).Sub(s.asked.Round(0)))
	return s.clock.Add(since), !s.asked.IsZero() && since <= beatEvery+beatWithin
}

func (s *rowSign) own(place int64) bool { return place&^1 == s.base }

func (s *rowSign) counts(ctx context.Context, tx *sql.Tx, place int64, until time.Time) (bool, error) {
	within := runsFor
	if place&1 == 1 {
		within = leasedFor
	}
	var runs bool
	var clock time.Time
	err := tx.QueryRowContext(ctx, beats, place&^1, int64(within/time.Second)).Scan(&runs, &clock)
	return runs && clock.Before(until), err
}

func (s *rowSign) host(ctx context.Context, tx *sql.Tx, place int64) (host string, err error) {
	_, err = rows.Found(tx.QueryRowContext(ctx, hostOf, place&^1).Scan(&host))
	return host, err
}

// Running are the processes, for people, that write to zones over a database that several share, or have
// done so within the last minute and not ended: daemons and commands.
func Running(ctx context.Context, tx *sql.Tx) ([]string, error) {
	return rows.All(ctx, tx, running, func(row *sql.Rows, text *string) error {
		var pid int64
		var host string
		err := row.Scan(&pid, &host)
		*text = fmt.Sprintf("process %d on %s", pid, host)
		return err
	}, int64(runsFor/time.Second))
}

// close has the claims count no more. Where the database cannot be told they end by themselves.
func (s *rowSign) close() error {
	s.end()
	<-s.ended
	_ = s.exec(context.Background(), endBeat, s.base)
	return nil
}
