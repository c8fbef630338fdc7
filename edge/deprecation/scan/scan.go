// Package scan finds the HTTP calls that people's files and programs make: in
// captures and access logs, in scripts, in API descriptions, in Terraform, in
// collections and recorded interactions, and in source code. It knows formats and
// nothing of what is deprecated: whoever asks matches the calls.
//
//	stats, err := scan.Reader(os.Stdin, "-", scan.Options{Keep: mayMatter}, func(c scan.Call) error {
//		fmt.Println(c.Line, c.Method, c.URL)
//		return nil
//	})
//
// A format is recognised from the name where that says it, and from the first
// 64 KiB. Each format has a package or a file of its own with one interface, text
// in, calls out ([call.Reader]): traffic, shell, terraform, document, source.
// Logs and captures stream in constant memory, however large; documents that must
// be read whole are bounded ([call.Options].MaxDocument). [Dir] reads each file of a
// tree as [Reader] would.
//
// Unreadable is never empty: an input of no known format is an error, and what
// could not be read within a known one is counted in [Stats], with its places.
package scan

import (
	"errors"
	"fmt"
	"io"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/call"
)

// The readers hand these on; see package call.
type (
	// Call is a request that was found.
	Call = call.Call
	// Skip is what could not be read.
	Skip = call.Skip
	// SDK is a client library, with its calls.
	SDK = call.SDK
	// Options of a scan. The zero value recognises the format and keeps every call.
	Options = call.Options
	// Format is a kind of input.
	Format = call.Format
)

// Stats counts what was read.
type Stats struct {
	call.Stats
	Format Format
	Files  int // files of a tree that were read; 0 for a single input
	// Unread counts the files of a tree that could not be read as what they are, by
	// that: "hcl", "har", "larger than the bound".
	Unread map[string]int
}

// Reader hands every call of an input to yield, in the order of the input. It
// reads r once, forwards, and undoes gzip and bzip2. The name is for messages, and
// tells the format where the content does not.
//
// An error of yield stops the scan and is returned as it is. Other errors are
// about the input: [ErrUnrecognised], a document cut short or too long. The Stats
// count what was read until then.
func Reader(r io.Reader, name string, o Options, yield func(Call) error) (Stats, error) {
	return read(r, name, o, false, yield)
}

// errBinary says that a file of a tree is no text.
var errBinary = errors.New("it is no text")

// read reads an input, or a file of a tree, which may be anything.
func read(r io.Reader, name string, o Options, tree bool, yield func(Call) error) (Stats, error) {
	o = o.WithDefaults()
	var stats Stats
	in, err := open(r, max(o.MaxLine, headSize))
	if err != nil {
		return stats, fmt.Errorf("reading %s: %w", name, err)
	}
	if beginning, _ := in.Peek(binaryHead); tree && isBinary(beginning) {
		return stats, errBinary
	}
	format, in, err := choose(in, name, o, tree)
	stats.Format = format
	if err != nil {
		return stats, fmt.Errorf("recognising %s: %w", name, err)
	}
	out := call.NewSink(o, yield)
	err = readerOf(format, name)(in, out)
	stats.Stats = out.Stats
	if out.Stopped != nil {
		return stats, out.Stopped
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("it is cut short: %w", err)
	}
	if err != nil {
		return stats, fmt.Errorf("reading %s as %s: %w", name, format, err)
	}
	return stats, nil
}
