package traffic

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/seawall-dev/seawall/edge/deprecation/scan/jsontext"
)

// value is a string of a record: the text between its quotes, escapes as they
// stand. text is nil where the record has none; rank is that of the member.
type value struct {
	text []byte
	rank int
}

// found is what a record says about a call.
type found struct{ method, target, query, request value }

// The members that name a call, in the words of many loggers. Names are compared
// without case and without what is not a letter or digit, those of enclosing
// objects first: {"http": {"request": {"method": …}}} is httprequestmethod. Where
// a record has several, the higher rank is taken: a target with its query is
// better than one without.
func (f *found) member(name []byte) (*value, int) {
	switch string(name) {
	case "method", "verb", "httpmethod", "requestmethod", "httprequestmethod", "clientrequestmethod", "httprequestrequestmethod",
		"reqmethod", "jsonpayloadmethod":
		return &f.method, 1
	case "requestpath", "path", "urlpath", "clientrequestpath", "httppath", "httptarget", "requesturlpath", "reqpath":
		return &f.target, 1
	case "uri", "url", "requesturi", "requesturl", "urloriginal", "urlfull", "clientrequesturi", "httprequestrequesturl", "httpurl",
		"requrl", "target", "originalurl", "rawpath":
		return &f.target, 2
	case "query", "querystring", "args", "urlquery", "requestquery":
		return &f.query, 1
	case "request", "requestline", "httprequest":
		return &f.request, 1
	}
	return nil, 0
}

// nesting bounds how deep the objects of a record may lie within each other.
const nesting = 64

var errRecord = errors.New("not a JSON object on one line")

// walker goes through one record without allocating.
type walker struct {
	name   [96]byte // the names of the objects we are in and of the member at hand
	used   int      // how much of it is
	starts [nesting]int
	depth  int // objects and arrays we are in
	arrays int // arrays among them: what is in them is nobody's method
}

// walkRecord finds the members of one JSON object that name a call. It trusts
// the form where it need not look: callers check what they keep.
func walkRecord(text []byte) (found, error) {
	var f found
	if len(text) == 0 || text[0] != '{' {
		return f, errRecord
	}
	w := walker{}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := closingQuote(text, i+1)
			if end < 0 {
				return f, errRecord
			}
			w.string(&f, text, i+1, end)
			i = end
		case '{', '[':
			if !w.open(c == '[') {
				return f, errRecord
			}
		case '}', ']':
			if !w.close(c == ']') {
				return f, errRecord
			}
		}
	}
	if w.depth != 0 {
		return f, errRecord
	}
	return f, nil
}

// closingQuote returns where the string that begins at i ends, -1 if nowhere.
func closingQuote(text []byte, i int) int {
	for {
		j := bytes.IndexByte(text[i:], '"')
		if j < 0 {
			return -1
		}
		end := i + j
		slashes := 0
		for end-1-slashes >= i && text[end-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return end
		}
		i = end + 1
	}
}

func (w *walker) open(list bool) bool {
	if w.depth == nesting {
		return false
	}
	w.starts[w.depth] = w.used
	if list {
		w.arrays++
	}
	w.depth++
	return true
}

func (w *walker) close(list bool) bool {
	if w.depth == 0 {
		return false
	}
	w.depth--
	if list {
		w.arrays--
	}
	// The object's own name ends with it: the level above begins before it.
	w.used = 0
	if w.depth > 0 {
		w.used = w.starts[w.depth-1]
	}
	return true
}

// string takes the string between two quotes: a member's name, or a value.
func (w *walker) string(f *found, text []byte, from, to int) {
	if w.arrays > 0 || w.depth == 0 {
		return
	}
	next := to + 1
	for next < len(text) && jsontext.IsSpace(text[next]) {
		next++
	}
	if next < len(text) && text[next] == ':' {
		w.rename(text[from:to])
		return
	}
	if v, rank := f.member(w.name[:w.used]); v != nil && rank > v.rank {
		*v = value{text[from:to], rank}
	}
}

// rename puts a member's name behind those of the objects it is in.
func (w *walker) rename(name []byte) {
	n := w.starts[w.depth-1]
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			if n == len(w.name) {
				n = 0 // no name of ours is that long
				break
			}
			w.name[n] = c
			n++
		}
	}
	w.used = n
}

// decoded undoes the escapes of a value.
func (v value) decoded() ([]byte, bool) {
	if bytes.IndexByte(v.text, '\\') < 0 {
		return v.text, true
	}
	quoted := make([]byte, 0, len(v.text)+2)
	quoted = append(append(append(quoted, '"'), v.text...), '"')
	var s string
	err := json.Unmarshal(quoted, &s)
	return []byte(s), err == nil
}
