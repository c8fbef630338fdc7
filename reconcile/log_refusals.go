package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/seawall-dev/seawall/diff"
	"github.com/seawall-dev/seawall/edge"
)

// LogMemory remembers over a restart what a [Logger] has written of the changes of a zone
// that guards refuse.
type LogMemory interface {
	// Logged returns a digest for each zone with some, and one under the empty id for tokens.
	Logged(ctx context.Context) (map[edge.Scope]string, error)
	// NoteLogged records the digest of a zone; an empty one is none.
	NoteLogged(ctx context.Context, zone edge.Scope, digest string) error
}

// refusals are what is known of them. Whatever fails, or is not known, has them logged once
// more: one that is new is always logged.
type refusals struct {
	logged  map[edge.Scope]string // as the memory has it; nil until it was read
	as      int                   // changes of this turn whose lines are of an earlier process
	cut     bool                  // a line of this look found no room
	recalls bool                  // the look is the first one at its zone, and finds what was logged before
}

// recall begins a look at a zone, or the tokens.
func (l *Logger) recall(ctx context.Context, r Report) {
	l.refusals.cut, l.refusals.recalls = false, false
	if l.Memory == nil || !r.Slice {
		return
	}
	if l.refusals.logged == nil {
		logged, err := l.Memory.Logged(ctx)
		if err != nil {
			return
		}
		l.refusals.logged = logged
	}
	_, looked := l.said[r.Zone.String()]
	before := l.refusals.logged[r.Zone]
	l.refusals.recalls = !looked && before != "" && before == refusedDigest(r.Plan.Changes)
}

// remember ends it. What found no room in the log is not remembered.
func (l *Logger) remember(ctx context.Context, r Report) {
	if l.Memory == nil || !r.Slice || l.refusals.logged == nil || r.Told && len(r.Plan.Problems) > 0 {
		return
	}
	digest := refusedDigest(r.Plan.Changes)
	if l.refusals.cut {
		digest = ""
	}
	l.noteLogged(ctx, r.Zone, digest)
}

func (l *Logger) noteLogged(ctx context.Context, zone edge.Scope, digest string) {
	if l.refusals.logged[zone] == digest {
		return
	}
	if err := l.Memory.NoteLogged(ctx, zone, digest); err != nil {
		l.Log.DebugContext(ctx, "what was logged could not be put on record", "error", err.Error())
		return
	}
	if l.refusals.logged[zone] = digest; digest == "" {
		delete(l.refusals.logged, zone)
	}
}

// refusedDigest is the same for the same refused changes: a change of what would be written,
// or of the guard, is another one. It is empty where there is none.
func refusedDigest(changes []diff.Change) string {
	var lines []string
	for _, c := range changes {
		if c.Refused != nil {
			lines = append(lines, c.Fingerprint()+" "+refusalOf(c))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

// endTurn says how many refused changes were not repeated, and forgets zones in which nothing
// stands out, or that are not declared any more.
func (l *Logger) endTurn(ctx context.Context, stand map[string]bool) {
	if l.refusals.as > 0 {
		l.Log.InfoContext(ctx, "changes are refused as was logged before", "refused", l.refusals.as)
		l.refusals.as = 0
	}
	for _, zone := range slices.Collect(maps.Keys(l.refusals.logged)) {
		if !stand[zone.String()] {
			l.noteLogged(ctx, zone, "")
		}
	}
}
