package reconcile

import (
	"errors"
	"time"
)

// Outage is a time during which something that Seawall depends on did not work.
type Outage struct {
	Subject OutageSubject `json:"subject"`
	Name    string        `json:"name,omitempty"` // which zone, account, sink or forge; empty where there is one
	Cause   string        `json:"cause"`          // the same text for the same cause: no ports, no request ids
	Since   time.Time     `json:"since"`          // when it was first seen
	Until   time.Time     `json:"until,omitzero"` // when it was seen to work again; zero while it lasts
	// Works is since when nothing has failed, while it is not yet certain that it stays so;
	// zero: the last try failed.
	Works time.Time `json:"works_since,omitzero"`
	Fix   string    `json:"fix,omitempty"`     // what a person can do
	Next  time.Time `json:"next_try,omitzero"` // zero: not known, or it is due
	Zones int       `json:"zones"`             // how many zones it has affected
	Tries int       `json:"tries"`             // how many tries have failed
}

// OutageSubject is what an [Outage] is of.
type OutageSubject string

// What an outage can be of.
const (
	OutageGit        OutageSubject = "git"
	OutagePlatform   OutageSubject = "platform"
	OutageCredential OutageSubject = "credential"
	OutageAccount    OutageSubject = "account"
	OutageZone       OutageSubject = "zone"
	OutageSink       OutageSubject = "sink"
	OutageForge      OutageSubject = "forge"
	OutageRoute      OutageSubject = "route"  // of notifications
	OutageTraces     OutageSubject = "traces" // the collector of traces; only the log tells of it
	OutageState      OutageSubject = "state"  // the state folder: a full disk, a damaged ledger
)

// ErrState: the state folder could not be read or written. What [Records] returns is it,
// unless the caller has made a mistake.
var ErrState = errors.New("the state folder could not be read or written")
