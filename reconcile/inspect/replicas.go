package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Replicas is how the daemons share the work that have one database.
type Replicas struct {
	Name     string `json:"name"`     // of this one
	Database string `json:"database"` // where it is
	// Known is when the database was read last; zero: not since the start.
	Known time.Time `json:"known,omitzero"`
	// Silent is since when the database does not answer; zero: it does.
	Silent   time.Time `json:"silent_since,omitzero"`
	Error    string    `json:"error,omitempty"`
	Replicas []Replica `json:"replicas"` // that run, by name
	Leases   []Lease   `json:"leases"`   // by name
}

// Replica is a daemon that runs.
type Replica struct {
	Name    string    `json:"name"`
	Program string    `json:"program"` // its version of seawall
	Started time.Time `json:"started"`
	// Alive is until when it counts as running, unless it says so again.
	Alive  time.Time `json:"alive_until"`
	This   bool      `json:"this"`   // the one that answers
	Leases int       `json:"leases"` // that it has
}

// Lease is work that one replica does.
type Lease struct {
	Name    string    `json:"name"`    // commits, tokens, or credential and its path in the configuration
	Replica string    `json:"replica"` // empty: none has it
	Epoch   int64     `json:"epoch"`
	Since   time.Time `json:"since,omitzero"`
	Until   time.Time `json:"until,omitzero"` // unless it is renewed
	This    bool      `json:"this"`           // the replica that answers has it
}

// Other is another replica than the one that answers, which has a lease; empty for none.
func (r *Replicas) Other(name reconcile.LeaseName) string {
	for _, l := range r.Leases {
		if l.Name == string(name) && !l.This {
			return l.Replica
		}
	}
	return ""
}

// Has reports whether the replica that answers has a lease; a daemon without replicas has all.
func (r *Replicas) Has(name reconcile.LeaseName) bool {
	return r == nil || slices.ContainsFunc(r.Leases, func(l Lease) bool { return l.This && l.Name == string(name) })
}

// WorksOnZones reports whether it has one for zones.
func (r *Replicas) WorksOnZones() bool {
	return r == nil || slices.ContainsFunc(r.Leases, func(l Lease) bool { return l.This && strings.HasPrefix(l.Name, credentialLease) })
}

// credentialLease is how the name of such a lease begins.
var credentialLease = string(reconcile.LeaseOf(reconcile.Lane{}))

// Work says in words what a lease is for.
func (l Lease) Work() string {
	if path, ok := strings.CutPrefix(l.Name, credentialLease); ok {
		return "zones of " + path
	}
	return l.Name
}

// fetches says who looks at git, where another replica does, or none.
func (r *Replicas) fetches() string {
	if other := r.Other(reconcile.LeaseCommits); other != "" {
		return other + " fetches git"
	}
	return "no replica fetches git now"
}

// text says who has it.
func (l Lease) text(now time.Time) string {
	switch {
	case l.Replica == "":
		return l.Work() + ": no replica has it"
	case l.This:
		return fmt.Sprintf("%s: this replica, epoch %d, for %s", l.Work(), l.Epoch, Span(Age(l.Since, now)))
	}
	return fmt.Sprintf("%s: %s, epoch %d, for %s", l.Work(), l.Replica, l.Epoch, Span(Age(l.Since, now)))
}

// replicas writes which daemons run, and which of them does what.
func (t *textWriter) replicas(s Status) {
	r := s.Replicas
	if r == nil {
		return
	}
	of := ""
	if n := len(r.Replicas); n > 0 {
		of = ", one of " + Count(n, "replica", "replicas")
	}
	t.line("replica", "%s%s on %s", r.Name, of, r.Database)
	if !r.Silent.IsZero() {
		t.line("", "the database does not answer since %s: %s", instant(r.Silent), r.Error)
	}
	entries := []entry{}
	for _, one := range r.Replicas {
		if !one.This {
			entries = append(entries, entry{text: fmt.Sprintf("also %s: seawall %s, running for %s, %s", one.Name, one.Program, Span(Age(one.Started, s.At)), Count(one.Leases, "lease", "leases"))})
		}
	}
	t.list("", entries)
	label := "leases"
	for _, l := range r.Leases {
		t.line(label, "%s", l.text(s.At))
		label = ""
	}
}
