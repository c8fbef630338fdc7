// Package jobs is how several processes ("replicas") over one PostgreSQL tell each other what is
// to be done.
//
// A poke asks those who are concerned to look now, wherever they run: a webhook arrives at any
// replica, and the one that has the lease for commits looks at git. A note is a poke with a text
// that replicas which start later learn, too.
//
//	replicas.Poked("commits", func(string, string) { source.Poke() }) // before Run
//	err := replicas.Poke(ctx, "commits")                              // on record once it returns
//	replicas.Looked(number)                                           // of each look at the database
//
// A job is work that any replica may take. River keeps jobs, gives each to one replica, tries
// again what failed, and gives to another what a replica has left behind. So a job may be done
// twice, and each one must bear that.
//
//	replicas.Work(jobs.Plan, jobs.Worker{Do: plan, AtOnce: 1, Within: 3 * time.Minute}) // before Run
//	err := replicas.Insert(ctx, jobs.Job{Kind: jobs.Plan, Number: 12, Head: "0123…"})
//	replicas.Run(ctx)
//
// All of it works behind PgBouncer in transaction mode: replicas look once a second, or sooner where they
// get a hint. Nothing rests on that.
// A process that is alone over its records does its jobs where they arise.
package jobs

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	"github.com/seawall-dev/seawall/reconcile"
)

// Config is what [Replicas] are made from.
type Config struct {
	DB  *sql.DB          // has the tables of package postgres
	Log *slog.Logger     // nil discards
	Now func() time.Time // required
	// AbandonedAfter is when a job counts as left behind by its replica, unless it may take longer;
	// zero is half a minute. Each must be over by then.
	AbandonedAfter time.Duration
	// FetchEvery is how soon a job of another replica is found; zero is a second.
	FetchEvery time.Duration
}

// Pokes is the part of [Replicas] by which they tell each other that something is to be looked at.
type Pokes interface {
	// Poked has someone called with each poke whose subject is this word, or begins with it and a
	// slash: with the rest of it, and with the text of a note. It must not wait. To be called before
	// Run.
	Poked(word string, do func(rest, text string))
}

// Replicas are those over one database, as one of them sees them. Make it with [New].
type Replicas struct {
	Config
	poked   handlers
	workers map[Kind]Worker
	client  *river.Client[*sql.Tx] // inserts
	look    reconcile.Pokes        // there may be something to pass on
	seen    atomic.Int64           // the number of the last poke that was passed on; -1: none was yet
	newest  atomic.Int64           // that a look at the database has shown
	ahead   atomic.Int64           // what seen was, where the last look has shown a lower number
	again   atomic.Bool            // all that is on record is to be passed on

	mu   sync.Mutex
	kept map[Job]Job // jobs that are inserted once another of the same subject has ended, by subject
}

// New returns the replicas of a database. It asks nothing of it yet.
func New(c Config) (*Replicas, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.AbandonedAfter == 0 {
		c.AbandonedAfter = 30 * time.Second
	}
	if c.FetchEvery == 0 {
		c.FetchEvery = time.Second
	}
	r := &Replicas{Config: c, poked: handlers{}, workers: map[Kind]Worker{}, look: reconcile.NewPokes(), kept: map[Job]Job{}}
	r.seen.Store(-1)
	var err error
	r.client, err = r.inserting()
	return r, err
}

// Run passes on pokes and does jobs until ctx ends. A job that is not done by then is given up, for
// another replica.
func (r *Replicas) Run(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	if len(r.workers) > 0 {
		all.Go(func() { r.work(ctx) })
	}
	r.listen(ctx)
}

// handlers are called with pokes, by word.
type handlers map[string][]func(rest, text string)

// Poked implements [Pokes].
func (h handlers) Poked(word string, do func(rest, text string)) { h[word] = append(h[word], do) }

func (h handlers) call(subject, text string) {
	word, rest, _ := strings.Cut(subject, "/")
	for _, do := range h[word] {
		do(rest, text)
	}
}

var _ Pokes = (*Replicas)(nil)
