// Package search finds in files and trees what the deprecation calendar concerns:
// it has them read (package scan), keeps the requests to the platform's hosts,
// matches them (package deprecation), and collects the findings (package report).
//
//	s := search.Search{Matcher: m, Day: day, Hosts: search.Hosts{Names: clients.Hosts}, Collector: c}
//	input, err := s.Tree(os.DirFS("src"), "src")
//
// It reads no clock and opens nothing but what it is given.
package search

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seawall-dev/seawall/edge/deprecation"
	"github.com/seawall-dev/seawall/edge/deprecation/report"
	"github.com/seawall-dev/seawall/edge/deprecation/scan"
)

// Search is what is looked for, and where the findings go.
type Search struct {
	Matcher   *deprecation.Matcher
	Day       time.Time
	Hosts     Hosts
	Collector *report.Collector
	SDKs      []deprecation.SDK
	// Format is read without recognising; the zero value recognises.
	Format scan.Format
	// Open reads a file that an input names, relative to it; nil leaves it open.
	Open func(name string) ([]byte, error)
	// Progress is called for each file of a tree; nil: never.
	Progress func(name string, files int, bytes int64)
	// Found is called with each call that has notices; nil: never.
	Found func(file string, c scan.Call, notices []deprecation.Notice)
}

// ErrNothing says that an input has nothing that could be examined: no notices of
// it would be no news.
var ErrNothing = errors.New("nothing in it could be read")

// Reader searches one input. The error is about the input; what was found until
// then is collected.
func (s *Search) Reader(r io.Reader, name string) (report.Input, error) {
	in := report.Input{Name: name}
	o := s.options()
	o.Format, o.Open = s.Format, s.Open
	stats, err := scan.Reader(r, name, o, func(c scan.Call) error {
		s.call(&in, name, c)
		return nil
	})
	fill(&in, stats)
	if err == nil && in.Skipped > 0 && in.Calls == 0 {
		err = fmt.Errorf("%w: %s", ErrNothing, in.Skips[0].Reason)
	}
	return in, err
}

// Tree searches the files of a tree. Their names begin with the tree's.
func (s *Search) Tree(fsys fs.FS, name string) (report.Input, error) {
	in := report.Input{Name: name}
	o := s.options()
	o.KeepFile = func(text []byte) bool { // a call, or an import or a resource of the vendor's
		return s.Matcher.MayHold(text) || len(s.SDKs) > 0 && bytes.Contains(text, []byte("cloudflare"))
	}
	o.Progress = s.Progress
	stats, err := scan.Dir(fsys, o, func(file string, c scan.Call) error {
		s.call(&in, path.Join(name, file), c)
		return nil
	})
	fill(&in, stats)
	switch {
	case err != nil:
	case in.Files == 0 && in.Skipped > 0:
		err = fmt.Errorf("%w: %s, and %d in all", ErrNothing, in.Skips[0].Reason, in.Skipped)
	case in.Files == 0:
		err = fmt.Errorf("%w: the folder has no text files", ErrNothing)
	}
	return in, err
}

func (s *Search) options() scan.Options {
	o := scan.Options{KeepWhole: true, Keep: s.Matcher.MayMatch}
	for _, sdk := range s.SDKs {
		o.SDKs = append(o.SDKs, scan.SDK(sdk))
	}
	return o
}

func fill(in *report.Input, stats scan.Stats) {
	in.Format, in.Files, in.Lines, in.Calls, in.Skipped = string(stats.Format), stats.Files, stats.Lines, max(stats.Targets, stats.Calls), stats.Skipped
	for _, s := range stats.First {
		in.Skips = append(in.Skips, report.Skip{File: s.File, Line: s.Line, Reason: s.Reason})
	}
	for as, n := range stats.Unread {
		in.Unread = append(in.Unread, report.Unread{As: as, Files: n})
	}
	slices.SortFunc(in.Unread, func(a, b report.Unread) int { return strings.Compare(a.As, b.As) })
}

// call matches one call and collects what that says.
func (s *Search) call(in *report.Input, file string, c scan.Call) {
	notices := s.Notices(c)
	if len(notices) == 0 {
		return
	}
	if !s.Hosts.Allow(c.URL) {
		in.OtherHosts++
		return
	}
	req := request(c)
	s.Collector.Add(notices, report.Seen{Request: req, Where: deprecation.Where{File: file, Line: c.Line}, Address: c.Address})
	if s.Found != nil {
		s.Found(file, c, notices)
	}
}

func request(c scan.Call) deprecation.Request {
	return deprecation.Request{Method: c.Method, URL: c.URL, Header: c.Header, Body: c.Body}
}

// Notices are what the calendar says of a call, of its answer, and of an address
// whose method is not known.
func (s *Search) Notices(c scan.Call) []deprecation.Notice {
	if c.Method == "" {
		return s.Matcher.MatchPath(c.URL, s.Day)
	}
	notices := s.Matcher.Match(request(c), s.Day)
	if c.Response == nil {
		return notices
	}
	answer := deprecation.Response{Header: c.Response.Header, Body: c.Response.Body}
	for _, n := range s.Matcher.MatchResponse(request(c), answer, s.Day) {
		if s.Matcher.Calendar().Rule(n.Rule) == nil {
			continue // what the platform announces by itself is no row of the calendar
		}
		// The answer shows what the call alone only may.
		notices = slices.DeleteFunc(notices, func(o deprecation.Notice) bool { return o.Info && o.Rule == n.Rule })
		notices = append(notices, n)
	}
	return notices
}
