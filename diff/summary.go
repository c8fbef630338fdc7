package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/diff/internal/words"
	"github.com/seawall-dev/seawall/edge"
	"github.com/seawall-dev/seawall/edge/deprecation"
)

// Summary counts zones, and tokens. A zone with several deployments counts once in each
// row that applies to any of them.
type Summary struct {
	Zones       int `json:"zones"`
	InSync      int `json:"in_sync"`
	Changed     int `json:"changed"`
	Weakening   int `json:"weakening"`
	Refused     int `json:"refused"`
	Waiting     int `json:"waiting,omitempty"`   // are refused for some time only, so not among the refused
	Observed    int `json:"observed,omitempty"`  // differ, and are observed only
	PutBack     int `json:"put_back,omitempty"`  // differ, because a revert has put them back
	Undecided   int `json:"undecided,omitempty"` // have what nothing declares and nothing decides on
	Bypassed    int `json:"bypassed,omitempty"`  // have a skip rule that nobody has accepted
	Blocked     int `json:"blocked"`
	NotDeployed int `json:"not_deployed"`
	Unknown     int `json:"unknown"`
	Forbidden   int `json:"forbidden"`

	Tokens         int `json:"tokens"`           // declared
	TokensToCreate int `json:"tokens_to_create"` // and not refused, as with those that follow
	TokensToUpdate int `json:"tokens_to_update"`
	TokensToDelete int `json:"tokens_to_delete"`
}

// Sealed returns the plan counted and with its digest: the last step.
func (p Plan) Sealed() Plan {
	p = p.Counted()
	p.Digest = p.digest()
	return p
}

// WithChanges is the plan with other changes, counted anew; one that has a digest gets
// another.
func (p Plan) WithChanges(changes []Change) Plan {
	p.Changes = changes
	return p.Resealed()
}

// Resealed returns the plan counted anew, and with a new digest where it has one.
func (p Plan) Resealed() Plan {
	if p.Digest == "" {
		return p.Counted()
	}
	return p.Sealed()
}

// Counted returns the plan with its summary and its requests counted. It leaves out
// the digest, which takes longer than the rest of a plan of one zone that is not
// shown.
func (p Plan) Counted() Plan {
	p.Summary = p.summarise()
	p.Requests.ToApply = p.RequestsFor(func(Change) bool { return true })
	return p
}

// RequestsFor is how many requests it takes to apply those of the changes that are meant.
func (p Plan) RequestsFor(meant func(Change) bool) (n int64) {
	for _, c := range p.Changes {
		if c.Applies() && meant(c) {
			n += c.Operation.Requests()
		}
	}
	return n
}

// digest is that of the JSON of all of the plan that does not change by itself. The
// changes may be many, so they are written one by one.
func (p Plan) digest() string {
	p.Deprecations = []deprecation.Notice{} // days left change by themselves
	p.Digest, p.GeneratedAt, p.Expiries, p.Holds, p.DryRun, p.Kept, p.Renames, p.Names = "", time.Time{}, nil, nil, nil, nil, nil, nil
	p.Bypasses, p.NotLookedAt, p.Remarks = nil, nil, nil                          // what needs a person is a problem, too
	p.Summary.Refused, p.Summary.Waiting = p.Summary.Refused+p.Summary.Waiting, 0 // time alone changes which
	p.Requests = Requests{ToApply: p.Requests.ToApply}                            // the rest is about the run, and not about what it would do
	changes := p.Changes
	p.Changes = []Change{}
	const none = `"changes":[]`
	head, tail, _ := bytes.Cut(words.JSON(p), []byte(none))
	sum := sha256.New()
	sum.Write(head)
	sum.Write([]byte(none[:len(none)-1]))
	for i, c := range changes {
		if i > 0 {
			sum.Write([]byte(","))
		}
		sum.Write(words.JSON(c))
	}
	sum.Write([]byte("]"))
	sum.Write(tail)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// The rows of a summary that count zones: a zone counts once in a row.
const (
	rowChanged = 1 << iota
	rowWeakening
	rowRefused
	rowWaiting
	rowObserved
	rowPutBack
	rowUndecided
	rowBypassed
	rowBlocked
	rowNotDeployed
	rowUnknown
	rowForbidden
	rowOther // not in sync, and in no other row
)

// rowsOf are the rows in which a change of a zone counts.
func rowsOf(c Change) int {
	switch {
	case c.Refused.Observed():
		return rowObserved
	case c.Refused.PutBack():
		return rowPutBack
	case c.Refused.WaitsForTime():
		return rowWaiting
	case c.Refused != nil:
		return rowRefused
	case c.Direction == Weakens:
		return rowChanged | rowWeakening
	}
	return rowChanged
}

// row is that in which a problem of a zone counts.
func (s ProblemState) row() int {
	switch s {
	case Refused:
		return rowRefused
	case Undecided:
		return rowUndecided
	case Bypassed:
		return rowBypassed
	case Blocked:
		return rowBlocked
	case NotDeployed:
		return rowNotDeployed
	case Unknown:
		return rowUnknown
	case Forbidden:
		return rowForbidden
	default:
		return rowOther
	}
}

func (p Plan) summarise() Summary {
	zones := map[edge.Scope]int{} // the rows of each
	tokens := map[Action]int{}    // to create, update and delete
	for _, c := range p.Changes {
		switch {
		case c.Level() != edge.LevelCredential:
			zones[c.Scope] |= rowsOf(c)
		case c.Applies():
			tokens[callOf(c)]++
		}
	}
	for _, problem := range p.Problems {
		if !problem.Scope.IsZero() {
			zones[problem.Scope] |= problem.State.row()
		}
	}
	count := func(row int) (n int) {
		for _, rows := range zones {
			if rows&row != 0 {
				n++
			}
		}
		return n
	}
	return Summary{
		Zones:       p.Summary.Zones,
		InSync:      p.Summary.Zones - len(zones),
		Changed:     count(rowChanged),
		Weakening:   count(rowWeakening),
		Refused:     count(rowRefused),
		Waiting:     count(rowWaiting),
		Observed:    count(rowObserved),
		PutBack:     count(rowPutBack),
		Undecided:   count(rowUndecided),
		Bypassed:    count(rowBypassed),
		Blocked:     count(rowBlocked),
		NotDeployed: count(rowNotDeployed),
		Unknown:     count(rowUnknown),
		Forbidden:   count(rowForbidden),

		Tokens:         p.Summary.Tokens,
		TokensToCreate: tokens[ActionCreate], TokensToUpdate: tokens[ActionUpdate], TokensToDelete: tokens[ActionDelete],
	}
}

// callOf is the call that a change of a token makes: a token that replaces another is created.
func callOf(c Change) Action {
	if c.Creates() {
		return ActionCreate
	}
	return c.Action()
}

// String is the summary in one line, rows that are zero left out.
func (s Summary) String() string {
	parts := []string{}
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(s.InSync, "in sync")
	add(s.Changed, "to change")
	add(s.Weakening, "of them weakening")
	add(s.Refused, "refused")
	add(s.Waiting, "waiting")
	add(s.Observed, "observed only")
	add(s.PutBack, "put back by a revert")
	add(s.Undecided, "undecided")
	add(s.Bypassed, "bypassed")
	add(s.Blocked, "blocked")
	add(s.NotDeployed, "not deployed")
	add(s.Unknown, "unknown")
	add(s.Forbidden, "forbidden")
	text := words.Count(s.Zones, "zone", "zones")
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	if s.Tokens > 0 {
		text += "; " + words.Count(s.Tokens, "token", "tokens")
	}
	for _, row := range []struct {
		n    int
		what string
	}{{s.TokensToCreate, "create"}, {s.TokensToUpdate, "update"}, {s.TokensToDelete, "delete"}} {
		if row.n > 0 {
			text += fmt.Sprintf(", %d to %s", row.n, row.what)
		}
	}
	return text
}
