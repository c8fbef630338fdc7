// Package wire is the one codec of the platform's HTTP interface, shared by
// the client and the simulator so that the two cannot drift apart.
//
// A call travels like this:
//
//	client                                      simulator
//	NewRequest(ctx, method, url, body)   ───▶   DecodeBody(…)
//	Response{…}.Decode(&result)          ◀───   EncodeResult(…) or EncodeError(…), Envelope.Bytes
//
// Reading is strict about the envelope and lenient about what is inside it. A
// 2xx answer counts only when it is whole, is JSON that has one meaning (no key
// twice in an object, all text Unicode), says success and carries a result;
// anything else is [edge.ErrUnreadable] or an [*edge.Error], never an
// empty value. Inside the result the nouns of package edge keep the members
// they do not know.
//
// Tokens are spelt differently by different platforms: a [Dialect] translates.
package wire

import (
	"cmp"
	"encoding/json"

	"github.com/seawall-dev/seawall/edge"
)

// Envelope is what every JSON answer comes in (reference, "Response envelope").
type Envelope struct {
	Result   json.RawMessage    `json:"result"`
	Success  bool               `json:"success"`
	Errors   []edge.ErrorDetail `json:"errors"`
	Messages json.RawMessage    `json:"messages"` // of any shape; nil is written as null, which the platform does on some failures
	Info     *Info              `json:"result_info,omitempty"`
}

// What usual answers have.
var (
	noErrors   = []edge.ErrorDetail{}
	noMessages = json.RawMessage("[]")
)

// Info is the part of an envelope that tells of paging: by a cursor for
// rulesets, by numbers for tokens. What is nil was not said.
type Info struct {
	Page       *int     `json:"page,omitempty"` // counted from 1
	PerPage    *int     `json:"per_page,omitempty"`
	Count      *int     `json:"count,omitempty"` // on this page
	TotalCount *int     `json:"total_count,omitempty"`
	TotalPages *int     `json:"total_pages,omitempty"`
	Cursors    *Cursors `json:"cursors,omitempty"`
	Cursor     string   `json:"cursor,omitempty"` // of the next page, where the vendor's own SDK looks for it
}

// Cursors point at neighbouring pages; an empty After means the last page.
type Cursors struct {
	After string `json:"after,omitempty"`
}

// After returns the cursor of the next page, empty on the last one.
func (e Envelope) After() string {
	switch {
	case e.Info == nil:
		return ""
	case e.Info.Cursors == nil:
		return e.Info.Cursor
	}
	return cmp.Or(e.Info.Cursors.After, e.Info.Cursor)
}

// Bytes encodes the envelope.
func (e Envelope) Bytes() ([]byte, error) { return json.Marshal(e) }

// EncodeResult returns the envelope of a success. Info is nil where there is
// nothing to page through.
func EncodeResult(result any, info *Info) (Envelope, error) {
	raw, err := json.Marshal(result)
	if err != nil {
		return Envelope{}, err
	}
	return Envelope{Result: raw, Success: true, Errors: noErrors, Messages: noMessages, Info: info}, nil
}

// EncodeError returns the envelope of a failure. The status and Retry-After
// belong to the header and are left to the caller.
func EncodeError(e *edge.Error) Envelope {
	return Envelope{Result: json.RawMessage("null"), Errors: append(noErrors, e.Details...), Messages: noMessages}
}
