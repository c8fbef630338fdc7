//go:build linux

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seawall-dev/seawall/integration/pgtest"
)

// database is the PostgreSQL that the replicas share, and how it is looked into.
type database struct {
	*pgtest.Server
	standby *pgtest.Server // nil: there is none, or it has taken the place of the first

	mu    sync.Mutex
	busy  bool
	ended []*pgtest.Server
}

func startDatabase() (*database, error) {
	server, err := pgtest.New()
	if err != nil {
		return nil, err
	}
	return &database{Server: server}, nil
}

func (d *database) url() string {
	if d.standby != nil {
		return pgtest.URLOfBoth(d.Server, d.standby, "postgres")
	}
	return d.URL("postgres")
}

// follow gives it a standby, which has all that the server has confirmed.
func (d *database) follow() (err error) {
	d.standby, err = d.Standby()
	return err
}

// failOver has the server end as a machine does that loses its power, and the standby take its
// place after a while.
func (d *database) failOver(ctx context.Context, after time.Duration) error {
	if err := d.Crash(); err != nil {
		return err
	}
	sleep(ctx, after)
	if err := d.standby.Promote(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = append(d.ended, d.Server)
	d.Server, d.standby = d.standby, nil
	return nil
}

// close ends all servers.
func (d *database) close() {
	for _, s := range append(d.ended, d.Server, d.standby) {
		if s != nil {
			s.Close()
		}
	}
}

func (d *database) take() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.busy {
		return false
	}
	d.busy = true
	return true
}

func (d *database) give() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.busy = false
}

// leases are the replicas that hold leases now, with their epochs, by the name of the lease.
func (d *database) leases(ctx context.Context) (map[string]lease, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	d.mu.Lock()
	server := d.Server
	d.mu.Unlock()
	rows, err := server.Ask(ctx, `SELECT name, replica, epoch FROM lease WHERE expires_at > clock_timestamp() AND NOT given_up`)
	held := map[string]lease{}
	for _, row := range rows {
		held[row[0]] = lease{row[1], row[2]}
	}
	return held, err
}

type lease struct {
	replica string
	epoch   string
}

func (l lease) String() string { return fmt.Sprintf("%s/%s", l.replica, l.epoch) }
