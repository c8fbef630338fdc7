package diff

import (
	"fmt"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/desired"
)

// Field is one member that differs between live and desired. An Old or New of
// nil is a member that is not there, which is not the same as false.
type Field struct {
	Path      Member          `json:"path"`
	Old       any             `json:"old,omitempty"`
	New       any             `json:"new,omitempty"`
	Direction Direction       `json:"direction"`
	Origin    *desired.Origin `json:"origin,omitempty"`
	Note      string          `json:"note,omitempty"` // which rule a path with an id is about
	Rule      RuleNote        `json:"-"`              // what Note begins with, where it is about a rule
}

// RuleNote says which rule of a managed ruleset a member is about.
type RuleNote struct {
	About   string // its description, or its ref
	Default string // the value without an override; empty where the member has one
	Last    bool   // it is the last rule, which has the threshold
}

// String is the beginning of the note in JSON and in digests, which never changes.
func (n RuleNote) String() string {
	text := n.About
	if n.Last {
		text = "last rule: " + text
	}
	if n.Default != "" {
		text = "default " + n.Default + "; " + text
	}
	return text
}

// NoteText is the note as a person reads it.
func (f Field) NoteText() string {
	rest, ok := strings.CutPrefix(f.Note, f.Rule.String())
	if !ok || f.Rule.About == "" {
		return f.Note
	}
	text := fmt.Sprintf("rule %q", f.Rule.About)
	if f.Rule.Default != "" {
		text += "; without override: " + f.Rule.Default
	}
	return text + rest
}

// Removes reports whether an override member goes.
func (f Field) Removes() bool {
	return f.New == nil && f.Old != nil && strings.HasPrefix(string(f.Path), "overrides.")
}

// NotKept says what the platform did with a change that left these fields, and what a
// person can do about it.
func NotKept(left []Field) (reason, hint string) {
	var kept, others []string
	for _, f := range left {
		if f.Removes() {
			kept = append(kept, f.Path.Subject())
		} else {
			others = append(others, f.still())
		}
	}
	if len(kept) == 0 {
		return "the platform did not keep it: " + strings.Join(others, ", "), ""
	}
	reason = "the platform keeps what an update leaves out, and cannot be told to remove " + strings.Join(kept, ", ")
	if len(others) > 0 {
		reason += "; nor did it keep " + strings.Join(others, ", ")
	}
	return reason, "remove it on the platform, or declare the value that it should have"
}

// longestStill is how long a text may be that still says of a value: what stands in an
// expression may be confidential.
const longestStill = 24

// still says which value a member has in place of the one that was sent.
func (f Field) still() string {
	if f.Old == nil {
		return f.Path.Subject() + " is still not set"
	}
	switch value := fmt.Sprint(f.Old); {
	case len(value) > longestStill, strings.ContainsAny(value, "[{ \"\n"):
		return f.Path.Subject()
	default:
		return f.Path.Subject() + " is still " + value
	}
}

// Try says when a change was sent that the platform did not keep, and when it is sent again.
type Try struct{ At, Next time.Time }

// Leftover is a member that is live, that no declaration owns, and that changes
// something.
type Leftover struct {
	Path  Member `json:"path"`
	Value any    `json:"value"`
	Was   any    `json:"was,omitempty"`  // when it was last proved, where that is on record and not Value
	Note  string `json:"note,omitempty"` // which rule a path with an id is about
}

// Right is one difference in the effective rights of a token.
type Right struct {
	Text      string    `json:"text"`
	Direction Direction `json:"direction"`
}

// Direction says what a change does to protection.
type Direction string

// The directions. What cannot be shown to be harmless weakens.
const (
	Strengthens Direction = "strengthens"
	Weakens     Direction = "weakens"
	Neutral     Direction = "neutral"
)

// Combine returns the direction of several changes that come together: one
// that weakens is not made up for by another that strengthens.
func Combine(directions ...Direction) Direction {
	all := Neutral
	for _, d := range directions {
		switch {
		case d == Weakens:
			return Weakens
		case d == Strengthens:
			all = Strengthens
		}
	}
	return all
}
