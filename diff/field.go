package diff

import "github.com/seawall-dev/seawall/desired"

// Field is one member that differs between live and desired. An Old or New of
// nil is a member that is not there, which is not the same as false.
type Field struct {
	Path      Member          `json:"path"`
	Old       any             `json:"old,omitempty"`
	New       any             `json:"new,omitempty"`
	Direction Direction       `json:"direction"`
	Origin    *desired.Origin `json:"origin,omitempty"`
	Note      string          `json:"note,omitempty"` // which rule a path with an id is about
}

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
