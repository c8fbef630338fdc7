package call

import (
	"fmt"
	"io"
)

// Format is a kind of input. Its text is the name for people and for a flag.
type Format string

// Options of a scan. The zero value recognises the format and keeps every call.
type Options struct {
	// Format is read without recognising; the zero value recognises.
	Format Format
	// Keep rejects early: a call whose target (path or URL with its query, as it
	// stands in the input, escapes of the format undone) it refuses is dropped
	// before the rest of its line is read. It must not keep the slice. It may
	// say yes to too much, never no to too little. Several goroutines may ask it at once.
	// Nil keeps all.
	Keep func(target []byte) bool
	// KeepWhole hands on calls that are known to have a header or a body whatever
	// Keep says of their target: for rules that are about those alone.
	KeepWhole bool
	// MaxLine bounds one line of a log, one record, one request body and one
	// answer, in bytes. Longer ones are skipped whole, and counted. 0 is 1 MiB.
	MaxLine int
	// MaxDocument bounds what must be read whole: API descriptions, scripts and
	// source code. Longer ones are an error. 0 is 64 MiB.
	MaxDocument int64
	// Open returns a file that an input names, relative to the input: the body of
	// curl's --data @file. Nil, or an error, leaves it open.
	Open func(name string) ([]byte, error)
	// SDKs are the client libraries whose methods stand for calls.
	SDKs []SDK
	// MaxFile bounds the files of a tree that must be read whole. Longer ones are skipped
	// and counted. 0 is 4 MiB.
	MaxFile int64
	// KeepFile rejects files of a tree by their whole text, which it must not keep. It may
	// say yes to too much, never no to too little. Nil keeps all.
	KeepFile func(text []byte) bool
	// Progress is called before each file of a tree with how many were read and how many
	// bytes of them. Nil: never.
	Progress func(name string, files int, bytes int64)
}

// WithDefaults returns the options with the bounds that are not set.
func (o Options) WithDefaults() Options {
	if o.MaxLine <= 0 {
		o.MaxLine = 1 << 20
	}
	if o.MaxDocument <= 0 {
		o.MaxDocument = 64 << 20
	}
	if o.MaxFile <= 0 {
		o.MaxFile = 4 << 20
	}
	return o
}

// SDK is one client library: its methods, and the calls that they make.
type SDK struct {
	Name     string   `json:"name"`     // for people
	Language string   `json:"language"` // go, python or javascript
	Imports  []string `json:"imports"`  // how the import of its package begins
	// Calls says for the method, written as in code without the client's name
	// (dns.records.list), the call: "GET /zones/{zone_id}/dns_records". Methods
	// are compared without case and underscores.
	Calls map[string]string `json:"calls"`
}

// Stats counts what was read. What was skipped is part of every honest report:
// "no notices" over a file of which half was unreadable would be a lie.
type Stats struct {
	Lines   int // lines read; records where the format has no lines
	Targets int // addresses that Keep was asked about
	Calls   int // calls that were handed on
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

// FirstSkips is how many skipped places are remembered.
const FirstSkips = 10

// Skip counts a place that could not be read.
func (s *Stats) Skip(place Skip) {
	s.Skipped++
	if len(s.First) < FirstSkips {
		s.First = append(s.First, place)
	}
}

// Sink is where the readers of all formats put what they find.
type Sink struct {
	Options
	Stats   Stats
	Stopped error // what yield said to stop
	yield   func(Call) error
}

// NewSink returns a sink that hands calls to yield. An error of yield stops the
// reader.
func NewSink(o Options, yield func(Call) error) *Sink {
	return &Sink{Options: o.WithDefaults(), yield: yield}
}

// Keeps reports whether a target is of interest.
func (s *Sink) Keeps(target []byte) bool {
	s.Stats.Targets++
	return s.Keep == nil || s.Keep(target)
}

// Offer hands a call on unless it is rejected.
func (s *Sink) Offer(c Call) {
	more := s.KeepWhole && (c.Header != nil || c.Body != nil)
	if s.Keeps([]byte(c.URL)) || more {
		s.Give(c)
	}
}

// Literal hands an address on that nothing shows to be called, unless it is
// rejected.
func (s *Sink) Literal(c Call) {
	if s.Keep == nil || s.Keep([]byte(c.URL)) {
		s.Give(c)
	}
}

// Give hands a call on that is known to be kept, unless the reading was stopped: readers go
// on to the end of what they have in hand.
func (s *Sink) Give(c Call) {
	if s.Stopped != nil {
		return
	}
	s.Stats.Calls++
	c.URL = WithoutUser(c.URL)
	s.Stopped = s.yield(c)
}

// Skip counts a place that could not be read.
func (s *Sink) Skip(line int, reason string) { s.Stats.Skip(Skip{Line: line, Reason: reason}) }

// ReadWhole returns what is left of a document, and an error where that is more
// than the bound, in bytes.
func ReadWhole(r io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("it is longer than %d MiB, and must be read whole", limit>>20)
	}
	return text, nil
}
