package eval

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// harEntry is a request of an archive.
type harEntry struct {
	Request struct {
		Method      string
		URL         string
		HTTPVersion string
		Headers     []Header
		BodySize    *int64
		PostData    *struct {
			Text     *string
			Encoding string
		}
	}
}

// HAR reads the requests of a HTTP archive, as browsers save one. It is false for other JSON. An
// archive does not say from where a request came. Entries that no server gets, such as those of
// data: URLs, are left out.
func HAR(data []byte) (forms []Form, is bool, err error) {
	var archive struct{ Log json.RawMessage }
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // which an archive may begin with
	if err := json.Unmarshal(data, &archive); err != nil || !bytes.HasPrefix(archive.Log, []byte("{")) {
		return nil, false, nil //nolint:nilerr // it is something else
	}
	var log struct{ Entries []harEntry }
	if err := json.Unmarshal(archive.Log, &log); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return nil, true, fmt.Errorf("the archive has a %s as %s", wrong.Value, strings.ToLower(wrong.Field))
		}
		return nil, true, err
	}
	for i, entry := range log.Entries {
		if entry.Request.Method == "" || entry.Request.URL == "" {
			return nil, true, fmt.Errorf("entry %d has no request", i+1)
		}
		if scheme, _, _ := strings.Cut(strings.ToLower(entry.Request.URL), "://"); scheme == "http" || scheme == "https" {
			forms = append(forms, entry.form())
		}
	}
	if len(forms) == 0 {
		return nil, true, errors.New("the archive has no request")
	}
	return forms, true, nil
}

func (e harEntry) form() Form {
	q := e.Request
	f := Form{Method: q.Method, URL: q.URL, Version: version(q.HTTPVersion), headers: q.Headers}
	if f.headers == nil {
		f.headers = []Header{}
	}
	switch {
	case q.PostData == nil && q.BodySize != nil && *q.BodySize == 0:
		f.Body = new(string)
	case q.PostData == nil:
	case q.PostData.Text != nil && q.PostData.Encoding == "":
		f.Body = q.PostData.Text
	}
	return f
}

// version is the version of HTTP as a rule has it; empty where the archive does not say it so.
func version(text string) string {
	switch strings.ToLower(text) {
	case "http/1.0", "http/1.1":
		return strings.ToUpper(text)
	case "h2", "http/2", "http/2.0":
		return "HTTP/2"
	case "h3", "http/3", "http/3.0":
		return "HTTP/3"
	}
	return ""
}
