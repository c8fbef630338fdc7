package reconcile

import (
	"crypto/sha256"

	"github.com/seawall-dev/seawall/edge"
)

// Known is what a process has taken in of the records, for [Records.RestoreSince]. The zero value is
// nothing.
type Known struct {
	Mark Mark // of the last [Record] that was taken in
	// Zones are read whether or not anything has changed there: of these it may know something else.
	Zones []edge.Scope
	// Part reports whether it has a part of a state at hand; nil: it has none.
	Part func(sum [sha256.Size]byte) bool
}

// Mark is a moment of the records, by the last change that they had then. The zero value is none.
type Mark struct{ Number, Random int64 }
