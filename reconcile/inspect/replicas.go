package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/reconcile"
)

// Replicas is how the daemons share the work that have one database.
type Replicas struct {
	Name     string `json:"name"`     // of this one; empty: none of them answers, see [OnRecord]
	Database string `json:"database"` // where it is
	// Known is when the database was read last; zero: not since the start.
	Known time.Time `json:"known,omitzero"`
	// Silent is since when the database does not answer; zero: it does.
	Silent time.Time `json:"silent_since,omitzero"`
	Error  string    `json:"error,omitempty"`
	// Forward is when the clock of the database was set forward last, or this machine was paused, while that
	// matters; nil: neither was.
	Forward  *Forward  `json:"clock_forward,omitempty"`
	Replicas []Replica `json:"replicas"` // that run, by name
	Leases   []Lease   `json:"leases"`   // by name
}

// Forward is that the clock of the database was set forward, or that this machine was paused, which looks
// the same.
type Forward struct {
	At      time.Time `json:"at"`
	Seconds float64   `json:"seconds"` // by how much, at least
}

// forwardFor is for how long that matters: leases have ended early, and what counts against a budget does
// so by that clock for up to an hour.
const forwardFor = time.Hour

// ClockForward is that clock, while it matters; nil where it does not.
func (s Status) ClockForward() *Forward {
	if s.Replicas == nil || s.Replicas.Forward == nil || s.At.Sub(s.Replicas.Forward.At) >= forwardFor {
		return nil
	}
	return s.Replicas.Forward
}

// Text says what has happened.
func (f Forward) Text() string {
	return fmt.Sprintf("the clock of the database was set forward by %s at %s, or this machine was paused: leases ended early, and a replica may have taken one that was in use", Span(f.Seconds), instant(f.At))
}

// ForwardFix is what a person can do about it.
const ForwardFix = "have the clock of the database set in small steps only (such as chrony does); the ledger keeps replicas apart, and nothing else is to be done"

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
	// Zones are those that are declared under it, and Free is since when no replica has it; zero: one
	// has.
	Zones int       `json:"zones,omitempty"`
	Free  time.Time `json:"free_since,omitzero"`
	// Proved is in how many of Zones the commit in force is proved, as the records say; nil: not known.
	Proved *int `json:"proved,omitempty"`
}

// Other is another replica than the one that answers, which has a lease, or had it when the database
// answered last; empty for none.
func (r *Replicas) Other(name reconcile.LeaseName) string {
	if r == nil {
		return ""
	}
	for _, l := range r.Leases {
		if l.Name == string(name) && l.Replica != r.Name {
			return l.Replica
		}
	}
	return ""
}

// Has reports whether the replica that answers has a lease; a daemon without replicas has all.
func (r *Replicas) Has(name reconcile.LeaseName) bool {
	return r == nil || slices.ContainsFunc(r.Leases, func(l Lease) bool { return l.This && l.Name == string(name) })
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
	other := r.Other(reconcile.LeaseCommits)
	switch {
	case !r.Silent.IsZero() && other == "":
		return "this replica fetches git again when the database answers"
	case !r.Silent.IsZero():
		return other + " fetched git when the database answered last"
	case other == "":
		return "no replica fetches git now"
	}
	return other + " fetches git"
}

// text says who has it.
func (r *Replicas) text(l Lease, now time.Time) string {
	work := l.Work()
	if l.Zones > 0 {
		work += " (" + Count(l.Zones, "zone", "zones") + l.proved() + ")"
	}
	held := fmt.Sprintf("epoch %d, for %s", l.Epoch, Span(Age(l.Since, now)))
	switch {
	case l.Replica == "" && l.Free.IsZero():
		return work + ": no replica has it"
	case l.Replica == "":
		return fmt.Sprintf("%s: no replica has it since %s", work, instant(l.Free))
	case l.This:
		return work + ": this replica, " + held
	case l.Replica == r.Name:
		return work + ": this replica, until it was over"
	}
	return work + ": " + l.Replica + ", " + held
}

// proved says in how many of the zones the commit in force is proved; empty where that is not known.
func (l Lease) proved() string {
	switch {
	case l.Proved == nil:
		return ""
	case *l.Proved == l.Zones:
		return ", all proved for the commit in force"
	}
	return fmt.Sprintf(", %d proved for the commit in force", *l.Proved)
}

// behind says in which zones of others the commit in force is not proved.
func (r *Replicas) behind() (reasons []reason) {
	if r == nil || r.Name == "" {
		return nil
	}
	for _, l := range r.Leases {
		if l.Proved == nil || l.This || l.Replica == "" || *l.Proved == l.Zones {
			continue
		}
		reasons = append(reasons, reason{
			text: fmt.Sprintf("the commit in force is not proved in %d of the %s of %s", l.Zones-*l.Proved, Count(l.Zones, "zone", "zones"), l.Replica),
			fix:  "see seawall status of " + l.Replica + ", which knows why",
		})
	}
	return reasons
}

// worked says how many zones each of the other replicas works on, and how many are worked on by none.
func (r *Replicas) worked() (parts []string) {
	zones := map[string]int{}
	for _, l := range r.Leases {
		if !l.This {
			zones[l.Replica] += l.Zones
		}
	}
	for _, name := range slices.Sorted(maps.Keys(zones)) {
		switch n := zones[name]; {
		case n == 0:
		case name == "":
			parts = append(parts, fmt.Sprintf("no replica works on %d", n))
		case name == r.Name:
			parts = append(parts, fmt.Sprintf("this replica worked on %d until its lease was over", n))
		case !r.Silent.IsZero():
			parts = append(parts, fmt.Sprintf("%s worked on %d when the database answered last", name, n))
		default:
			parts = append(parts, fmt.Sprintf("%s works on %d", name, n))
		}
	}
	return parts
}

// Elsewhere says in words who works on the zones that the process which answers does not work on;
// empty where it works on all.
func (s Status) Elsewhere() string {
	if s.Zones.Here == nil || s.Replicas == nil {
		return ""
	}
	return strings.Join(s.Replicas.worked(), ", ")
}

// freeFor is for how long no replica may have a lease before that needs a person: much longer than
// another one takes to get it.
const freeFor = time.Minute

// free says which work no replica does.
func (r *Replicas) free(now time.Time) (reasons []reason) {
	if r == nil || !r.Silent.IsZero() {
		return nil
	}
	for _, l := range r.Leases {
		if !l.Free.IsZero() && now.Sub(l.Free) >= freeFor {
			reasons = append(reasons, reason{
				text: fmt.Sprintf("no replica has the lease %q since %s", l.Name, instant(l.Free)),
				fix:  "see why in the log of a replica whose configuration has this work, or start one",
			})
		}
	}
	return reasons
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
	if s.Records == nil {
		t.line("replica", "%s%s on %s", r.Name, of, r.Database)
	} else {
		t.line("replicas", "%s on %s", Count(len(r.Replicas), "runs", "run"), r.Database)
	}
	if !r.Silent.IsZero() {
		t.line("", "the database cannot be used since %s: %s", instant(r.Silent), r.Error)
		if !r.Known.IsZero() { // else it has never answered this daemon
			t.line("", "what follows of replicas and leases is as of %s, when it answered last", instant(r.Known))
		}
	}
	entries := []entry{}
	for _, one := range r.Replicas {
		if !one.This {
			entries = append(entries, entry{text: one.text(s, r)})
		}
	}
	t.list("", entries)
	label := "leases"
	for _, l := range r.Leases {
		t.line(label, "%s", r.text(l, s.At))
		label = ""
	}
}

// text says which replica it is.
func (one Replica) text(s Status, r *Replicas) string {
	also, running := "also ", "running for "+Span(Age(one.Started, s.At))
	if s.Records != nil {
		also = ""
	}
	if !r.Silent.IsZero() {
		running = "started at " + instant(one.Started)
	}
	return fmt.Sprintf("%s%s: seawall %s, %s, %s", also, one.Name, one.Program, running, Count(one.Leases, "lease", "leases"))
}
