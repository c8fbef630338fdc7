package show

import (
	"github.com/seawall-dev/seawall/desired"
	"github.com/seawall-dev/seawall/desired/evaluate"
	"github.com/seawall-dev/seawall/desired/gitrepo"
	"github.com/seawall-dev/seawall/reconcile/inspect"
)

// Places are those to trace, each once: of the declaration, its parts and its values.
func (s *Shown) Places() (places []desired.Origin) {
	seen := map[desired.Origin]bool{}
	s.each(func(at desired.Origin, _ *Member) {
		if !at.IsZero() && !seen[at] {
			seen[at] = true
			places = append(places, at)
		}
	})
	return places
}

func (s *Shown) each(do func(at desired.Origin, m *Member)) {
	do(s.Origin, nil)
	for i, part := range s.Parts {
		do(part.Origin, nil)
		for j := range part.Members {
			if m := &s.Parts[i].Members[j]; m.Origin != nil {
				do(*m.Origin, m)
			}
		}
	}
}

// Trace adds where values come from: found has an answer for each of places.
func (s *Shown) Trace(places []desired.Origin, found evaluate.Origins) {
	of := make(map[desired.Origin]evaluate.Provenance, len(places))
	for i, at := range places {
		of[at] = found.Places[i]
	}
	s.each(func(at desired.Origin, m *Member) {
		if m != nil {
			m.Tier, m.Changed = of[at].Shared, changedOf(of[at].Line)
		}
	})
	s.Changed = Newest(found)
	switch {
	case found.Unread != "":
		s.HistoryUnknown = found.Unread
	case s.Changed == nil:
		s.HistoryUnknown = "the folder is not in a git repository"
	}
}

// Newest is the newest change of declarations, and of what they share with others; nil where
// no history is known.
func Newest(found evaluate.Origins) *inspect.Changed {
	var newest *gitrepo.LastChange
	for _, p := range found.Places {
		switch c := p.Part; {
		case c == nil || newest != nil && newest.Uncommitted:
		case newest == nil, c.Uncommitted, c.Time.After(newest.Time):
			newest = c
		}
	}
	return changedOf(newest)
}

func changedOf(c *gitrepo.LastChange) *inspect.Changed {
	if c == nil {
		return nil
	}
	return &inspect.Changed{Commit: c.Hash, Author: c.Author, Time: c.Time, Subject: c.Subject, Uncommitted: c.Uncommitted, Earlier: c.Cut}
}
