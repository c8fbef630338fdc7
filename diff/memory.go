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
	settled settlements
	before  settlements // of the memory it came from, where that was renewed
}

// settlements are sorted by id. Most of them have one entry, for which a map would have room for
// eight.
type settlements []settled

type settled struct {
	id ID
	by *Settlement
}

func (s settlements) find(id ID) (at int, found bool) {
	return slices.BinarySearchFunc(s, id, func(s settled, id ID) int { return s.id.Compare(id) })
}

func (s settlements) of(id ID) (*Settlement, bool) {
	if i, found := s.find(id); found {
		return s[i].by, true
	}
	return nil, false
}

func (s *settlements) put(id ID, by *Settlement) {
	i, found := s.find(id)
	if !found {
		*s = slices.Insert(*s, i, settled{id: id})
	}
	(*s)[i].by = by
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
	next := &Memory{}
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
	s, known := m.settled.of(id)
	if !known {
		s, known = m.before.of(id)
	}
	if !known || s.Declared != now.Declared || s.Rules != now.Rules || s.Count != now.Count ||
		s.Managed != now.Managed || !slices.Equal(s.Applied, now.Applied) {
		return nil, false
	}
	m.settled.put(id, s)
	return s, true
}

// Keep remembers something that agrees.
func (m *Memory) Keep(id ID, s Settlement) {
	if m != nil {
		m.settled.put(id, &s)
	}
}
