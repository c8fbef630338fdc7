package diff

import (
	"github.com/seawall-dev/seawall/diff/internal/words"
)

// DryRun says which changes of a plan the platform was asked about: whether it would
// accept them. Those that it would not are refused ([GuardDryRun]).
type DryRun struct {
	Tried    int      `json:"tried"`
	NotTried []string `json:"not_tried,omitempty"` // the names of changes
	Reason   string   `json:"reason,omitempty"`    // why those were not tried
}

// notTriedShown is how many changes that were not tried are named in a text.
const notTriedShown = 3

// String is the line of all renderers.
func (d DryRun) String() string {
	text := "dry run: the platform was asked about " + words.Count(d.Tried, "change", "changes")
	if len(d.NotTried) == 0 {
		return text
	}
	return text + "; not about " + words.First(d.NotTried[:min(len(d.NotTried), notTriedShown)], len(d.NotTried)) + ": " + d.Reason
}
