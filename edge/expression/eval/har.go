package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// HAR reads the requests of a HTTP archive, as browsers save one. It is false for other JSON. An
// archive does not say from where a request came.
func HAR(data []byte) (forms []Form, is bool, err error) {
	var archive struct {
		Log *struct {
			Entries []struct {
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
		}
	}
	if err := json.Unmarshal(data, &archive); err != nil || archive.Log == nil {
		return nil, false, nil //nolint:nilerr // it is something else
	}
	for i, entry := range archive.Log.Entries {
		q := entry.Request
		if q.Method == "" || !strings.Contains(q.URL, "://") {
			return nil, true, fmt.Errorf("entry %d has no request", i+1)
		}
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
		forms = append(forms, f)
	}
	if len(forms) == 0 {
		return nil, true, errors.New("the archive has no request")
	}
	return forms, true, nil
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
