package wire

import (
	"bytes"
	"encoding/json"

	"github.com/seawall-dev/seawall/edge"
)

// Note is one of an envelope's messages, which tell something beside a result (reference,
// "Response envelope").
type Note struct {
	Code int // 0 for none
	Text string
}

// mostNotes bounds how many messages of one answer are read.
const mostNotes = 8

// Notes are the messages of an answer, each without secrets and as [Excerpt] shows it. Their shape is not in the
// reference: those that are texts count, too, and others are left out. An answer without any
// is not decoded for it.
func (r Response) Notes() (notes []Note) {
	if !mayHaveNotes(r.Body) {
		return nil
	}
	var env struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(r.Body, &env) != nil {
		return nil
	}
	for _, raw := range env.Messages[:min(len(env.Messages), mostNotes)] {
		var m struct {
			Message string `json:"message"`
		}
		var code struct {
			Code int `json:"code"`
		}
		if json.Unmarshal(raw, &m) != nil && json.Unmarshal(raw, &m.Message) != nil {
			continue
		}
		_ = json.Unmarshal(raw, &code) // none where it is no number
		if text := Excerpt([]byte(edge.Redact(m.Message))); text != "" {
			notes = append(notes, Note{code.Code, text})
		}
	}
	return notes
}

// mayHaveNotes reports whether any member messages is a list that is not empty.
func mayHaveNotes(body []byte) bool {
	const space = " \t\r\n"
	for {
		_, after, found := bytes.Cut(body, []byte(`"messages"`))
		if !found {
			return false
		}
		body = after
		rest, isMember := bytes.CutPrefix(bytes.TrimLeft(body, space), []byte(":"))
		rest, isList := bytes.CutPrefix(bytes.TrimLeft(rest, space), []byte("["))
		if isMember && isList && !bytes.HasPrefix(bytes.TrimLeft(rest, space), []byte("]")) {
			return true
		}
	}
}
