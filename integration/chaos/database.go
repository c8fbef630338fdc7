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

	mu   sync.Mutex
	busy bool
	last time.Time // disturbed
}

// disturb notes that something is done to it now.
func (d *database) disturb() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = time.Now()
}

func (d *database) disturbedSince(t time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last.After(t)
}

func startDatabase() (*database, error) {
	server, err := pgtest.New()
	if err != nil {
		return nil, err
	}
	return &database{Server: server}, nil
}

func (d *database) url() string { return d.URL("postgres") }

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
	rows, err := d.Ask(ctx, `SELECT name, replica, epoch FROM lease WHERE expires_at > clock_timestamp() AND NOT given_up`)
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
