package scan

// Stats counts what was read. What was skipped is part of every honest report:
// "no notices" over a file of which half was unreadable would be a lie.
type Stats struct {
	Format  Format
	Files   int // files of a tree that were read; 0 for a single input
	Lines   int // lines read; records where the format has no lines
	Calls   int // calls, or literals, that were handed on
	Skipped int // lines, records or files that could not be read
	// First holds the first skipped places, at most ten.
	First []Skip
}

// Skip is a place that could not be read, and why. It never quotes the place: a
// line of a script may hold a secret.
type Skip struct {
	File   string // in a tree, with slashes; empty for a single input
	Line   int    // from 1; 0 where the format has none
	Reason string
}

// firstSkips is how many skipped places are remembered.
const firstSkips = 10

// sink is where the parsers of all formats put what they find.
type sink struct {
	o       Options
	yield   func(Call) error
	stats   Stats
	stopped error // what yield said to stop
	// Of logs in JSON: records read, and those that name a path or an address.
	records, named int
}

func (s *sink) keeps(target []byte) bool { return s.o.Keep == nil || s.o.Keep(target) }

// offer hands a call on unless it is rejected.
func (s *sink) offer(c Call) error {
	more := s.o.KeepWhole && (c.Header != nil || c.Body != nil)
	if !s.keeps([]byte(c.URL)) && !more {
		return nil
	}
	return s.give(c)
}

// give hands a call on that is known to be kept.
func (s *sink) give(c Call) error {
	s.stats.Calls++
	c.URL = withoutUser(c.URL)
	s.stopped = s.yield(c)
	return s.stopped
}

func (s *sink) skip(line int, reason string) { s.stats.skip(Skip{Line: line, Reason: reason}) }

func (s *Stats) skip(place Skip) {
	s.Skipped++
	if len(s.First) < firstSkips {
		s.First = append(s.First, place)
	}
}
