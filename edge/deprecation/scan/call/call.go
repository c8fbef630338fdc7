// Package call holds what the readers of all formats share: the [Call] they find,
// the [Sink] they hand it to, and the one form in which addresses are written.
//
// Every format is a [Reader]: text in, calls with their positions out. What an
// address leaves open (a variable, a parameter) is written [Open], one path
// segment: /zones/{}/firewall/rules. Nothing secret is handed on: passwords in
// addresses are dropped and the values of headers that carry credentials are
// replaced.
//
// The package knows nothing of what is deprecated, and imports no reader.
package call

import (
	"bufio"
	"net/http"
)

// Reader reads one format and hands every call to the sink, in the order of the
// text. The error is about the text, or [Sink.Stopped].
type Reader func(in *bufio.Reader, out *Sink) error

// Document reads one format of which the text is needed whole, as [Reader] does.
type Document func(text []byte, out *Sink) error

// Whole is a document's reader.
func Whole(read Document) Reader {
	return func(in *bufio.Reader, out *Sink) error {
		text, err := ReadWhole(in, out.MaxDocument)
		if err != nil {
			return err
		}
		out.Stats.Lines = CountLines(text)
		return read(text, out)
	}
}

// Call is one HTTP call that an input shows, or that its owner's program makes.
type Call struct {
	// Method is upper case. It is empty where only an address is known, as for a
	// string literal of source code.
	Method string
	// URL is absolute, or begins with a slash where the host is not known. In
	// logs and captures it is what was sent; elsewhere "{}" stands for what is
	// left open.
	URL      string
	Header   http.Header // nil where the format has none; values of secret ones are replaced
	Body     []byte      // nil where there is none, or it is not known; not necessarily JSON
	Response *Response   // nil where none was recorded
	// Line counts from 1 in the input, decompressed. 0 where the format has none.
	Line int
	// Span is the text that makes the call, where it stands in one piece.
	Span Span
	// Address names the resource in a Terraform document, as Terraform writes
	// it: module.edge.cloudflare_filter.bots["de"].
	Address string
}

// Response is a recorded answer.
type Response struct {
	Header http.Header // nil where none was recorded; values of secret ones are replaced
	Body   []byte
}

// Span is a part of an input in bytes, decompressed: from From to before To. The
// zero value is no part.
type Span struct{ From, To int }
