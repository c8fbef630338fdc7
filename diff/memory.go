package diff

import (
	"slices"

	"github.com/seawall-dev/seawall/edge"
)

// Memory spares kinds what agreed before and whose inputs are the very same values still: the
// declaration, the entry point's rules and the managed ruleset in the same places of memory,
// and equal records of what was applied. It changes no plan, as long as nobody writes to what
// was planned. Values that are equal and lie elsewhere are compared anew.
//
// The nil Memory remembers nothing. A Memory is not safe for concurrent use.
type Memory struct {
	settled map[ID]*Settlement // pointers: most maps have one entry, and room for eight
	before  map[ID]*Settlement // of the memory it came from, where that was renewed
}

// Settlement is something that agreed, and what that was worked out from.
type Settlement struct {
	Declared any        // a pointer to the declaration
	Rules    *edge.Rule // the first of the entry point
	Count    int        // how many it has
	Managed  *edge.Rule // the first of the managed ruleset; nil for none
	Applied  []Member

	Owned []Member
	Kept  []Leftover
}

// Renew returns a memory that knows all m knows, and in the end holds only what
// is planned with it: the one for a plan of everything.
func (m *Memory) Renew() *Memory {
	next := &Memory{settled: map[ID]*Settlement{}}
	if m != nil {
		next.before = m.settled
	}
	return next
}

// Recall returns how something was settled on the same inputs.
func (m *Memory) Recall(id ID, now Settlement) (*Settlement, bool) {
	if m == nil {
		return nil, false
	}
	s, known := m.settled[id]
	if !known {
		s, known = m.before[id]
	}
	if !known || s.Declared != now.Declared || s.Rules != now.Rules || s.Count != now.Count ||
		s.Managed != now.Managed || !slices.Equal(s.Applied, now.Applied) {
		return nil, false
	}
	m.settled[id] = s
	return s, true
}

// Keep remembers something that agrees.
func (m *Memory) Keep(id ID, s Settlement) {
	if m != nil {
		m.settled[id] = &s
	}
}
