// Package scan finds the HTTP calls that people's files and programs make: in
// captures and access logs, in scripts, in API descriptions, in Terraform plans
// and in the string literals of source code. It knows formats and nothing of
// what is deprecated: whoever asks matches the calls.
//
//	stats, err := scan.Reader(os.Stdin, "-", scan.Options{Keep: mayMatter}, func(c scan.Call) error {
//		fmt.Println(c.Line, c.Method, c.URL)
//		return nil
//	})
//
// A format is recognised from the first 64 KiB, and from the name only where
// these say nothing. Logs and captures stream in constant memory, however large;
// documents that must be read whole are bounded ([Options].MaxDocument).
//
// Unreadable is never empty: an input of no known format is an error, and what
// could not be read within a known one is counted in [Stats], with its places.
//
// What an address leaves open (a variable, a parameter) is written "{}", one path
// segment: /zones/{}/firewall/rules. Nothing secret is handed on: passwords in
// addresses are dropped and the values of headers that carry credentials are
// replaced. Bodies are handed on as they are.
package scan

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Call is one HTTP call that an input shows, or that its owner's program makes.
type Call struct {
	Method string // upper case
	// URL is absolute, or begins with a slash where the host is not known. In
	// logs and captures it is what was sent; elsewhere "{}" stands for what is
	// left open.
	URL    string
	Header http.Header // nil where the format has none; values of secret ones are replaced
	Body   []byte      // nil where there is none, or it is not known; not necessarily JSON
	// Line counts from 1 in the input, decompressed. 0 where the format has none.
	Line int
	// Address names the resource in a Terraform document, as Terraform writes
	// it: module.edge.cloudflare_filter.bots["de"].
	Address string
}

// Options of a scan. The zero value recognises the format and keeps every call.
type Options struct {
	// Format is read without recognising; the zero value recognises.
	Format Format
	// Keep rejects early: a call whose target (path or URL with its query, as it
	// stands in the input, escapes of the format undone) it refuses is dropped
	// before the rest of its line is looked at. It must not keep the slice. It may
	// say yes to too much, never no to too little. Nil keeps all.
	Keep func(target []byte) bool
	// KeepWhole hands on calls that are known to have a header or a body whatever
	// Keep says of their target: for rules that are about those alone.
	KeepWhole bool
	// MaxLine bounds one line of a log, one record and one request body, in bytes.
	// Longer ones are skipped whole, and counted. 0 is 1 MiB.
	MaxLine int
	// MaxDocument bounds what must be read whole: API descriptions and scripts.
	// Longer ones are an error. 0 is 64 MiB.
	MaxDocument int64
	// MaxFile bounds the files of a source tree ([Dir]). Longer ones are skipped
	// and counted. 0 is 4 MiB.
	MaxFile int64
}

func (o Options) withDefaults() Options {
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

// Reader hands every call of an input to yield, in the order of the input. It
// reads r once, forwards, and undoes gzip and bzip2. The name is for messages,
// and a hint at the format where the content gives none.
//
// An error of yield stops the scan and is returned as it is. Other errors are
// about the input: [ErrUnrecognised], a document cut short or too long. The Stats
// count what was read until then.
func Reader(r io.Reader, name string, o Options, yield func(Call) error) (Stats, error) {
	o = o.withDefaults()
	s := &sink{o: o, yield: yield}
	in, err := open(r, max(o.MaxLine, headSize))
	if err != nil {
		return s.stats, fmt.Errorf("reading %s: %w", name, err)
	}
	format, in, err := choose(in, name, o)
	s.stats.Format = format
	if err != nil {
		return s.stats, fmt.Errorf("recognising %s: %w", name, err)
	}
	err = parsers[format](in, s)
	if s.stopped != nil {
		return s.stats, s.stopped
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("it is cut short: %w", err)
	}
	if err != nil {
		return s.stats, fmt.Errorf("reading %s as %s: %w", name, format, err)
	}
	return s.stats, nil
}

// parsers holds the reader of each format.
var parsers = map[Format]func(*bufio.Reader, *sink) error{
	Empty:     func(*bufio.Reader, *sink) error { return nil },
	HAR:       readHAR,
	AccessLog: readAccessLog,
	Records:   readRecords,
	Shell:     readShell,
	OpenAPI:   readOpenAPI,
	Terraform: readTerraform,
	Plain:     readPlain,
}
