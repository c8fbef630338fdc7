package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/seawall-dev/seawall/edge"
)

// MaxBody bounds the bodies either side reads, in bytes.
const MaxBody = 16 << 20

const contentTypeJSON = "application/json"

// NewRequest makes a request for a call. A body that is not nil is sent as
// JSON, which a [json.RawMessage] is already, with its length known, so that Transfer-Encoding never appears beside
// Content-Length (the platform declines requests with both), and only then is
// there a Content-Type.
func NewRequest(ctx context.Context, method, url string, body any) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		data, encoded := body.(json.RawMessage)
		if !encoded {
			var err error
			if data, err = json.Marshal(body); err != nil {
				return nil, fmt.Errorf("encoding the request body: %w", err)
			}
		}
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", contentTypeJSON)
	if body != nil {
		req.Header.Set("Content-Type", contentTypeJSON)
	}
	return req, nil
}

// DecodeBody decodes a request body into into. A body that is not declared or
// formed as JSON is refused with an [*edge.Error] of status 400.
func DecodeBody(header http.Header, body []byte, into any) error {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || media != contentTypeJSON {
		return badRequest("the body needs Content-Type: application/json")
	}
	if err := json.Unmarshal(body, into); err != nil {
		return badRequest("could not parse the body: " + err.Error())
	}
	return nil
}

func badRequest(message string) *edge.Error {
	return &edge.Error{Status: http.StatusBadRequest, Details: []edge.ErrorDetail{{Message: message}}}
}
