package inspect

import "time"

// Group is zones that need a person for the same reason.
type Group struct {
	Outcome Outcome
	By      string // the guard that decided, or the stage where it was none
	Count   int
	First   []string // names, at most [MostNamed]
	Reason  string   // of the first
	Since   time.Time
}

// MostNamed is how many zones a group names.
const MostNamed = 5
